//! HAR 1.2 files, which browsers and proxies open: http://www.softwareishard.com/blog/har-12-spec/

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use axum::http::Uri;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Message};
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
        let duration = SignedDuration::try_from(self.duration).unwrap_or_default();
        let ended = Timestamp::try_from(self.real).unwrap_or_default();
        let began = ended.saturating_sub(duration).unwrap_or(ended);
        let mut entry = json!({
            "startedDateTime": format!("{began:.3}"),
            "time": self.milliseconds(),
            "request": self.har_request(origin),
            "response": self.har_response(),
            "cache": {},
            "timings": {"send": 0, "wait": self.milliseconds(), "receive": 0},
        });
        let comment: Vec<String> = self.reason().into_iter().chain(self.notes()).collect();
        if !comment.is_empty() {
            entry["comment"] = json!(comment.join(" "));
        }
        entry
    }

    fn har_request(&self, origin: &str) -> Value {
        let secrets = self.secrets();
        let [headers, _] = self.shown_headers(&secrets);
        let message = &self.request;
        let query = self.query();
        let question = query.as_ref().map_or(String::new(), |it| format!("?{it}"));
        let mut request = json!({
            "method": self.method(),
            "url": format!("{origin}{}{question}", self.path()),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": named(&headers),
            "queryString": self.query_string(),
            "headersSize": -1,
            "bodySize": message.size(),
        });
        if !message.body.is_empty() {
            let (text, encoding) = message.text(&secrets);
            request["postData"] = json!({"mimeType": mime(&headers), "text": text});
            let comment = [encoding.map(str::to_owned), message.cut()];
            let comment: Vec<String> = comment.into_iter().flatten().collect();
            if !comment.is_empty() {
                request["postData"]["comment"] = json!(comment.join("; "));
            }
        }
        request
    }

    fn har_response(&self) -> Value {
        let secrets = self.secrets();
        let [_, headers] = self.shown_headers(&secrets);
        let message = &self.response;
        let (text, encoding) = message.text(&secrets);
        let mut content = json!({
            "size": message.body.len(),
            "mimeType": mime(&headers),
            "text": text,
        });
        if let Some(encoding) = encoding {
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
            "headers": named(&headers),
            "content": content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": message.size(),
        })
    }

    fn query_string(&self) -> Value {
        let uri = self
            .query()
            .and_then(|it| format!("/?{it}").parse::<Uri>().ok());
        let pairs = uri.and_then(|uri| {
            let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri);
            query.ok().map(|it| it.0)
        });
        let pairs = pairs.unwrap_or_default().into_iter();
        pairs
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect()
    }
}

impl Message {
    /// The length of the body; -1, which is HAR's word for a length that is not known, if only its beginning is kept.
    fn size(&self) -> i64 {
        match self.truncated {
            true => -1,
            false => self.body.len().try_into().unwrap_or(-1),
        }
    }

    /// What to say of a body of which only the beginning is kept.
    fn cut(&self) -> Option<String> {
        let kept = self.body.len();
        self.truncated
            .then(|| format!("the body is longer: only its first {kept} bytes are here"))
    }
}

fn mime(headers: &Map<String, Value>) -> &str {
    let mime = headers.get("content-type").and_then(Value::as_str);
    mime.unwrap_or("application/octet-stream")
}

fn named(headers: &Map<String, Value>) -> Value {
    let headers = headers.iter();
    headers
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}
