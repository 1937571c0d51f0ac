use jiff::Timestamp;
use serde::Serialize;

use super::input::{body, one_stdin, read};
use crate::app::Context;
use crate::flows::webhook_secrets;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;
use crate::terminal::output::{Page, TableCell, View};
use crate::webhook::sign;

/// The largest body that is included in the result, in bytes: the service sends no larger one.
const SHOWN: usize = 1024 * 1024;

/// Sign a body and print the signature header
///
/// Signs the raw bytes of the body, including a trailing line end. Prints the header as `curl -H @-` reads it; --curl
/// prints a complete curl command instead. The secret is BOOKCTL_WEBHOOK_SECRET, the stored one, or the sandbox's. If
/// there are several, the first one signs.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook sign event.json\n  \
    bookctl webhook sign event.json |\n    \
      curl -H @- --data-binary @event.json http://127.0.0.1:8080/webhooks\n  \
    bookctl webhook sign event.json --curl http://127.0.0.1:8080/webhooks\n  \
    printf '{}' | bookctl webhook sign - --timestamp 1795262400 --json")]
pub(crate) struct Args {
    /// File with the body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// Time of the signature, as seconds since 1970 or RFC 3339 [default: now]
    #[arg(long, value_name = "T", value_parser = super::input::second)]
    timestamp: Option<i64>,
    /// Print a curl command that posts the body to this address
    #[arg(long, value_name = "URL")]
    curl: Option<String>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let source = body(args.body)?;
    one_stdin(&source, args.secret_stdin)?;
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let time = args
        .timestamp
        .unwrap_or_else(|| Timestamp::now().as_second());
    let body = read(source.clone()).await?;
    let signed = Signed {
        header: context.dialect().signature_header(),
        value: sign(&secrets.signing, time, &body),
        timestamp: time,
        body: String::from_utf8(body)
            .ok()
            .filter(|body| body.len() <= SHOWN),
        curl: None,
    };
    let curl = match &args.curl {
        Some(url) => Some(curl_command(&signed, &source, url)?),
        None => None,
    };
    context.out.emit(&Signed { curl, ..signed })?;
    Ok(Exit::Done)
}

fn curl_command(signed: &Signed, body: &Source, url: &str) -> Result<String> {
    let data = match (body, &signed.body) {
        (Source::File(path), _) => quoted(&format!("@{}", path.display())),
        // curl would read a leading @ as a file name.
        (Source::Stdin, Some(body)) if !body.starts_with('@') && !body.contains('\0') => {
            quoted(body)
        }
        (Source::Stdin, _) => {
            return Err(Error::usage(
                "the body does not fit into a curl command: it is not text, or too large",
            )
            .hint("save it to a file and run: bookctl webhook sign FILE --curl URL"));
        }
    };
    Ok(format!(
        "curl -H 'Content-Type: application/json' -H {} --data-binary {data} {}",
        quoted(&signed.line()),
        quoted(url)
    ))
}

/// Quotes a word for a shell; control characters need the `$'…'` of bash, zsh and ksh.
fn quoted(word: &str) -> String {
    if !word.chars().any(char::is_control) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    text.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => text.push(c),
        }
    }
    text + "'"
}

#[derive(Serialize)]
struct Signed {
    header: String,
    value: String,
    timestamp: i64,
    /// `None` if it is not text, or larger than [`SHOWN`].
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curl: Option<String>,
}

impl Signed {
    fn line(&self) -> String {
        format!("{}: {}", self.header, self.value)
    }
}

impl View for Signed {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        // A single cell, which is not wrapped: a line break would change the header.
        let line = self.curl.clone().unwrap_or_else(|| self.line());
        page.columns(vec![(TableCell::from(line), 0)]);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_quoted_so_that_a_shell_reads_it_back() {
        for (word, shell) in [
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("it's\n\\\u{7f}\u{85}", r"$'it\'s\n\\\177\302\205'"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }
}
