//! What a served sandbox writes of each request: a line with the reason and the notes below it, with `--verbose` the bodies
//! too, and an entry of a HAR file.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::zone::system_zone;
use crate::outcome::{Error, Result, reason};
use crate::sandbox::{Exchange, HarFile, OnRequest};
use crate::terminal::output::{Output, StreamStyle};

pub(super) struct OnRequests<'a> {
    /// A line of each request.
    pub(super) lines: bool,
    /// The bodies below it.
    pub(super) bodies: bool,
    pub(super) har: Option<&'a Path>,
    /// The address without a path.
    pub(super) origin: String,
    pub(super) style: StreamStyle,
}

impl OnRequests<'_> {
    /// The function that writes; `None` if nothing is to be written.
    ///
    /// # Errors
    /// `io` if the HAR file cannot be written.
    pub(super) fn on_request(self) -> Result<Option<OnRequest>> {
        let har = self.har.map(|path| {
            HarFile::open(path).map_err(|error| {
                let what = format!("cannot write {}", path.display());
                Error::io(what, error).hint("name another file with --har")
            })
        });
        let har = har.transpose()?.map(Mutex::new);
        if !self.lines && har.is_none() {
            return Ok(None);
        }
        let har_name = self.har.map(|path| path.display().to_string());
        let has_failed = AtomicBool::new(false);
        let Self {
            lines,
            bodies,
            origin,
            style,
            ..
        } = self;
        Ok(Some(Box::new(move |exchange| {
            // Reads of the sandbox's own surface are those of our own commands, again and again.
            let is_shown = exchange.is_service || exchange.method() != "GET";
            if lines && is_shown {
                let (time, what) = line(exchange);
                Output::log(style, &time, &what);
                let below = " ".repeat(time.len());
                let notes = exchange.notes().into_iter();
                let notes = notes.map(|note| format!("note: {note}"));
                for said in exchange.reason().into_iter().chain(notes) {
                    Output::log(style, &below, &said);
                }
            }
            if bodies && is_shown {
                show_bodies(exchange, style);
            }
            if let Some(har) = &har
                && exchange.is_service
                && let Ok(mut file) = har.lock()
                && let Err(error) = file.add(exchange, &origin)
                && !has_failed.swap(true, Ordering::Relaxed)
            {
                let (name, why) = (har_name.as_deref().unwrap_or_default(), reason(&error));
                let what = format!("cannot write {name}: {why}; requests are missing in it");
                Output::log(style, "warning:", &what);
            }
        })))
    }
}

/// The time and the rest of `12:00:01 POST /v1/bookings 400 0.4 ms sk_live_…dbox`.
fn line(exchange: &Exchange) -> (String, String) {
    let time = exchange.at.to_zoned(system_zone()).strftime("%H:%M:%S");
    let status = match exchange.status {
        0 => "---".to_owned(),
        status => status.to_string(),
    };
    let mut line = format!(
        "{} {} {status} {:.1} ms",
        exchange.method(),
        exchange.path(),
        exchange.milliseconds(),
    );
    if let Some(key) = exchange.masked_key() {
        line.push_str(&format!(" {key}"));
    }
    if let Some(fault) = exchange.fault_kind() {
        line.push_str(&format!(" fault: {fault}"));
    }
    (time.to_string(), line)
}

fn show_bodies(exchange: &Exchange, style: StreamStyle) {
    for (sign, body) in [
        ("  >", exchange.request_body()),
        ("  <", exchange.response_body()),
    ] {
        if body.is_empty() {
            continue;
        }
        let laid_out = match serde_json::from_str::<serde_json::Value>(&body) {
            Ok(value) => serde_json::to_string_pretty(&value).unwrap_or(body),
            Err(_) => body,
        };
        for line in laid_out.lines() {
            let text = line.trim_start_matches(' ');
            let indent = " ".repeat(line.len() - text.len());
            Output::log(style, &format!("{sign}{indent}"), text);
        }
    }
}
