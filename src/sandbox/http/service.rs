//! The state shared by all requests.

use std::time::Duration;

use super::exchanges::{Exchange, ExchangeLog};
use crate::sandbox::store::Store;

pub(crate) type OnRequest = Box<dyn Fn(&Exchange) + Send + Sync>;

pub(crate) struct Service {
    pub(crate) store: Store,
    /// Whether rate limits and the test allowance count.
    pub(crate) limits: bool,
    pub(crate) delivery_interval: Duration,
    pub(crate) port: u16,
    /// Names that it goes by, besides those of loopback.
    pub(crate) hosts: Vec<String>,
    /// Whether other machines can reach it.
    pub(crate) exposed: bool,
    /// The last requests; `None` if they are not kept.
    pub(crate) exchanges: Option<ExchangeLog>,
    pub(crate) on_request: Option<OnRequest>,
}

impl Service {
    pub(super) fn shows_requests(&self) -> bool {
        self.exchanges.is_some() || self.on_request.is_some()
    }
}
