//! The state shared by all requests.

use std::sync::Arc;
use std::time::Duration;

use crate::sandbox::speak::Speech;
use crate::sandbox::store::Store;

/// A log entry of one request. The query is left out because it may name people.
#[derive(Debug)]
pub(crate) struct RequestLog {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) duration: Duration,
    /// Why the answer could not be given as the service speaks.
    pub(crate) failure: Option<String>,
}

/// Called after each request.
pub(crate) type OnRequest = Box<dyn Fn(RequestLog) + Send + Sync>;

/// The state shared by all requests.
pub(crate) struct Service {
    pub(crate) store: Store,
    /// Whether rate limits and the test allowance count.
    pub(crate) limits: bool,
    pub(crate) delivery_interval: Duration,
    /// How the service speaks; `None` for the contract itself.
    pub(crate) speech: Option<Arc<Speech>>,
    /// The port it listens on.
    pub(crate) port: u16,
    /// Whether other machines can reach it.
    pub(crate) exposed: bool,
    pub(crate) on_request: Option<OnRequest>,
}
