//! Everything that a profile says about how its service differs from the contract.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::dialect::Dialect;
use super::expression::Expression;
use super::kind::{ReadKind, WriteKind};
use super::transport::Transport;
use crate::model::moment::Moment;
use crate::model::shell;

/// How the documents of a service differ from the contract's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adapter {
    pub(crate) dialect: Dialect,
    /// Whether times without an offset are the venue's own, in requests as well.
    pub(crate) local_times: bool,
    /// How requests carry the key, and what else they carry.
    pub(crate) transport: Transport,
    /// The profile that says all this, for the commands that change it.
    pub(crate) profile: Option<String>,
    read: BTreeMap<ReadKind, Expression>,
    write: BTreeMap<WriteKind, Expression>,
}

impl Adapter {
    /// An adapter that only renames.
    pub(crate) fn of_dialect(dialect: Dialect) -> Self {
        Adapter {
            dialect,
            ..Adapter::default()
        }
    }

    pub(crate) fn set_read(&mut self, kind: ReadKind, expression: Expression) {
        self.read.insert(kind, expression);
    }

    pub(crate) fn set_write(&mut self, kind: WriteKind, expression: Expression) {
        self.write.insert(kind, expression);
    }

    /// The expressions as they were written, by `read.KIND` and `write.KIND`.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (String, &str)> {
        let read = self
            .read
            .iter()
            .map(|(kind, it)| (format!("read.{}", kind.as_str()), it.source()));
        let write = self
            .write
            .iter()
            .map(|(kind, it)| (format!("write.{}", kind.as_str()), it.source()));
        read.chain(write)
    }

    pub(crate) fn set_command(&self, settings: &str) -> String {
        let name = self.profile.as_deref().unwrap_or("NAME");
        format!("bookctl profile set {} {settings}", shell::word(name))
    }

    pub(super) fn read_expression(&self, kind: ReadKind) -> Option<&Expression> {
        self.read.get(&kind)
    }

    pub(crate) fn write_expression(&self, kind: WriteKind) -> Option<&Expression> {
        self.write.get(&kind)
    }

    /// Like [`Adapter::wire_time`], on the clock of the venue where its zone is known.
    pub(crate) fn wire_time_in(&self, moment: &Moment, zone: Option<&TimeZone>) -> String {
        match zone {
            Some(zone) if self.local_times => {
                let there = moment.zoned.with_time_zone(zone.clone());
                there.strftime("%FT%T").to_string()
            }
            _ => self.wire_time(moment),
        }
    }

    /// A moment as this service wants it in a request: on the venue's clock without an offset, or with its offset.
    pub(crate) fn wire_time(&self, moment: &Moment) -> String {
        match self.local_times {
            true => moment.zoned.strftime("%FT%T").to_string(),
            false => moment.wire(),
        }
    }
}
