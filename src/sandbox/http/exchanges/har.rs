//! HAR 1.2 files, which browsers and proxies open: http://www.softwareishard.com/blog/har-12-spec/

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use reqwest::Url;
use serde_json::{Value, json};

use super::exchange::Exchange;
use crate::platform::system::files;
use crate::sandbox::wire::without_nulls;

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
        let document = self.document(&HashMap::new(), None);
        let notes = document["notes"].as_array().into_iter().flatten();
        let comment = document.get("reason").into_iter().chain(notes);
        let comment: Vec<_> = comment.filter_map(Value::as_str).collect();
        let wait = &document["duration_ms"];
        json!({
            "_id": document["id"],
            "startedDateTime": format!("{:.3}", self.came),
            "time": wait,
            "request": self.har_request(&document, origin),
            "response": self.har_response(&document["response"]),
            "cache": {},
            "timings": {"send": 0, "wait": wait, "receive": 0},
            "comment": comment.join(" "),
        })
    }

    fn har_request(&self, document: &Value, origin: &str) -> Value {
        let (message, length) = (&document["request"], self.request.length);
        let text = |field: &str| document[field].as_str().unwrap_or_default();
        let query = document.get("query").map_or(String::new(), |_| format!("?{}", text("query")));
        let url = format!("{origin}{}{query}", text("path"));
        let pairs = Url::parse(&url).map(|it| {
            let pair = |(name, value)| json!({"name": name, "value": value});
            it.query_pairs().map(pair).collect::<Vec<_>>()
        });
        // HAR has no other place for the encoding of what is sent.
        let comment = [message["encoding"].as_str().unwrap_or_default(), cut(message)].join(" ");
        let posted = || json!({"mimeType": mime(message), "text": message["body"], "comment": comment.trim()});
        without_nulls(json!({
            "method": self.method.as_str(),
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(message),
            "queryString": pairs.unwrap_or_default(),
            "postData": (length > 0).then(posted),
            "headersSize": -1,
            "bodySize": length,
        }))
    }

    fn har_response(&self, message: &Value) -> Value {
        let status = StatusCode::from_u16(self.status).ok();
        let length = self.response.length;
        json!({
            "status": self.status,
            "statusText": status.and_then(|it| it.canonical_reason()).unwrap_or_default(),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(message),
            "content": without_nulls(json!({
                "size": length,
                "mimeType": mime(message),
                "text": message["body"],
                "encoding": message["encoding"],
                "comment": cut(message),
            })),
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": length,
        })
    }
}

fn cut(message: &Value) -> &'static str {
    let is_cut = message["truncated"] == true;
    if is_cut { "the body is longer: only its first 64 KB are here" } else { "" }
}

fn mime(message: &Value) -> &str {
    message["headers"]["content-type"].as_str().unwrap_or("application/octet-stream")
}

fn headers(message: &Value) -> Value {
    let headers = message["headers"].as_object().into_iter().flatten();
    headers.map(|(name, value)| json!({"name": name, "value": value})).collect()
}
