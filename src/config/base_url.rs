//! The address of a service.

use reqwest::Url;

use crate::outcome::{Error, Result};
use crate::platform::http_client::is_loopback;

/// The base address of a service: https, or http on loopback. It has no user, query or fragment.
#[derive(Clone, Debug, Eq)]
pub(crate) struct BaseUrl {
    url: Url,
    /// Whether it was given with `/v1` at its end, with which each path begins.
    had_version: bool,
}

impl PartialEq for BaseUrl {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl BaseUrl {
    /// `source` names the address in errors: the address may contain a password or a key.
    pub(crate) fn parse(text: &str, source: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Error::config(format!("{source} {why}"))
                .hint("use a URL such as https://api.example.com, or http://127.0.0.1:8080 on this computer")
        };
        let mut url = Url::parse(text.trim()).map_err(|_| refuse("is not a URL"))?;
        let host = url.host_str().unwrap_or_default();
        if !matches!(url.scheme(), "http" | "https") || host.is_empty() {
            return Err(refuse("is not an http or https URL"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("must not contain a user or a password")
                .hint("store a key with `bookctl auth login`, or set BOOKCTL_API_KEY"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("must not contain a query or a fragment"));
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err(refuse("must use https, because http would send the API key unencrypted"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let before = path.strip_suffix("/v1");
        before.inspect(|before| url.set_path(before));
        Ok(BaseUrl { url, had_version: before.is_some() })
    }

    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The path of the address, without a slash at its end.
    pub(crate) fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// What to say of an address that was given with `/v1`.
    pub(crate) fn note(&self) -> Option<String> {
        let address = self.address();
        let what = "bookctl adds /v1 to each path, so the base URL is";
        self.had_version.then(|| format!("{what} {address}, without it"))
    }

    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.origin(), self.path())
    }

    /// The URL of `path`, whose segments must already be encoded.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_https_unless_it_is_this_machine() {
        for good in
            ["https://a.example/base/", "http://localhost:1", "http://127.0.0.9", "http://[::1]:80"]
        {
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
        let error = BaseUrl::parse("https://u:p@a.example", "it").unwrap_err();
        assert!(!format!("{error:?}").contains("u:p"));
        let base = BaseUrl::parse("https://a.example/base/", "it").unwrap();
        assert_eq!(base.join("/v1/"), "https://a.example/base/v1/");
    }
}
