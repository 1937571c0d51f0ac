//! Everything that a profile says about how its service differs from the contract.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Dialect;
use super::expression::Expression;
use super::kind::{ReadKind, WriteKind};

/// How the documents of a service differ from the contract's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adapter {
    /// The names that the specification leaves open.
    pub(crate) dialect: Dialect,
    /// Whether times without an offset are the venue's own, in requests as well.
    pub(crate) local_times: bool,
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

    /// Sets the expression that reads a kind of document.
    pub(crate) fn set_read(&mut self, kind: ReadKind, expression: Expression) {
        self.read.insert(kind, expression);
    }

    /// Sets the expression that writes a kind of request.
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

    pub(super) fn read_expression(&self, kind: ReadKind) -> Option<&Expression> {
        self.read.get(&kind)
    }

    /// Translates a request from the contract's shape; `None` where no expression does, and the dialect's names are
    /// enough.
    ///
    /// # Errors
    /// What the expression did, as the predicate of a sentence. Nothing may be sent then.
    pub(crate) fn write(&self, kind: WriteKind, body: &Value) -> Option<Result<Value, String>> {
        self.write.get(&kind).map(|expression| {
            let written = expression.apply(body)?;
            match written.is_object() {
                true => Ok(written),
                false => Err("does not give an object".to_owned()),
            }
        })
    }
}
