//! Protects the endpoints without a key from other computers and from web pages of other origins.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use super::SandboxService;
use crate::sandbox::rules::api_error::{ApiError, Result};

pub(super) struct Own<'a> {
    pub(super) port: u16,
    pub(super) hosts: &'a [String],
    /// Whether other computers reach it, by addresses unknown here, and through mapped ports.
    pub(super) exposed: bool,
}

impl<'a> Own<'a> {
    pub(super) fn from_service(service: &'a SandboxService) -> Self {
        let address = service.address;
        let (port, exposed) = (address.port(), !address.ip().is_loopback());
        Self { port, hosts: &service.options.hosts, exposed }
    }
}

/// Rejects a request to another host name (DNS rebinding), and a write from another origin.
pub(super) fn check(request: &Parts, own: &Own<'_>) -> Result<()> {
    let headers = &request.headers;
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(|it| it.to_str().unwrap_or_default());
    // Two headers are rejected. A host in the request target overrides the header.
    let is_doubtful = hosts.next().is_some();
    let target = request.uri.authority().map(|it| it.as_str());
    let foreign = target.into_iter().chain(host).find(|it| !own.is_host(it));
    if is_doubtful || host.is_none() || foreign.is_some() {
        return Err(ApiError::foreign_host(foreign.filter(|_| !is_doubtful), own.port));
    }
    let writes = !matches!(request.method, Method::GET | Method::HEAD);
    let is_own = |origin: &str| match origin.strip_prefix("http://") {
        Some(name) if own.exposed => Some(name) == host,
        Some(name) => own.is_host(name),
        None => false,
    };
    if writes && request.uri.path().starts_with("/sandbox") && is_from_elsewhere(headers, is_own) {
        return Err(ApiError::CROSS_ORIGIN);
    }
    Ok(())
}

/// Whether the headers show that a page of another origin sent the request.
/// Browsers send the page's origin in `Origin` with every write, and its relation to ours in
/// `Sec-Fetch-Site`. A request without either does not come from a browser.
fn is_from_elsewhere(headers: &HeaderMap, is_own: impl Fn(&str) -> bool) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = origins.next();
    // Several origins are never right.
    if origins.next().is_some() {
        return true;
    }
    match origin {
        Some(origin) => !is_own(origin.to_str().unwrap_or_default()),
        None => headers
            .get_all("sec-fetch-site")
            .iter()
            .any(|site| site != "same-origin" && site != "none"),
    }
}

impl Own<'_> {
    /// Whether a `Host` names the server. A page whose name leads here by DNS rebinding has neither
    /// an address of its own nor one of these names.
    pub(super) fn is_host(&self, host: &str) -> bool {
        let (name, named_port) = match host.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => (name, digits.parse().ok()),
            _ => (host, Some(80)),
        };
        let is_own_port = named_port == Some(self.port);
        let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
        let is_address = || bare.parse::<IpAddr>().is_ok_and(|it| it.is_ipv6() == (bare != name));
        let names = ["localhost", "127.0.0.1", "[::1]"].into_iter();
        let mut names = names.chain(self.hosts.iter().map(String::as_str));
        let is_name = names.any(|own| own.eq_ignore_ascii_case(name));
        let is_port = named_port.is_some() && (self.exposed || is_own_port);
        is_name && is_port || self.exposed && is_own_port && is_address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn ask(exposed: bool, call: &str, headers: &[(&str, &str)]) -> Result<()> {
        let (method, path) = call.split_once(' ').unwrap();
        let request = Request::builder().method(method).uri(path);
        let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
        let own = Own { port: 4010, hosts: &["host.docker.internal".to_owned()], exposed };
        check(&request.body(()).unwrap().into_parts().0, &own)
    }

    const OWN: (&str, &str) = ("host", "localhost:4010");

    #[test]
    fn the_host_is_a_loopback_name_with_the_servers_own_port() {
        for (host, is_own) in [
            ("127.0.0.1:4010", true),
            ("LOCALHOST:4010", true),
            ("[::1]:4010", true),
            ("host.docker.internal:4010", true),
            ("evil.example:4010", false),
            ("127.0.0.1", false),
            ("127.0.0.1:4011", false),
            ("127.0.0.1.evil.example:4010", false),
            ("[::1]", false),
            ("", false),
        ] {
            let requested = ask(false, "GET /v1/", &[("host", host)]);
            assert_eq!(requested.is_ok(), is_own, "{host}");
        }
        let two = [OWN, ("host", "evil.example:4010")];
        for (call, headers) in [
            ("GET /v1/", &[][..]),
            ("GET /v1/", &two),
            ("GET http://evil.example:4010/v1/", &[OWN]),
        ] {
            let requested = ask(false, call, headers);
            let refused = requested.unwrap_err().answer();
            assert!(refused.1.to_string().contains("--host"), "{call}");
        }
        assert_eq!(ask(false, "GET http://127.0.0.1:4010/v1/", &[OWN]), Ok(()));
    }

    #[test]
    fn refusal_says_which_flag_allows_name() {
        for (host, flag) in [
            ("app.test:80", "--host app.test` allows, with the port 4010"),
            ("[fe80::1]", "--host [fe80::1]`"),
            ("x';id", "--host NAME`"),
        ] {
            let refused = ask(false, "GET /v1/", &[("host", host)]).unwrap_err();
            let wording = refused.answer().1["error"].to_string();
            assert!(wording.contains(flag), "{wording}");
        }
    }

    #[test]
    fn a_page_of_another_origin_may_not_write_to_the_controls() {
        let own = ("origin", "http://localhost:4010");
        let evil = ("origin", "https://evil.example");
        let site = |site| ("sec-fetch-site", site);
        for (headers, is_allowed) in [
            (&[][..], true),
            (&[own], true),
            (&[own, site("same-origin")], true),
            (&[site("none")], true),
            (&[evil], false),
            (&[("origin", "null")], false),
            (&[("origin", "http://localhost:3000")], false),
            (&[own, evil], false),
            (&[own, own], false),
            (&[site("cross-site")], false),
            (&[site("same-site")], false),
            (&[site("")], false),
        ] {
            let headers = [&[OWN], headers].concat();
            let requested = ask(false, "POST /sandbox/reset", &headers);
            assert_eq!(requested.is_ok(), is_allowed, "{headers:?}");
        }
        assert_eq!(ask(false, "GET /sandbox/clock", &[OWN, evil]), Ok(()));
    }

    #[test]
    fn an_exposed_server_goes_by_addresses_and_its_names_alone() {
        for (host, is_own) in [
            ("192.168.0.7:4010", true),
            ("[fe80::7]:4010", true),
            ("localhost:8080", true),
            ("host.docker.internal:8080", true),
            ("192.168.0.7:8080", false),
            ("fe80::7:4010", false),
            ("sandbox.test:4010", false),
        ] {
            let requested = ask(true, "GET /v1/", &[("host", host)]);
            assert_eq!(requested.is_ok(), is_own, "{host}");
            for (origin, is_allowed) in [(host, is_own), ("evil.example:4010", false)] {
                let origin = format!("http://{origin}");
                let headers = [("host", host), ("origin", origin.as_str())];
                let requested = ask(true, "POST /sandbox/reset", &headers);
                assert_eq!(requested.is_ok(), is_allowed, "{host} {origin}");
            }
        }
    }
}
