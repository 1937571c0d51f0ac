//! HAR 1.2 files, which browsers and proxies open: http://www.softwareishard.com/blog/har-12-spec/

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use axum::http::Uri;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::document::headers;
use super::exchange::Exchange;
use crate::platform::system::files;

/// The end of a file that is complete.
const END: &str = "\n]}}\n";

/// A file that is complete after each entry, so that a process that is killed leaves one that can be read.
pub(crate) struct HarFile {
    file: File,
    /// Where the next entry begins.
    end: u64,
    is_first: bool,
}

impl HarFile {
    /// Creates the file, or replaces its content.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let creator = json!({"name": "bookctl", "version": env!("CARGO_PKG_VERSION")});
        let start = format!("{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[");
        let mut options = OpenOptions::new();
        let file = files::open(options.write(true).create(true).truncate(true), path)?;
        files::write_all_at(&file, format!("{start}{END}").as_bytes(), 0)?;
        Ok(Self {
            file,
            end: start.len() as u64,
            is_first: true,
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
        files::write_all_at(&self.file, text.as_bytes(), self.end)?;
        self.end += entry.len() as u64;
        self.is_first = false;
        Ok(())
    }
}

impl Exchange {
    /// An entry of a HAR file. Its times are real ones, not the sandbox's.
    fn har_entry(&self, origin: &str) -> Value {
        let duration = SignedDuration::try_from(self.duration).unwrap_or_default();
        let began = self.real.saturating_sub(duration).unwrap_or(self.real);
        let (body, encoding) = self.request.text();
        let request_headers = self.request_headers();
        let response_headers = headers(&self.response_headers);
        let mime = |headers: &Map<String, Value>| {
            let mime = headers.get("content-type").and_then(Value::as_str);
            mime.unwrap_or("application/octet-stream").to_owned()
        };
        let query = self.query();
        let question = query.as_ref().map_or(String::new(), |it| format!("?{it}"));
        let mut request = json!({
            "method": self.method.as_str(),
            "url": format!("{origin}{}{question}", self.path()),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": named(&request_headers),
            "queryString": self.query_string(),
            "headersSize": -1,
            "bodySize": self.request.body.len(),
        });
        if !self.request.body.is_empty() {
            request["postData"] = json!({"mimeType": mime(&request_headers), "text": body});
            if let Some(encoding) = encoding {
                request["postData"]["comment"] = json!(encoding);
            }
        }
        let (text, encoding) = self.response.text();
        let mut content = json!({
            "size": self.response.body.len(),
            "mimeType": mime(&response_headers),
            "text": text,
        });
        if let Some(encoding) = encoding {
            content["encoding"] = json!(encoding);
        }
        let status = axum::http::StatusCode::from_u16(self.status).ok();
        let mut entry = json!({
            "startedDateTime": format!("{began:.3}"),
            "time": self.milliseconds(),
            "request": request,
            "response": {
                "status": self.status,
                "statusText": status.and_then(|it| it.canonical_reason()).unwrap_or_default(),
                "httpVersion": "HTTP/1.1",
                "cookies": [],
                "headers": named(&response_headers),
                "content": content,
                "redirectURL": "",
                "headersSize": -1,
                "bodySize": self.response.body.len(),
            },
            "cache": {},
            "timings": {"send": 0, "wait": self.milliseconds(), "receive": 0},
        });
        let comment: Vec<String> = self.reason().into_iter().chain(self.notes()).collect();
        if !comment.is_empty() {
            entry["comment"] = json!(comment.join(" "));
        }
        entry
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

fn named(headers: &Map<String, Value>) -> Value {
    let headers = headers.iter();
    headers
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}
