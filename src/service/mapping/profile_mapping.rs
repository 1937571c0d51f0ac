//! Everything that a profile says about how its service differs from the contract.

use std::collections::BTreeMap;
use std::fmt;

use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use super::dialect::Dialect;
use super::kind::{ReadKind, WriteKind};
use super::transport::Transport;
use crate::json::parsed;
use crate::platform::jq::Expression;
use crate::platform::shell;
use crate::service::time::moment::Moment;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Mapping {
    /// The profile that says all this, for the commands that change it.
    #[serde(skip)]
    pub(crate) profile: Option<String>,
    /// Whether times without an offset are the venue's own, in requests as well.
    pub(crate) local_times: bool,
    #[serde(flatten)]
    pub(crate) transport: Transport,
    pub(crate) dialect: Dialect,
    pub(crate) read: BTreeMap<ReadKind, Expression>,
    pub(crate) write: BTreeMap<WriteKind, Expression>,
}

impl Mapping {
    /// Takes a setting of a profile, such as `dialect.otp_field` or `auth_query`. The error is the
    /// predicate of a sentence.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let no_kind = || "is not a kind of document".to_owned();
        match key.split_once('.').unwrap_or(("", key)) {
            ("", "local_times") => self.local_times = value == "true",
            ("", "auth_query") => self.transport.set_auth_query(value)?,
            ("", "auth_user") => self.transport.set_auth_user(value)?,
            ("headers", name) => self.transport.add_header(name, value)?,
            ("dialect", name) => self.dialect.rename(name, value)?,
            ("read", kind) => {
                let kind = ReadKind::parse(kind).ok_or_else(no_kind)?;
                self.read.insert(kind, Expression::compile(value)?);
            }
            ("write", kind) => {
                let kind = WriteKind::parse(kind).ok_or_else(no_kind)?;
                self.write.insert(kind, Expression::compile(value)?);
            }
            _ => return Err("is not a setting of the mapping".to_owned()),
        }
        Ok(())
    }

    pub(crate) fn set_command(&self, settings: &str) -> String {
        set_command(self.profile.as_deref(), settings)
    }

    /// A moment as this service wants it in a request: without an offset, on the venue's clock
    /// where its zone is known, or with its offset.
    pub(crate) fn wire_time(&self, moment: &Moment, zone: Option<&TimeZone>) -> String {
        if !self.local_times {
            return moment.wire();
        }
        let there = zone.map(|zone| moment.zoned.with_time_zone(zone.clone()));
        there.as_ref().unwrap_or(&moment.zoned).strftime("%FT%T").to_string()
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Setting {
    /// As `config.toml` has it, such as `dialect.otp_field`.
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Setting {
    pub(crate) fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        let (key, value) = (key.into(), value.into());
        Setting { key, value }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

pub(crate) fn set_command(profile: Option<&str>, settings: &str) -> String {
    let name = shell::word(profile.unwrap_or("NAME"));
    format!("bookctl profile set {name} {settings}")
}

impl Expression {
    /// Translates a document. The error is the predicate of a sentence: it failed, did not end, or
    /// gave not exactly one value.
    pub(crate) fn apply(&self, document: &Value) -> Result<Value, String> {
        let outputs = self.run(&document.to_string())?;
        let mut lines = outputs.lines();
        match (lines.next(), lines.next()) {
            (Some(line), None) => {
                parsed(line).map_err(|error| format!("gives something that is not JSON: {error}"))
            }
            (None, _) => Err("gives no value".to_owned()),
            (Some(_), Some(_)) => Err("gives more than one value".to_owned()),
        }
    }
}
