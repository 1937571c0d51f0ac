//! A sandbox that is about to be served, by `serve` or by `run`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;

use super::load::FixtureFile;
use super::server::Variables;
use crate::app::ready_file::ReadyFile;
use crate::app::{Parts, bind, own_address};
use crate::outcome::{Error, Result, reason};
use crate::platform::input::Source;
use crate::sandbox::{Exchange, HarFile, LIVE_KEY, OnRequest, Options, Sandbox};
use crate::service::time::duration::lasting;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{LogThread, Output, StreamStyle};

/// Where and how a sandbox is served.
#[derive(clap::Args, Debug)]
pub(crate) struct ServerFlags {
    /// Listen on this address, open to all who can reach it
    ///
    /// The sandbox's controls need no key, and its keys are public. Use it only in a network of
    /// your own, such as a container's. It answers to its addresses, to loopback names and to the
    /// names of --host.
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Answer to this host name too, repeatable
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Send due webhooks at this interval
    // A worker that never pauses would keep the processor to itself.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = lasting)]
    delivery_interval: Duration,
    /// Write the address to this file when ready
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Load your own venues and bookings from this file, or -
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    fixtures: Option<Source>,
    /// Write requests and responses to this file, keys masked
    ///
    /// Only the first 64 KB of each body is written. A HAR file that bookctl wrote before is
    /// replaced. bookctl rejects any other file, and one that another sandbox is writing.
    #[arg(long, value_name = "FILE")]
    har: Option<PathBuf>,
}

impl Starting {
    pub(crate) fn announce(&self) -> Result<()> {
        self.ready_file.as_ref().map_or(Ok(()), |it| it.write(&self.variables.base_url))
    }
}

type RequestLog = Arc<LogThread<Arc<Exchange>>>;

pub(crate) struct Starting {
    pub(crate) ready_file: Option<ReadyFile>,
    pub(crate) sandbox: Sandbox,
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) variables: Variables,
    pub(crate) on_request: Option<OnRequest>,
    pub(crate) log: Option<RequestLog>,
}

/// Opens the sandbox, loads its fixtures, and listens. `logs` prints each request.
pub(crate) async fn start(
    Parts { api, ui, settings, .. }: &Parts,
    options: Options,
    flags: ServerFlags,
    port: u16,
    logs: bool,
) -> Result<Starting> {
    // Before anything else: the file of a killed server must not pass for this one's.
    let ready_file = flags.ready_file.map(ReadyFile::new).transpose()?;
    let address = flags.expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    if !address.is_loopback() {
        ui.out.warn(&format!(
            "exposed on {address}: anyone who can reach it can read and change everything, without a key"
        ));
    }
    let options = Options {
        limits: settings.sandbox_limits,
        delivery_interval: flags.delivery_interval,
        hosts: flags.hosts,
        ..options
    };
    let sandbox = api.facts.open_sandbox(options)?;
    if let Some(file) = flags.fixtures {
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
    let har = flags.har.map(|path| {
        HarFile::open(path.clone(), base_url.clone()).map_err(|error| {
            let what = format!("cannot write {}", path.display());
            Error::io(what, error).hint("name another file with --har")
        })
    });
    let har = har.transpose()?.map(Mutex::new);
    let style = ui.out.stderr_style();
    let bodies = settings.verbose;
    let lines = move |exchange: Arc<Exchange>| log_lines(&exchange, bodies, style);
    let lines = logs.then(|| Arc::new(LogThread::start(style, lines)));
    Ok(Starting {
        ready_file,
        sandbox,
        listener,
        address,
        variables: Variables { base_url, key: LIVE_KEY.to_owned(), webhook_secret },
        on_request: on_request(lines.clone(), har, style),
        log: lines,
    })
}

fn on_request(
    lines: Option<RequestLog>,
    har: Option<Mutex<HarFile>>,
    style: StreamStyle,
) -> Option<OnRequest> {
    if lines.is_none() && har.is_none() {
        return None;
    }
    let has_failed = AtomicBool::new(false);
    Some(Box::new(move |exchange, name_of| {
        // Reads of the sandbox's own surface are those of our own commands, again and again.
        if let Some(lines) = &lines
            && (exchange.is_service || exchange.method != "GET")
        {
            lines.add(Arc::clone(exchange));
        }
        if let Some(har) = har.as_ref().filter(|_| exchange.is_service)
            && let Ok(mut har) = har.lock()
            && let Err(error) = har.add(exchange, name_of)
            && !has_failed.swap(true, Ordering::Relaxed)
        {
            let (path, why) = (har.path.display(), reason(&error));
            let what = format!("cannot write {path}: {why}; requests are missing in it");
            Output::write_log(&Output::log_line(style, "warning:", &what));
        }
    }))
}

/// `12:00:01 POST /v1/bookings 400 0.4 ms sk_live_…dbox`, its reason and notes below it, and with
/// `--verbose` the bodies.
fn log_lines(exchange: &Exchange, bodies: bool, style: StreamStyle) -> String {
    let time = exchange.at.to_zoned(system_zone()).strftime("%H:%M:%S").to_string();
    let (method, path) = (&exchange.method, exchange.shown_path());
    let took = exchange.duration_ms();
    let status = match exchange.status {
        0 => "---".to_owned(),
        status => status.to_string(),
    };
    let mut line = format!("{method} {path} {status} {took:.1} ms");
    line.extend(exchange.masked_key().map(|key| format!(" {key}")));
    line.extend(exchange.fault_kind().map(|fault| format!(" fault: {fault}")));
    let mut lines = Output::log_line(style, &time, &line);
    let below = " ".repeat(time.len());
    let notes = exchange.notes().into_iter().map(|note| format!("note: {note}"));
    for wording in exchange.reason().into_iter().chain(notes) {
        lines.push_str(&Output::log_line(style, &below, &wording));
    }
    if !bodies {
        return lines;
    }
    let exchange = exchange.document(&HashMap::new(), None);
    for (sign, part) in [("  >", "request"), ("  <", "response")] {
        let body = exchange[part]["body"].as_str().unwrap_or_default();
        let laid_out = serde_json::from_str::<Value>(body).map(|it| format!("{it:#}"));
        for line in laid_out.as_deref().unwrap_or(body).lines() {
            let text = line.trim_start_matches(' ');
            let indent = " ".repeat(line.len() - text.len());
            lines.push_str(&Output::log_line(style, &format!("{sign}{indent}"), text));
        }
    }
    lines
}
