//! HTTP clients, which differ in what they trust and whether they use a proxy. The callers add time limits.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Response};
use serde_json::{Map, Value};

use crate::outcome::{Code, Error, Result};
use crate::platform::crypto;

pub(crate) const USER_AGENT: &str = concat!("bookctl/", env!("CARGO_PKG_VERSION"));

/// Headers by name; the values of a repeated one are joined.
pub(crate) fn header_fields(headers: &HeaderMap) -> Map<String, Value> {
    let mut fields = Map::new();
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let values: Vec<_> = values.map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
        fields.insert(name.to_string(), Value::String(values.join(", ")));
    }
    fields
}

/// What comes of a response's body `within` a time, at `most` so many bytes, and whether it is longer. Only the status of a
/// delivery counts, so a body that breaks off or does not end is no error.
pub(crate) async fn beginning(
    response: &mut Response,
    most: usize,
    within: Duration,
) -> (String, bool) {
    let mut body = Vec::new();
    let read = async {
        while body.len() <= most
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
    };
    let has_ended = tokio::time::timeout(within, read).await.is_ok();
    let is_longer = !has_ended || body.len() > most;
    body.truncate(most);
    (String::from_utf8_lossy(&body).into_owned(), is_longer)
}

/// A client that follows no redirect, so that a key or a signature never reaches another address. It is `direct` if it
/// never uses a proxy. It trusts the system's authorities and these; or none, if it only speaks http: loading the system's
/// takes longer than a request, and fails where there are none.
pub(crate) fn builder(direct: bool, authorities: Option<Vec<Certificate>>) -> ClientBuilder {
    crypto::install_provider();
    let builder = Client::builder()
        .redirect(Policy::none())
        .http1_title_case_headers()
        .referer(false)
        .tcp_nodelay(true);
    let builder = if direct { builder.no_proxy() } else { builder };
    match authorities {
        None => builder.tls_certs_only([]),
        Some(further) => builder.tls_certs_merge(further),
    }
}

/// Builds the client; fails with `network` (15) if TLS cannot be set up.
pub(crate) fn build(builder: ClientBuilder) -> Result<Client> {
    builder.build().map_err(|error| {
        Error::caused(Code::Network, "TLS cannot be set up", error)
            .hint("install the system's certificate authorities (ca-certificates)")
    })
}
