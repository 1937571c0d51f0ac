//! HAR 1.2 files, which browsers and proxies open: http://www.softwareishard.com/blog/har-12-spec/

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use jiff::Timestamp;
use reqwest::Url;
use serde_json::{Value, json};

use super::exchange::{Exchange, ExchangeDocument, MessageDocument};
use crate::platform::system::files;

/// The beginning of every file that is written here, whatever the version of bookctl.
const BEGINNING: &str = r#"{"log":{"version":"1.2","creator":{"name":"bookctl","#;

/// A file that is complete after each entry, so that a process that is killed leaves one that can
/// be read. No other process writes it meanwhile.
pub(crate) struct HarFile {
    pub(crate) path: PathBuf,
    origin: String,
    file: File,
    end: u64,
    has_entries: bool,
    /// One for each organization.
    pages: Vec<Value>,
}

/// Creates a file for its owner alone, or opens one that begins as bookctl writes them. Fails if
/// it is being written to, or something else is in it.
pub(crate) fn open_own(path: &Path, beginning: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = files::open_alone(&mut options, path).map_err(|error| match error.kind() {
        kind @ ErrorKind::WouldBlock => io::Error::new(kind, "it is being written to already"),
        _ => error,
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut found = Vec::new();
    (&file).take(beginning.len() as u64).read_to_end(&mut found)?;
    if !found.is_empty() && found != beginning.as_bytes() {
        return Err(io::Error::other("it exists, and bookctl did not write it"));
    }
    Ok(file)
}

impl HarFile {
    /// Creates the file, in place of one that bookctl wrote before. Fails if another process writes
    /// it, or something else is in it.
    pub(crate) fn open(path: PathBuf, origin: String) -> io::Result<Self> {
        let mut file = open_own(&path, BEGINNING)?;
        file.set_len(0)?;
        file.rewind()?;
        let version = env!("CARGO_PKG_VERSION");
        let start = format!("{BEGINNING}\"version\":\"{version}\"}},\"entries\":[");
        file.write_all(format!("{start}{}", end(&[])).as_bytes())?;
        let end = start.len() as u64;
        Ok(Self { path, origin, file, end, has_entries: false, pages: Vec::new() })
    }

    /// Adds an exchange to the page of its organization, whose title is its name.
    pub(crate) fn add(
        &mut self,
        exchange: &Exchange,
        name_of: &dyn Fn(&str) -> Option<String>,
    ) -> io::Result<()> {
        let comma = if self.has_entries { ",\n" } else { "\n" };
        let mut entry = exchange.har_entry(&self.origin);
        if let Some(id) = &exchange.organization {
            entry["pageref"] = json!(id);
            if !self.pages.iter().any(|it| it["id"] == *id) {
                let title = name_of(id).unwrap_or_else(|| id.clone());
                let started = &entry["startedDateTime"];
                let page = json!({"startedDateTime": started, "id": id, "title": title, "pageTimings": {}});
                self.pages.push(page);
            }
        }
        let entry = format!("{comma}{entry}");
        let end = end(&self.pages);
        // One write, over the end of the last one, which it repeats.
        self.file.seek(SeekFrom::Start(self.end))?;
        if let Err(error) = self.file.write_all(format!("{entry}{end}").as_bytes()) {
            // A full disk may have cut a part over the last end. There is room without it.
            let _ = self.file.set_len(self.end);
            let _ = self.file.seek(SeekFrom::Start(self.end));
            let _ = self.file.write_all(end.as_bytes());
            return Err(error);
        }
        self.end += entry.len() as u64;
        self.has_entries = true;
        Ok(())
    }
}

fn end(pages: &[Value]) -> String {
    format!("\n],\"pages\":{}}}}}\n", json!(pages))
}

impl Exchange {
    /// An entry of a HAR file. Its times are real ones, not the sandbox's.
    fn har_entry(&self, origin: &str) -> Value {
        let document = self.document(&HashMap::new());
        let came = Timestamp::try_from(self.came).unwrap_or_default();
        let wait = document.duration_ms;
        let (request, response) = (document.har_request(origin), document.har_response());
        let comment: Vec<String> = document.reason.into_iter().chain(document.notes).collect();
        json!({
            "_id": document.id,
            "startedDateTime": format!("{came:.3}"),
            "time": wait,
            "request": request,
            "response": response,
            "cache": {},
            "timings": {"send": 0, "wait": wait, "receive": 0},
            "comment": comment.join(" "),
        })
    }
}

impl ExchangeDocument {
    fn har_request(&self, origin: &str) -> Value {
        let message = &self.request;
        let query = self.query.as_ref().map_or(String::new(), |it| format!("?{it}"));
        let url = format!("{origin}{}{query}", self.path);
        let mut request = message.har();
        let pairs = Url::parse(&url).map(|it| {
            let pair = |(name, value)| json!({"name": name, "value": value});
            it.query_pairs().map(pair).collect::<Vec<_>>()
        });
        request["queryString"] = json!(pairs.unwrap_or_default());
        request["method"] = json!(self.method);
        request["url"] = json!(url);
        if message.length > 0 {
            // HAR has no other place for the encoding of what is sent.
            let comment = [message.encoding.unwrap_or_default(), message.cut()].join(" ");
            let mime = message.mime();
            request["postData"] =
                json!({"mimeType": mime, "text": message.body, "comment": comment.trim()});
        }
        request
    }

    fn har_response(&self) -> Value {
        let message = &self.response;
        let status = StatusCode::from_u16(self.status).ok();
        let mut response = message.har();
        response["status"] = json!(self.status);
        response["statusText"] =
            json!(status.and_then(|it| it.canonical_reason()).unwrap_or_default());
        response["redirectURL"] = json!("");
        response["content"] = json!({
            "size": message.length,
            "mimeType": message.mime(),
            "text": message.body,
            "comment": message.cut(),
        });
        if let Some(encoding) = message.encoding {
            response["content"]["encoding"] = json!(encoding);
        }
        response
    }
}

impl MessageDocument {
    fn cut(&self) -> &'static str {
        if self.truncated { "the body is longer: only its first 64 KB are here" } else { "" }
    }

    fn mime(&self) -> &str {
        let mime = self.headers.get("content-type").and_then(Value::as_str);
        mime.unwrap_or("application/octet-stream")
    }

    /// What requests and responses have alike.
    fn har(&self) -> Value {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| json!({"name": name, "value": value}));
        json!({
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers.collect::<Value>(),
            "headersSize": -1,
            "bodySize": self.length,
        })
    }
}
