//! A request as a curl command.

use std::ops::Range;

use serde_json::{Value, json};

use crate::app::Context;
use crate::json::Document;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, View};

/// Headers that curl sets.
const OWN: [&str; 6] = [
    "host",
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "expect",
];

struct Command(String);

impl View for Command {
    fn json(&self) -> Document {
        json!({ "curl": self.0 }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(&self.0);
        page
    }
}

pub(super) fn print(context: &Context, request: &Document) -> Result<Exit> {
    let command = command(request.value()).ok_or_else(|| {
        Error::usage("the request's body is longer than the 64 KB that the sandbox keeps")
            .hint("leave out --curl to see its beginning")
    })?;
    if context.out.is_human() {
        context.out.print_script(&format!("{command}\n"))?;
    } else {
        context.out.emit(&Command(command))?;
    }
    Ok(Exit::Done)
}

/// The command; `None` if the whole body is not known.
fn command(request: &Value) -> Option<String> {
    let message = &request["request"];
    if message["truncated"] == true {
        return None;
    }
    let headers = message["headers"].as_object()?;
    let host = headers.get("host")?.as_str()?;
    let path = request["path"].as_str()?;
    let query = request["query"].as_str();
    let query = query.map_or(String::new(), |it| format!("?{it}"));
    // A key that the sandbox refused, wherever it came, is not the one that is set for it.
    let is_refused = request["status"] == 401;
    let variable = if is_refused {
        "REFUSED_KEY"
    } else {
        "BOOKCTL_API_KEY"
    };
    let mut lines = vec![format!(
        "curl -X {} {}",
        shell::posix_word(request["method"].as_str()?),
        word(&format!("http://{host}{path}{query}"), variable)
    )];
    for (name, value) in headers {
        let value = value.as_str()?;
        if !OWN.contains(&name.as_str()) {
            lines.push(format!(
                "-H {}",
                word(&format!("{name}: {value}"), variable)
            ));
        }
    }
    let body = message["body"].as_str()?;
    // Control characters could act on the terminal that shows them.
    let is_plain = |c: char| c == '\n' || !c.is_control();
    if message["encoding"] == "base64" {
        lines[0] = format!(
            "printf %s {} | base64 -d | {}",
            shell::posix_word(body),
            lines[0]
        );
        lines.push("--data-binary @-".to_owned());
    } else if !body.chars().all(is_plain) {
        let octal: String = body.bytes().map(|it| format!("\\{it:03o}")).collect();
        lines[0] = format!("printf '{octal}' | {}", lines[0]);
        lines.push("--data-binary @-".to_owned());
    } else if !body.is_empty() {
        lines.push(format!("--data-raw {}", word(body, variable)));
    }
    let command = lines.join(" \\\n  ");
    let texts = headers.values().filter_map(Value::as_str);
    let mut texts = texts.chain([query.as_str(), body]);
    let elsewhere = || texts.find_map(|it| Some(&it[masked_key(it)?]));
    match request["key"].as_str().or_else(elsewhere) {
        Some(key) if is_refused => {
            let key: String = key.chars().filter(|it| !it.is_control()).collect();
            let note = "# Set REFUSED_KEY to the key that was refused:";
            Some(format!("{note} {key}\n{command}"))
        }
        _ => Some(command),
    }
}

/// A word of a shell. Masked keys in it become the variable that holds the key.
fn word(text: &str, variable: &str) -> String {
    let mut word = shell::posix_word(text);
    while let Some(masked) = masked_key(&word) {
        word.replace_range(masked, &format!("'\"${variable}\"'"));
    }
    match word.strip_suffix("\"''") {
        Some(start) => format!("{start}\""),
        None => word,
    }
}

/// Where the first masked key of a text is, such as `sk_live_…dbox`.
fn masked_key(text: &str) -> Option<Range<usize>> {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices('…').find_map(|(at, dots)| {
        let start = text[..at].rfind("sk_")?;
        let after = at + dots.len();
        let end = text[after..].chars().take(4).take_while(|c| is_of_key(*c));
        let is_key = text[start..at].chars().all(is_of_key);
        is_key.then(|| start..after + end.count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &str) -> Value {
        json!({
            "method": "POST",
            "path": "/v1/bookings",
            "query": "a=b&c=$(x)",
            "request": {
                "headers": {
                    "host": "127.0.0.1:4010",
                    "authorization": "Bearer sk_live_…dbox",
                    "x-name": "O'Hara $HOME",
                    "content-length": "3",
                },
                "body": body,
                "truncated": false,
            },
        })
    }

    #[test]
    fn a_request_is_a_command_that_a_shell_reads_as_it_was() {
        assert_eq!(
            command(&request("{'a': 1}")).unwrap(),
            "curl -X POST 'http://127.0.0.1:4010/v1/bookings?a=b&c=$(x)' \\\n  \
             -H 'authorization: Bearer '\"$BOOKCTL_API_KEY\" \\\n  \
             -H 'x-name: O'\\''Hara $HOME' \\\n  \
             --data-raw '{'\\''a'\\'': 1}'"
        );
        let hidden = command(&request("\u{1b}[2J")).unwrap();
        assert!(
            hidden.starts_with("printf '\\033\\133\\062\\112' | curl"),
            "{hidden}"
        );
    }

    #[test]
    fn a_key_that_was_refused_is_named_and_not_taken_for_the_one_that_is_set() {
        let mut request = request("");
        request["status"] = json!(401);
        request["key"] = json!("sk_live_…dbox");
        let command = command(&request).unwrap();
        let note = "# Set REFUSED_KEY to the key that was refused: sk_live_…dbox\ncurl -X POST ";
        assert!(command.starts_with(note), "{command}");
        assert!(
            command.contains("'authorization: Bearer '\"$REFUSED_KEY\""),
            "{command}"
        );
        assert!(!command.contains("BOOKCTL_API_KEY"), "{command}");
    }

    #[test]
    fn a_key_is_the_same_variable_wherever_it_came() {
        let mut request = request("it's {\"key\": \"sk_live_…dbox\"} hello…");
        request["query"] = json!("api_key=sk_live_…dbox&a=1");
        request["request"]["headers"]["cookie"] = json!("a=sk_test_…; b=2");
        request["request"]["headers"]["x-api-key"] = json!("sk_live_…dbox");
        request["request"]["headers"]["`id`"] = json!("sk_live_…dbox");
        request["request"]["headers"]["x-note"] = json!("hello…");
        let base = "'http://127.0.0.1:4010/v1/bookings?api_key='";
        for (status, variable) in [(200, "BOOKCTL_API_KEY"), (401, "REFUSED_KEY")] {
            request["status"] = json!(status);
            let command = command(&request).unwrap();
            for part in [
                format!("{base}\"${variable}\"'&a=1' "),
                format!("-H 'authorization: Bearer '\"${variable}\" "),
                format!("-H 'x-api-key: '\"${variable}\" "),
                format!("-H '`id`: '\"${variable}\" "),
                "-H 'x-note: hello…' ".to_owned(),
                format!("-H 'cookie: a='\"${variable}\"'; b=2' "),
                format!("--data-raw 'it'\\''s {{\"key\": \"'\"${variable}\"'\"}} hello…'"),
            ] {
                assert!(command.contains(&part), "{part} in {command}");
            }
            let note = "# Set REFUSED_KEY to the key that was refused: sk_live_…dbox\n";
            assert_eq!(command.starts_with(note), status == 401, "{command}");
        }
    }

    #[test]
    fn a_body_that_was_cut_makes_no_command() {
        let mut request = request("{");
        request["request"]["truncated"] = json!(true);
        assert_eq!(command(&request), None);
    }
}
