//! HTTP clients, which differ in what they trust and in their proxy. Callers add time limits.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Response, Url};
use serde_json::{Map, Value};

use crate::outcome::{Code, Error, Result, reason};
use crate::platform::{crypto, regular_file};

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

/// Reads a response's body `within` a time, at `most` so many bytes, and whether it is longer. Only
/// the status of a delivery counts, so a body that breaks off is no error.
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

/// A client that follows no redirect, so that a key or a signature never reaches another address.
/// `direct` uses no proxy. It trusts the system's authorities and these, or none if it only speaks
/// http: loading the system's takes longer than a request, and fails without any.
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

const LARGEST_BUNDLE: u64 = 16 * 1024 * 1024;

/// The certificate authorities in a file.
pub(crate) fn authorities(file: &Path) -> Result<Vec<Certificate>> {
    let read = || -> anyhow::Result<Vec<Certificate>> {
        let pem = regular_file::read(file, LARGEST_BUNDLE)?;
        let certificates = Certificate::from_pem_bundle(&pem)?;
        anyhow::ensure!(!certificates.is_empty(), "it contains no certificates");
        Ok(certificates)
    };
    let read = read().with_context(|| format!("cannot use the ca_file {}", file.display()));
    read.map_err(|error| Error::from(error).hint("use a PEM file with certificates"))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    // The `url` crate's `host()` is not re-exported. The text suffices: `url` normalizes it.
    match url.host_str().unwrap_or_default() {
        "localhost" | "[::1]" => true,
        host => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
    }
}

/// Why no connection was made, and what mends it where that is known.
pub(crate) fn why_unreached(error: &reqwest::Error) -> (String, Option<String>) {
    let (cause, mut hint) = why_broken(error);
    let Some(url) = error.url() else {
        return (format!("cannot connect: {cause}"), hint);
    };
    let mut place = url.origin().ascii_serialization();
    if let Some((proxy, variable)) = proxy_of(url) {
        let host = url.host_str().unwrap_or_default();
        hint.get_or_insert(format!("check {variable}, or set NO_PROXY={host} to use no proxy"));
        place += &format!(" through the proxy {proxy} of {variable}");
    }
    (format!("cannot connect to {place}: {cause}"), hint)
}

/// The proxy that requests to this address go through, and the variable that names it.
fn proxy_of(url: &Url) -> Option<(String, &'static str)> {
    let proxy = Matcher::from_system().intercept(&url.as_str().parse().ok()?)?;
    let names = match url.scheme() {
        _ if is_loopback(url) => return None,
        "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let variable = names.into_iter().find(is_set).unwrap_or("the system's settings");
    let uri = proxy.uri();
    let (scheme, host) = (uri.scheme_str().unwrap_or("http"), uri.authority()?);
    Some((format!("{scheme}://{host}"), variable))
}

const TRUST: &str = "if you trust it, name its authority with `bookctl profile set NAME ca_file=FILE`, --ca-file FILE or \
                     SSL_CERT_FILE=FILE";

/// Words of the libraries for a connection that failed, each with ours and the way out. The first
/// that fit count.
#[rustfmt::skip]
const BROKEN: [(&str, &str, Option<&str>); 13] = [
    ("InvalidContentType|corrupt message", "the address does not speak TLS (https)", Some("check the port, or use http for this computer")),
    ("CaUsedAsEndEntity|SelfSigned", "its TLS certificate is self-signed, and that of an authority", Some("make it with `openssl req -x509 -addext basicConstraints=critical,CA:FALSE …`, then name it as ca_file")),
    ("UnknownIssuer", "its TLS certificate comes from an authority that this computer does not trust", Some(TRUST)),
    ("not valid for name|NotValidForName", "its TLS certificate is for another host", Some("check the host name in the address")),
    ("certificate expired|Expired", "its TLS certificate has expired", Some("check this computer's clock, or have it renewed")),
    ("not valid yet|NotValidYet", "its TLS certificate is not valid yet", Some("check this computer's clock")),
    ("invalid peer certificate|peer certificate", "its TLS certificate is not valid", Some(TRUST)),
    ("fatal alert|handshake", "the TLS handshake failed", Some("check the host name and the port in the address")),
    ("deadline has elapsed|operation timed out", "nothing answered in time", None),
    ("before message completed", "the connection broke before the response", None),
    ("before message length|unexpected EOF|close_notify", "the connection broke within the response", None),
    ("tunnel error", "the proxy refused the connection", None),
    ("lookup address", "the host name is not known", None),
];

/// Why a connection failed, in our words instead of the TLS library's, and the way out.
pub(crate) fn why_broken(error: &reqwest::Error) -> (String, Option<String>) {
    let text = reason(error);
    let fits = |words: &str| words.split('|').any(|word| text.contains(word));
    match BROKEN.into_iter().find(|it| fits(it.0)) {
        Some((_, why, hint)) => (why.to_owned(), hint.map(str::to_owned)),
        None => (text, None),
    }
}
