//! What a command is given: the context, how it is built, and what is in flight.

mod api;
mod facts;
pub(crate) mod flags;
pub(crate) mod in_flight;
pub(crate) mod input;
pub(crate) mod pages;
mod parts;
pub(crate) mod plan;
pub(crate) mod ready_file;
mod records;
pub(crate) mod report_warnings;
pub(crate) mod shared_journal;

pub(crate) use api::{Api, Effect, Verdict};
pub(crate) use facts::Facts;
pub(crate) use parts::{Parts, Settings, Startup, Ui};
pub(crate) use records::Records;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use crate::outcome::{Error, Result};
use crate::platform::signals::EndSignals;

/// Runs a future on a runtime of its own.
pub(crate) fn block_on<T>(running: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("the runtime cannot be started", error))?;
    let outcome = runtime.block_on(running);
    // An abandoned prompt or keyring may still be at it on its own thread.
    runtime.shutdown_background();
    outcome
}

/// Listens for the signals that end a command, which are awaited next to it.
pub(crate) fn listen_for_signals() -> Result<EndSignals> {
    EndSignals::listen().map_err(|error| Error::io("signals cannot be listened for", error))
}

/// A socket that listens on this address, for a server of a command with `--port`.
pub(crate) fn bind(ip: IpAddr, port: u16) -> Result<(TcpListener, SocketAddr)> {
    let failed = |error| {
        Error::io(format!("cannot listen on {ip} port {port}"), error)
            .hint("choose another port with --port; 0 picks a free one")
    };
    let socket = TcpListener::bind((ip, port)).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok((socket, address))
}

/// The address at which this computer reaches a server that may listen on every address.
pub(crate) fn own_address(listens_on: SocketAddr) -> SocketAddr {
    match listens_on.ip() {
        ip if !ip.is_unspecified() => listens_on,
        IpAddr::V4(_) => (Ipv4Addr::LOCALHOST, listens_on.port()).into(),
        IpAddr::V6(_) => (Ipv6Addr::LOCALHOST, listens_on.port()).into(),
    }
}
