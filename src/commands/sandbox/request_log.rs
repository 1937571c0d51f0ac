//! What a served sandbox writes of each request: a line with the reason and the notes below it, with `--verbose` the bodies
//! too, and an entry of a HAR file.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::zone::system_zone;
use crate::outcome::{Error, Result, reason};
use crate::sandbox::{ExchangeDocument, HarFile, OnRequest};
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
            let is_shown = exchange.is_service || exchange.method != "GET";
            if lines && is_shown {
                let time = exchange.at.to_zoned(system_zone()).strftime("%H:%M:%S");
                show(&exchange.document(), &time.to_string(), bodies, style);
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

/// `12:00:01 POST /v1/bookings 400 0.4 ms sk_live_…dbox`, and what is to be said of it.
fn show(exchange: &ExchangeDocument, time: &str, bodies: bool, style: StreamStyle) {
    let status = match exchange.status {
        0 => "---".to_owned(),
        status => status.to_string(),
    };
    let mut line = format!(
        "{} {} {status} {:.1} ms",
        exchange.method, exchange.path, exchange.duration_ms,
    );
    if let Some(key) = &exchange.key {
        line.push_str(&format!(" {key}"));
    }
    if let Some(fault) = &exchange.fault {
        line.push_str(&format!(" fault: {fault}"));
    }
    Output::log(style, time, &line);
    let below = " ".repeat(time.len());
    let notes = exchange.notes.iter().map(|note| format!("note: {note}"));
    for said in exchange.reason.iter().cloned().chain(notes) {
        Output::log(style, &below, &said);
    }
    if bodies {
        show_body("  >", &exchange.request.body, style);
        show_body("  <", &exchange.response.body, style);
    }
}

fn show_body(sign: &str, body: &str, style: StreamStyle) {
    let laid_out = match serde_json::from_str::<serde_json::Value>(body) {
        Ok(value) => format!("{value:#}"),
        Err(_) => body.to_owned(),
    };
    for line in laid_out.lines() {
        let text = line.trim_start_matches(' ');
        let indent = " ".repeat(line.len() - text.len());
        Output::log(style, &format!("{sign}{indent}"), text);
    }
}
