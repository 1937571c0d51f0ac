//! Protects the endpoints that need no key from other machines and from web pages of other origins.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use crate::sandbox::rules::api_error::ApiError;

/// The names that the server goes by.
pub(super) struct Own<'a> {
    pub(super) port: u16,
    /// Names besides those of loopback.
    pub(super) hosts: &'a [String],
    /// Whether other machines reach it, by names that it cannot know: then any name will do.
    pub(super) exposed: bool,
}

/// Rejects a request to another host name (DNS rebinding), and a write to the controls from a page of
/// another origin.
pub(super) fn check(request: &Parts, own: &Own<'_>) -> Result<(), ApiError> {
    let headers = &request.headers;
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(|it| it.to_str().unwrap_or_default());
    // Two headers are rejected. A host in the request target overrides the header.
    let is_doubtful = hosts.next().is_some();
    let target = request.uri.authority().map(|it| it.as_str());
    let foreign = target.into_iter().chain(host).find(|it| !own.is_host(it));
    if !own.exposed && (is_doubtful || host.is_none() || foreign.is_some()) {
        return Err(ApiError::ForeignHost {
            named: foreign.filter(|_| !is_doubtful).map(str::to_owned),
            port: own.port,
        });
    }
    let writes = !matches!(request.method, Method::GET | Method::HEAD);
    let is_own = |origin: &str| match origin.strip_prefix("http://") {
        Some(name) => own.is_host(name) || own.exposed && Some(name) == host,
        None => false,
    };
    if writes && request.uri.path().starts_with("/sandbox") && is_from_elsewhere(headers, is_own) {
        return Err(ApiError::CrossOrigin);
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
    /// Whether a `Host` header is one of the server's names with its port.
    fn is_host(&self, host: &str) -> bool {
        let (name, named_port) = match host.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => (name, digits.parse().ok()),
            _ => (host, Some(80)),
        };
        let names = ["localhost", "127.0.0.1", "[::1]"].into_iter();
        named_port == Some(self.port)
            && names
                .chain(self.hosts.iter().map(String::as_str))
                .any(|own| own.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn own(hosts: &[&str], exposed: bool) -> Own<'static> {
        let hosts: Vec<String> = hosts.iter().map(|it| (*it).to_owned()).collect();
        Own {
            port: 4010,
            hosts: hosts.leak(),
            exposed,
        }
    }

    fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Result<(), ApiError> {
        let request = Request::builder().method(method).uri(path);
        let request = headers
            .iter()
            .fold(request, |it, (name, value)| it.header(*name, *value));
        let (request, ()) = request.body(()).unwrap().into_parts();
        check(&request, &own(&["host.docker.internal"], false))
    }

    fn is_foreign(path: &str, headers: &[(&str, &str)]) -> bool {
        matches!(ask("GET", path, headers), Err(ApiError::ForeignHost { .. }))
    }

    #[test]
    fn the_host_is_a_loopback_name_with_the_servers_own_port() {
        for host in [
            "127.0.0.1:4010",
            "localhost:4010",
            "LOCALHOST:4010",
            "[::1]:4010",
            "host.docker.internal:4010",
        ] {
            assert_eq!(
                ask("GET", "/sandbox/clock", &[("host", host)]),
                Ok(()),
                "{host}"
            );
        }
        for host in [
            "evil.example:4010",
            "127.0.0.1",
            "127.0.0.1:4011",
            "127.0.0.1.evil.example:4010",
            "[::1]",
            "",
        ] {
            assert!(is_foreign("/v1/", &[("host", host)]), "{host}");
        }
        assert!(is_foreign("/v1/", &[]));
        let own = ("host", "localhost:4010");
        let two = [own, ("host", "evil.example:4010")];
        assert!(is_foreign("/v1/", &two));
        assert!(is_foreign("http://evil.example:4010/v1/", &[own]));
        assert_eq!(ask("GET", "http://127.0.0.1:4010/v1/", &[own]), Ok(()));
    }

    #[test]
    fn a_refusal_says_which_flag_allows_the_name_and_which_port_is_the_right_one() {
        for (headers, start, flag) in [
            (
                &[("host", "app.test:80")][..],
                "the Host header is \"app.test:80\", and must be localhost,",
                "--host app.test` allows, with the port 4010",
            ),
            (
                &[("host", "[fe80::1]")],
                "the Host header is \"[fe80::1]\", and must be",
                "--host [fe80::1]`",
            ),
            (
                &[("host", "x';id")],
                "the Host header must be",
                "--host NAME`",
            ),
            (&[], "the Host header must be", "--host NAME`"),
        ] {
            let (_, body) = ask("GET", "/v1/", headers).unwrap_err().answer();
            let said = body["error"].as_str().unwrap();
            assert!(said.starts_with(start) && said.contains(flag), "{said}");
        }
    }

    #[test]
    fn a_page_of_another_origin_may_not_write_to_the_controls() {
        let from = |method, origin| {
            ask(
                method,
                "/sandbox/reset",
                &[("host", "localhost:4010"), ("origin", origin)],
            )
        };
        assert_eq!(from("POST", "http://localhost:4010"), Ok(()));
        for origin in ["https://evil.example", "null", "http://localhost:3000"] {
            assert_eq!(from("POST", origin), Err(ApiError::CrossOrigin), "{origin}");
        }
    }

    #[test]
    fn a_write_that_says_it_comes_from_another_site_or_from_two_origins_is_refused() {
        let host = ("host", "localhost:4010");
        let post = |headers: &[(&str, &str)]| {
            let headers: Vec<_> = std::iter::once(host)
                .chain(headers.iter().copied())
                .collect();
            ask("POST", "/sandbox/reset", &headers)
        };
        let own = ("origin", "http://localhost:4010");
        for site in ["cross-site", "same-site", ""] {
            let headers = [("sec-fetch-site", site)];
            assert_eq!(post(&headers), Err(ApiError::CrossOrigin), "{site}");
            let reading = [host, headers[0]];
            assert_eq!(ask("GET", "/sandbox/clock", &reading), Ok(()));
        }
        for origins in [[own, own], [own, ("origin", "https://evil.example")]] {
            assert_eq!(post(&origins), Err(ApiError::CrossOrigin));
        }
        for site in ["same-origin", "none"] {
            assert_eq!(post(&[("sec-fetch-site", site)]), Ok(()), "{site}");
        }
        assert_eq!(post(&[own, ("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(post(&[]), Ok(()));
    }

    #[test]
    fn an_exposed_server_goes_by_any_name_and_still_refuses_pages_of_another_origin() {
        let post = |origin: &str| {
            let request = Request::post("/sandbox/reset").header("host", "sandbox.test:4010");
            let request = request.header("origin", origin).body(()).unwrap();
            check(&request.into_parts().0, &own(&[], true))
        };
        assert_eq!(post("http://sandbox.test:4010"), Ok(()));
        assert_eq!(post("http://evil.example"), Err(ApiError::CrossOrigin));
    }
}
