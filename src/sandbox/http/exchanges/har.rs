//! HAR 1.2 files, which browsers and proxies open: http://www.softwareishard.com/blog/har-12-spec/

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde_json::{Value, json};

use super::document::{ExchangeDocument, MessageDocument};
use super::exchange::Exchange;
use crate::platform::system::files;

/// The beginning of every file that is written here, whatever the version of bookctl.
const BEGINNING: &str = r#"{"log":{"version":"1.2","creator":{"name":"bookctl","#;
/// The end of a file that is complete.
const END: &str = "\n]}}\n";

/// A file that is complete after each entry, so that a process that is killed leaves one that can be read. No other
/// process writes it meanwhile.
pub(crate) struct HarFile {
    file: File,
    /// Where the next entry begins.
    end: u64,
    is_first: bool,
}

impl HarFile {
    /// Creates the file. One that bookctl wrote before is continued, so that nothing in it is lost.
    ///
    /// # Errors
    /// If it cannot be written, another process writes it, or something else is in it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = files::open_alone(&mut options, path).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => {
                io::Error::new(error.kind(), "another process is writing to it")
            }
            _ => error,
        })?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        match found.len() {
            0 => Self::begin(file),
            length => Self::go_on(file, length),
        }
    }

    fn begin(file: File) -> io::Result<Self> {
        let creator = json!({"name": "bookctl", "version": env!("CARGO_PKG_VERSION")});
        let start = format!("{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[");
        files::write_all_at(&file, format!("{start}{END}").as_bytes(), 0)?;
        Ok(Self {
            file,
            end: start.len() as u64,
            is_first: true,
        })
    }

    fn go_on(file: File, length: u64) -> io::Result<Self> {
        let mut beginning = [0; BEGINNING.len()];
        // The end, with the last byte of what stands before it.
        let mut end = [0; END.len() + 1];
        let at = length.saturating_sub(end.len() as u64);
        let is_ours = length >= (beginning.len() + end.len()) as u64
            && files::read_exact_at(&file, &mut beginning, 0).is_ok()
            && files::read_exact_at(&file, &mut end, at).is_ok()
            && beginning == BEGINNING.as_bytes()
            && end.ends_with(END.as_bytes());
        if !is_ours {
            return Err(io::Error::other(
                "it exists, and is no complete HAR file of bookctl",
            ));
        }
        Ok(Self {
            file,
            end: at + 1,
            is_first: end[0] == b'[',
        })
    }

    /// Adds an exchange.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add(&mut self, exchange: &Exchange, origin: &str) -> io::Result<()> {
        let comma = if self.is_first { "\n" } else { ",\n" };
        let entry = format!("{comma}{}", exchange.har_entry(origin));
        // One write, over the end of the last one, which it repeats.
        let text = format!("{entry}{END}");
        if let Err(error) = files::write_all_at(&self.file, text.as_bytes(), self.end) {
            // A full disk may have taken a part of it, over the last end. Without the part there is room for that.
            let _ = self.file.set_len(self.end);
            let _ = files::write_all_at(&self.file, END.as_bytes(), self.end);
            return Err(error);
        }
        self.end += entry.len() as u64;
        self.is_first = false;
        Ok(())
    }
}

impl Exchange {
    /// An entry of a HAR file. Its times are real ones, not the sandbox's.
    fn har_entry(&self, origin: &str) -> Value {
        let document = self.document();
        let duration = SignedDuration::try_from(self.duration).unwrap_or_default();
        let ended = Timestamp::try_from(self.real).unwrap_or_default();
        let began = ended.saturating_sub(duration).unwrap_or(ended);
        let wait = document.duration_ms;
        let mut entry = json!({
            "startedDateTime": format!("{began:.3}"),
            "time": wait,
            "request": document.har_request(origin),
            "response": document.har_response(),
            "cache": {},
            "timings": {"send": 0, "wait": wait, "receive": 0},
        });
        let comment: Vec<String> = document.reason.into_iter().chain(document.notes).collect();
        if !comment.is_empty() {
            entry["comment"] = json!(comment.join(" "));
        }
        entry
    }
}

impl ExchangeDocument {
    fn har_request(&self, origin: &str) -> Value {
        let message = &self.request;
        let query = self.query.as_ref();
        let query = query.map_or(String::new(), |it| format!("?{it}"));
        let url = format!("{origin}{}{query}", self.path);
        let pairs = Url::parse(&url).map(|it| {
            let pairs = it.query_pairs();
            let pair = |(name, value)| json!({"name": name, "value": value});
            pairs.map(pair).collect::<Vec<_>>()
        });
        let mut request = json!({
            "method": self.method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": message.named_headers(),
            "queryString": pairs.unwrap_or_default(),
            "headersSize": -1,
            "bodySize": message.size(),
        });
        if message.length > 0 {
            request["postData"] = json!({"mimeType": message.mime(), "text": message.body});
            let comment = [message.encoding.map(str::to_owned), message.cut()];
            let comment: Vec<String> = comment.into_iter().flatten().collect();
            if !comment.is_empty() {
                request["postData"]["comment"] = json!(comment.join("; "));
            }
        }
        request
    }

    fn har_response(&self) -> Value {
        let message = &self.response;
        let mut content = json!({
            "size": message.length,
            "mimeType": message.mime(),
            "text": message.body,
        });
        if let Some(encoding) = message.encoding {
            content["encoding"] = json!(encoding);
        }
        if let Some(cut) = message.cut() {
            content["comment"] = json!(cut);
        }
        let status = axum::http::StatusCode::from_u16(self.status).ok();
        json!({
            "status": self.status,
            "statusText": status.and_then(|it| it.canonical_reason()).unwrap_or_default(),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": message.named_headers(),
            "content": content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": message.size(),
        })
    }
}

impl MessageDocument {
    /// The length of the body; -1, which is HAR's word for a length that is not known, if only its beginning is kept.
    fn size(&self) -> i64 {
        if self.truncated {
            return -1;
        }
        self.length.try_into().unwrap_or(-1)
    }

    /// What to say of a body of which only the beginning is kept.
    fn cut(&self) -> Option<String> {
        let kept = self.length;
        self.truncated
            .then(|| format!("the body is longer: only its first {kept} bytes are here"))
    }

    fn mime(&self) -> &str {
        let mime = self.headers.get("content-type").and_then(Value::as_str);
        mime.unwrap_or("application/octet-stream")
    }

    fn named_headers(&self) -> Value {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect()
    }
}
