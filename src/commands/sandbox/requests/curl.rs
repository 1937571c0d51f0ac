//! A request as a curl command.

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
    let mut lines = vec![format!(
        "curl -X {} {}",
        shell::posix_word(request["method"].as_str()?),
        shell::posix_word(&format!("http://{host}{path}{query}"))
    )];
    // The key that the sandbox refused is not the one that is set for it.
    let refused = (request["status"] == 401).then(|| request["key"].as_str());
    let variable = match refused {
        Some(Some(_)) => "REFUSED_KEY",
        _ => "BOOKCTL_API_KEY",
    };
    for (name, value) in headers {
        let value = value.as_str()?;
        if !OWN.contains(&name.as_str()) {
            lines.push(format!("-H {}", header(name, value, variable)));
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
        lines.push(format!("--data-raw {}", shell::posix_word(body)));
    }
    let mut command = lines.join(" \\\n  ");
    if let Some(Some(key)) = refused {
        let key: String = key.chars().filter(|it| !it.is_control()).collect();
        command = format!("# Set REFUSED_KEY to the key that was refused: {key}\n{command}");
    }
    Some(command)
}

/// A header as a word of a shell. A masked key becomes the variable that holds it.
fn header(name: &str, value: &str, variable: &str) -> String {
    match value.split_once(' ') {
        _ if !value.contains('…') => shell::posix_word(&format!("{name}: {value}")),
        Some((scheme, _)) if scheme.chars().all(|it| it.is_ascii_alphanumeric()) => {
            format!("\"{name}: {scheme} ${variable}\"")
        }
        _ => format!("\"{name}: ${variable}\""),
    }
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
             -H \"authorization: Bearer $BOOKCTL_API_KEY\" \\\n  \
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
            command.contains("\"authorization: Bearer $REFUSED_KEY\""),
            "{command}"
        );
        assert!(!command.contains("BOOKCTL_API_KEY"), "{command}");
    }

    #[test]
    fn a_body_that_was_cut_makes_no_command() {
        let mut request = request("{");
        request["request"]["truncated"] = json!(true);
        assert_eq!(command(&request), None);
    }
}
