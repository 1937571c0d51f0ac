//! A sandbox that is about to be served, by `serve` or by `run`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::TcpListener;

use super::env::Variables;
use super::load::FixtureFile;
use crate::app::{Context, bind, own_address};
use crate::outcome::{Error, Result, reason};
use crate::platform::input::Source;
use crate::sandbox::{ExchangeDocument, HarFile, LIVE_KEY, OnRequest, Options, Sandbox};
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Output, StreamStyle};

#[derive(clap::Args, Debug)]
pub(crate) struct Files {
    /// Load your own venues and bookings from this file, or -
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    fixtures: Option<Source>,
    /// Write requests and responses to this file, keys masked
    ///
    /// Only the first 64 KB of each body is written. A HAR file that bookctl wrote before is replaced. bookctl rejects
    /// any other file, and one that another sandbox is writing.
    #[arg(long, value_name = "FILE")]
    har: Option<PathBuf>,
}

pub(crate) struct Starting {
    pub(crate) sandbox: Sandbox,
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    /// What its clients need.
    pub(crate) variables: Variables,
    pub(crate) on_request: Option<OnRequest>,
}

/// Opens the sandbox, loads its fixtures, and listens at an address. `logs` is whether each request becomes a line.
pub(crate) async fn start(
    context: &Context,
    options: Options,
    files: Files,
    (address, port): (IpAddr, u16),
    logs: bool,
) -> Result<Starting> {
    let options = Options { limits: context.sandbox_limits, ..options };
    let sandbox = context.open_sandbox(options)?;
    if let Some(file) = files.fixtures {
        let file = FixtureFile::read(file).await?;
        let loaded = sandbox.load(file.document.clone()).await;
        loaded.map_err(|body| {
            let broken = || Error::config(format!("the fixtures cannot be loaded: {body}"));
            file.refused(&body).unwrap_or_else(broken)
        })?;
    }
    let webhook_secret = sandbox.webhook_secret()?;
    let (socket, address) = bind(address, port)?;
    let failed = |error| Error::io("cannot serve the sandbox", error);
    let listener = TcpListener::from_std(socket).map_err(failed)?;
    let base_url = format!("http://{}", own_address(address));
    let har = files.har.map(|path| {
        HarFile::open(path.clone(), base_url.clone()).map_err(|error| {
            let what = format!("cannot write {}", path.display());
            Error::io(what, error).hint("name another file with --har")
        })
    });
    let log = Log {
        lines: logs,
        bodies: context.verbose,
        style: context.out.stderr_style(),
        har: har.transpose()?.map(Mutex::new),
        has_failed: AtomicBool::new(false),
    };
    Ok(Starting {
        sandbox,
        listener,
        address,
        variables: Variables { base_url, key: LIVE_KEY.to_owned(), webhook_secret },
        on_request: log.on_request(),
    })
}

/// What is written of each request: a line with the reason and the notes below it, with `--verbose` the bodies too, and an
/// entry of a HAR file.
struct Log {
    lines: bool,
    bodies: bool,
    style: StreamStyle,
    har: Option<Mutex<HarFile>>,
    /// Whether it was said that the HAR file cannot be written.
    has_failed: AtomicBool,
}

impl Log {
    fn on_request(self) -> Option<OnRequest> {
        if !self.lines && self.har.is_none() {
            return None;
        }
        Some(Box::new(move |exchange| {
            // Reads of the sandbox's own surface are those of our own commands, again and again.
            if self.lines && (exchange.is_service || exchange.method != "GET") {
                let time = exchange.at.to_zoned(system_zone()).strftime("%H:%M:%S");
                self.show(&exchange.document(), &time.to_string());
            }
            if let Some(har) = self.har.as_ref().filter(|_| exchange.is_service)
                && let Ok(mut har) = har.lock()
                && let Err(error) = har.add(exchange)
                && !self.has_failed.swap(true, Ordering::Relaxed)
            {
                let (path, why) = (har.path.display(), reason(&error));
                let what = format!("cannot write {path}: {why}; requests are missing in it");
                Output::log(self.style, "warning:", &what);
            }
        }))
    }

    /// `12:00:01 POST /v1/bookings 400 0.4 ms sk_live_…dbox`, and what is to be said of it.
    fn show(&self, exchange: &ExchangeDocument, time: &str) {
        let (method, path, took) = (&exchange.method, &exchange.path, exchange.duration_ms);
        let status = match exchange.status {
            0 => "---".to_owned(),
            status => status.to_string(),
        };
        let mut line = format!("{method} {path} {status} {took:.1} ms");
        if let Some(key) = &exchange.key {
            line.push_str(&format!(" {key}"));
        }
        if let Some(fault) = &exchange.fault {
            line.push_str(&format!(" fault: {fault}"));
        }
        Output::log(self.style, time, &line);
        let below = " ".repeat(time.len());
        let notes = exchange.notes.iter().map(|note| format!("note: {note}"));
        for said in exchange.reason.iter().cloned().chain(notes) {
            Output::log(self.style, &below, &said);
        }
        if self.bodies {
            self.show_body("  >", &exchange.request.body);
            self.show_body("  <", &exchange.response.body);
        }
    }

    fn show_body(&self, sign: &str, body: &str) {
        let laid_out = match serde_json::from_str::<serde_json::Value>(body) {
            Ok(value) => format!("{value:#}"),
            Err(_) => body.to_owned(),
        };
        for line in laid_out.lines() {
            let text = line.trim_start_matches(' ');
            let indent = " ".repeat(line.len() - text.len());
            Output::log(self.style, &format!("{sign}{indent}"), text);
        }
    }
}
