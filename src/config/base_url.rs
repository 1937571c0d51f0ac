//! The address of a service.

use reqwest::Url;

use crate::outcome::{Error, Result};

/// The base address of a service: https, or http on loopback. It has no user, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    /// Parses an address. `source` names it in errors: a flag, a variable or a profile. The address itself is not
    /// shown, because it may contain a password.
    pub(crate) fn parse(text: &str, source: &str) -> Result<Self> {
        let refuse = |why: &str| {
            // The text is not shown: it may contain a password or a key.
            Error::config(format!("{source} {why}"))
                .hint("a base URL looks like https://api.example.com, or http://127.0.0.1:8080 on this machine")
        };
        let url = Url::parse(text.trim()).map_err(|_| refuse("is not an address"))?;
        let host = url.host_str().unwrap_or_default();
        if !matches!(url.scheme(), "http" | "https") || host.is_empty() {
            return Err(refuse("is not an http address"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            // The text is not shown: it contains a password.
            return Err(
                Error::config(format!("{source} must not carry a user or a password"))
                    .hint("a key is stored by `bookctl auth login`, or given in BOOKCTL_API_KEY"),
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("must not carry a query or a fragment"));
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err(refuse(
                "must be https: an API key would travel in the clear",
            ));
        }
        Ok(BaseUrl(url))
    }

    /// Whether the address is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// Whether the connection is encrypted.
    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The URL of `path`, whose segments must already be encoded.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0.as_str().trim_end_matches('/'))
    }
}

/// Whether a URL is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    // The `url` crate's `host()` is not re-exported. The text is sufficient, because `url` normalizes addresses.
    match url.host_str().unwrap_or_default() {
        "localhost" | "[::1]" => true,
        host => host
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_https_unless_it_is_this_machine() {
        for good in [
            "https://a.example/base/",
            "http://localhost:1",
            "http://127.0.0.9",
            "http://[::1]:80",
        ] {
            assert!(BaseUrl::parse(good, "it").is_ok(), "{good}");
        }
        for bad in [
            "http://a.example",
            "ftp://a",
            "a.example",
            "https://u:p@a.example",
            "https://a.example/?x=1",
            "",
        ] {
            assert!(BaseUrl::parse(bad, "it").is_err(), "{bad}");
        }
        assert_eq!(
            BaseUrl::parse("https://a.example/base/", "it")
                .unwrap()
                .join("/v1/"),
            "https://a.example/base/v1/"
        );
    }
}
