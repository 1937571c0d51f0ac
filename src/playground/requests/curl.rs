//! A request as a curl command.

use std::ops::Range;

use serde_json::{Value, json};

use crate::app::Context;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell;
use crate::playground::answer;

/// Headers that curl sets.
const OWN: [&str; 6] =
    ["host", "content-length", "connection", "accept-encoding", "transfer-encoding", "expect"];

pub(crate) fn print(context: &Context, request: &Document) -> Result<Exit> {
    let command = command(request.value()).ok_or_else(|| {
        Error::usage(
            "the request's body is not text, or is longer than the 64 KB that the sandbox keeps",
        )
        .hint("leave out --curl to see it")
    })?;
    answer::script(context, &command, json!({ "curl": command }).into())
}

/// The command; `None` if the body is not known whole, or cannot stand in a command: control characters could act on the
/// terminal that shows them.
fn command(request: &Value) -> Option<String> {
    let message = &request["request"];
    let body = message["body"].as_str()?;
    let is_text = body.chars().all(|c| c == '\n' || !c.is_control());
    if message["truncated"] == true || message["encoding"] == "base64" || !is_text {
        return None;
    }
    let headers = message["headers"].as_object()?;
    let host = headers.get("host")?.as_str()?;
    let path = request["path"].as_str()?;
    let query = request["query"].as_str();
    let query = query.map_or(String::new(), |it| format!("?{it}"));
    let method = shell::posix_word(request["method"].as_str()?);
    let url = word(&format!("http://{host}{path}{query}"));
    let mut lines = vec![format!("curl -X {method} {url}")];
    for (name, value) in headers {
        if !OWN.contains(&name.as_str()) {
            let header = format!("{name}: {}", value.as_str()?);
            lines.push(format!("-H {}", word(&header)));
        }
    }
    if !body.is_empty() {
        lines.push(format!("--data-raw {}", word(body)));
    }
    Some(lines.join(" \\\n  "))
}

/// A word of a shell. Masked keys in it become the variable that holds the key.
fn word(text: &str) -> String {
    let mut word = shell::posix_word(text);
    while let Some(masked) = masked_key(&word) {
        word.replace_range(masked, "'\"$BOOKCTL_API_KEY\"'");
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
    }

    #[test]
    fn a_key_is_the_variable_wherever_it_came() {
        let mut request = request("it's {\"key\": \"sk_live_…dbox\"} hello…");
        request["query"] = json!("api_key=sk_live_…dbox&a=1");
        request["request"]["headers"]["cookie"] = json!("a=sk_test_…; b=2");
        request["request"]["headers"]["x-api-key"] = json!("sk_live_…dbox");
        request["request"]["headers"]["x-note"] = json!("hello…");
        let command = command(&request).unwrap();
        for part in [
            "'http://127.0.0.1:4010/v1/bookings?api_key='\"$BOOKCTL_API_KEY\"'&a=1' ",
            "-H 'authorization: Bearer '\"$BOOKCTL_API_KEY\" ",
            "-H 'x-api-key: '\"$BOOKCTL_API_KEY\" ",
            "-H 'x-note: hello…' ",
            "-H 'cookie: a='\"$BOOKCTL_API_KEY\"'; b=2' ",
            "--data-raw 'it'\\''s {\"key\": \"'\"$BOOKCTL_API_KEY\"'\"} hello…'",
        ] {
            assert!(command.contains(part), "{part} in {command}");
        }
    }

    #[test]
    fn a_body_that_is_cut_or_no_text_makes_no_command() {
        let mut cut = request("{");
        cut["request"]["truncated"] = json!(true);
        assert_eq!(command(&cut), None);
        assert_eq!(command(&request("\u{1b}[2J")), None);
    }
}
