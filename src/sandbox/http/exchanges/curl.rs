//! A request as a curl command, which sends the same bytes. It is safe in a POSIX shell and on a
//! terminal: what a terminal acts on or hides is written in octal.

use std::fmt::Write;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::exchange::Exchange;
use crate::platform::hidden::is_hidden;
use crate::platform::shell::posix_word;

/// Headers that curl sets.
const OWN: [&str; 6] =
    ["host", "content-length", "connection", "accept-encoding", "transfer-encoding", "expect"];
const NOT_PRINTABLE: &AsciiSet = &CONTROLS.add(b' ');
/// What stands for a masked key in the command.
const KEY: &str = "\"$BOOKCTL_API_KEY\"";

impl Exchange {
    /// The command; `None` if the whole body is not kept, or the request names another host than
    /// one of the server's.
    pub(crate) fn curl(&self, is_own_host: impl Fn(&str) -> bool) -> Option<String> {
        let secrets = self.secrets();
        let host = self.request.header("host").filter(|it| is_own_host(it))?;
        if self.request.is_cut() || !self.target.starts_with('/') {
            return None;
        }
        // Each byte outside of printable ASCII is percent-encoded, except in masked keys.
        let target = secrets.hide(&self.target);
        let parts = target.split('…').map(|it| utf8_percent_encode(it, NOT_PRINTABLE).to_string());
        let url = format!("http://{host}{}", parts.collect::<Vec<_>>().join("…"));
        let method = match self.method.as_str() {
            "HEAD" => "--head".to_owned(),
            method => format!("-X {}", posix_word(method)),
        };
        // Otherwise curl would resolve the dots of a path by itself.
        let as_is = if self.path().contains("/.") { " --path-as-is" } else { "" };
        let url = shell_word(&url, false);
        let mut lines = vec![format!("curl --globoff{as_is} {method} {url}")];
        for (name, value) in self.request.headers().filter(|(name, _)| !OWN.contains(name)) {
            let header = match secrets.header(name, value) {
                empty if empty.is_empty() => format!("{name};"),
                value => format!("{name}: {value}"),
            };
            lines.push(format!("-H {}", shell_word(&header, self.request.is_latin)));
        }
        if self.request.body.is_empty() {
            return Some(lines.join(" \\\n  "));
        }
        if self.request.header("content-type").is_none() {
            lines.push("-H content-type:".to_owned());
        }
        let text = std::str::from_utf8(&self.request.body).ok().map(|it| secrets.hide(it));
        let is_plain = |it: &String| it.chars().all(|c| c == '\n' || !is_hidden(c));
        let mut before = String::new();
        match text {
            Some(text) if is_plain(&text) => {
                lines.push(format!("--data-raw {}", shell_word(&text, false)));
            }
            text => {
                let body = text.as_ref().map_or(&self.request.body[..], |it| it.as_bytes());
                lines.push("--data-binary @-".to_owned());
                before = format!("{} |\n  ", printf(body));
            }
        }
        Some(before + &lines.join(" \\\n  "))
    }
}

/// A text as one word, with variables for masked keys. Latin-1 characters are bytes.
fn shell_word(text: &str, is_latin: bool) -> String {
    let quoted = |part: &&str| {
        let is_plain = part.chars().all(|c| c == '\n' || !is_hidden(c));
        if is_plain && (!is_latin || part.is_ascii()) {
            let is_nothing = part.is_empty() && !text.is_empty();
            return if is_nothing { String::new() } else { posix_word(part) };
        }
        let latin = || part.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'));
        let bytes = if is_latin { latin().collect() } else { part.as_bytes().to_vec() };
        format!("\"$({})\"", printf(&bytes))
    };
    between_keys(text).iter().map(quoted).collect::<Vec<_>>().join(KEY)
}

/// A command that writes these bytes: all but letters, digits, blanks and harmless signs in octal.
fn printf(bytes: &[u8]) -> String {
    let octal = |part: &[u8]| {
        let mut format = String::new();
        for byte in part {
            if byte.is_ascii_alphanumeric() || b" \"#$&()*+,./:;<=>?@[]^_`{|}~".contains(byte) {
                format.push(char::from(*byte));
            } else {
                let _ = write!(format, "\\{byte:03o}");
            }
        }
        format
    };
    let parts: Vec<String> = match std::str::from_utf8(bytes) {
        Ok(text) => between_keys(text).iter().map(|it| octal(it.as_bytes())).collect(),
        Err(_) => vec![octal(bytes)],
    };
    let keys = format!(" {KEY}").repeat(parts.len() - 1);
    format!("printf '{}'{keys}", parts.join("%s"))
}

/// The parts of a text before and after its masked keys, such as `sk_live_…dbox`.
fn between_keys(text: &str) -> Vec<&str> {
    let is_of_key = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
    let (mut parts, mut end) = (Vec::new(), 0);
    for (at, dots) in text.match_indices('…') {
        let start = text[end..at].rfind("sk_").map(|it| end + it);
        if let Some(start) = start.filter(|it| text[*it..at].chars().all(|c| is_of_key(&c))) {
            parts.push(&text[end..start]);
            let after = at + dots.len();
            end = after + text[after..].chars().take(4).take_while(is_of_key).count();
        }
    }
    parts.push(&text[end..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    #[cfg(unix)]
    use axum::http::HeaderValue;
    use axum::http::Request;
    #[cfg(unix)]
    use std::process::Command;

    #[cfg(unix)]
    /// How a shell reads the command: curl's standard input, then NUL-ended arguments.
    fn run(shell: &str, parts: (&str, &[u8], &[u8])) -> Vec<u8> {
        let (target, value, body) = parts;
        let value = HeaderValue::from_bytes(value).unwrap();
        let request = Request::post(target).header("host", "a:1").header("content-type", "x");
        let request = request.header("authorization", "Bearer sk_live_sandbox");
        let request = request.header("x-a", value).body(()).unwrap();
        let mut exchange = Exchange::from_request(&request.into_parts().0);
        exchange.request.keep(&Bytes::copy_from_slice(body), body.len());
        let command = exchange.curl(|host| host == "a:1").unwrap();
        let seen = |c: char| c == '\n' || !is_hidden(c);
        assert!(command.chars().all(seen), "{command:?}");
        let curl = "curl() { case \"$*\" in *@-*) cat;; esac; printf '%s\\0' \"$@\"; }; ";
        let mut shell = Command::new(shell);
        shell.args(["-c", &format!("{curl}{command}")]).env("BOOKCTL_API_KEY", "THE KEY");
        shell.output().unwrap().stdout
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_every_byte_as_it_was() {
        let headers = [b"\t".to_vec(), (32..127).collect(), (128..=255).collect()];
        let texts =
            ["\u{202e}a\u{9b}2J", "$(id) `id` 'id' \\ ! %s", "-a", "@a", "", "sk_live_sandbox x"];
        let bodies = (0..=255).map(|it| vec![b'a', it, it]).chain([(0..=255).collect()]);
        let bodies = bodies.chain(texts.map(|it| it.as_bytes().to_vec()));
        let shells = ["sh", "bash", "dash", "zsh"];
        let installed = |it: &&str| Command::new(it).args(["-c", ":"]).output().is_ok();
        for shell in shells.into_iter().filter(installed) {
            for body in bodies.clone().filter(|it| !it.is_empty()) {
                let came = run(shell, ("/", b"1", &body));
                let keyed = |it: &str| it.replace("sk_live_sandbox", "THE KEY").into_bytes();
                let body = std::str::from_utf8(&body).map_or(body.clone(), keyed);
                let raw = [b"--data-raw\0".as_slice(), &body, b"\0"].concat();
                assert!(came.starts_with(&body) || came.ends_with(&raw), "{shell}: {body:?}");
            }
            for value in headers.iter().cloned().chain(texts.map(|it| it.as_bytes().to_vec())) {
                let Ok(sent) = HeaderValue::from_bytes(&value) else { continue };
                let came = run(shell, ("/?a=[1-3]&b={1,2}&c=$(id)'`", sent.as_bytes(), b""));
                let value = String::from_utf8_lossy(&value).replace("sk_live_sandbox", "THE KEY");
                let wanted = match value.as_str() {
                    "" => b"\0x-a;\0".to_vec(),
                    _ if sent.as_bytes()[0] >= 128 && sent.len() == 128 => {
                        [b"\0x-a: ", sent.as_bytes(), b"\0"].concat()
                    }
                    text => format!("\0x-a: {text}\0").into_bytes(),
                };
                let has = |part: &[u8]| came.windows(part.len()).any(|it| it == part);
                assert!(has(&wanted), "{shell}: {value:?} in {}", String::from_utf8_lossy(&came));
                assert!(has(b"\0http://a:1/?a=[1-3]&b={1,2}&c=$(id)'`\0") && has(b"--globoff"));
                assert!(has(b"\0authorization: Bearer THE KEY\0"));
            }
        }
    }

    #[test]
    fn request_to_another_host_or_with_cut_body_makes_no_command() {
        let request = Request::get("/v1/").header("host", "evil.example:1").body(()).unwrap();
        let mut exchange = Exchange::from_request(&request.into_parts().0);
        assert_eq!(exchange.curl(|host| host == "a:1"), None);
        exchange.request.keep(&Bytes::from_static(b" "), 65 * 1024);
        assert_eq!(exchange.curl(|_| true), None);
    }
}
