//! What is known of how a service speaks.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::kind::{AnswerKind, RequestKind};
use super::scalars::{Money, Times};
use crate::platform::jq::Worker;

/// How a list leads to its next page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Paging {
    /// It does not: every list is whole.
    #[default]
    None,
    /// `next_cursor` in the body, sent back as `cursor` in the body or the query.
    Cursor,
    /// `Link: <…?page=2>; rel="next"`.
    Link,
}

/// How a service speaks.
#[derive(Debug)]
pub(crate) struct Speech {
    /// The built-in name, or the file.
    pub(crate) name: String,
    pub(super) dialect: Dialect,
    /// Times at the venue have no offset.
    pub(super) local_times: bool,
    pub(super) number_ids: bool,
    pub(super) times: Times,
    pub(super) money: Money,
    /// The status of a fresh booking or session.
    pub(super) created_status: u16,
    /// What stands before `/v1`; empty, or beginning with a slash and not ending with one.
    pub(super) base_path: String,
    pub(super) paging: Paging,
    pub(super) page_size: usize,
    pub(super) read: BTreeMap<RequestKind, Worker>,
    pub(super) write: BTreeMap<AnswerKind, Worker>,
}

impl Default for Speech {
    /// The contract itself.
    fn default() -> Self {
        Self {
            name: String::new(),
            dialect: Dialect::default(),
            local_times: false,
            number_ids: false,
            times: Times::default(),
            money: Money::default(),
            created_status: 201,
            base_path: String::new(),
            paging: Paging::default(),
            page_size: 10,
            read: BTreeMap::new(),
            write: BTreeMap::new(),
        }
    }
}

impl Speech {
    /// What a client needs to reach it: its name, its base path, and how it takes the key.
    pub(crate) fn document(&self) -> Value {
        json!({
            "name": self.name,
            "base_path": self.base_path,
            "auth_header": self.auth_header(),
            "auth_scheme": self.auth_scheme(),
        })
    }

    pub(crate) fn base_path(&self) -> &str {
        &self.base_path
    }

    /// Whether ids are numbers, which the caller keeps.
    pub(crate) fn numbers_ids(&self) -> bool {
        self.number_ids
    }

    /// The header that carries the API key.
    pub(crate) fn auth_header(&self) -> &str {
        &self.dialect.auth_header
    }

    /// The word before the key in that header.
    pub(crate) fn auth_scheme(&self) -> &str {
        &self.dialect.auth_scheme
    }

    /// The API key in that header's value; `None` if it is not sent as this service wants it.
    pub(crate) fn key<'a>(&self, value: &'a str) -> Option<&'a str> {
        if self.dialect.auth_scheme.is_empty() {
            return Some(value.trim());
        }
        let (scheme, key) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case(&self.dialect.auth_scheme)
            .then(|| key.trim())
    }

    /// The contract's names of a request's fields that have others here, with those. `None` if an expression reads the
    /// request, which may take any name.
    pub(crate) fn request_names(&self, kind: RequestKind) -> Option<Vec<(&'static str, &str)>> {
        let kind = match kind {
            RequestKind::Action => RequestKind::Otp,
            kind => kind,
        };
        (!self.read.contains_key(&kind)).then(|| self.dialect.request_names(kind))
    }

    /// The header that carries a delivery's signature.
    pub(crate) fn signature_header(&self) -> String {
        format!("{}-Signature", self.dialect.service_name)
    }

    /// The header that carries the number of a delivery's attempt.
    pub(crate) fn attempt_header(&self) -> String {
        format!("{}-Delivery-Attempt", self.dialect.service_name)
    }

    /// The status of an answer.
    pub(crate) fn status(&self, status: u16) -> u16 {
        match status {
            201 => self.created_status,
            status => status,
        }
    }

    /// The contract's name of a provider that the service calls so; other names stay.
    pub(crate) fn provider_called(&self, name: &str) -> String {
        let own = [
            (&self.dialect.provider_a, "provider_a"),
            (&self.dialect.provider_b, "provider_b"),
        ];
        match own.into_iter().find(|(called, _)| *called == name) {
            Some((_, provider)) => provider.to_owned(),
            // A name that another provider has given up means nobody.
            None if matches!(name, "provider_a" | "provider_b") => format!("not {name}"),
            None => name.to_owned(),
        }
    }

    /// What the service calls a provider; `None` if that is the contract's name.
    pub(super) fn provider_name(&self, provider: &str) -> Option<String> {
        match provider {
            "provider_a" => Some(self.dialect.provider_a.clone()),
            "provider_b" => Some(self.dialect.provider_b.clone()),
            _ => None,
        }
    }
}
