//! The names with which a request was written, for the errors that a name can cause.

use serde_json::{Map, Value};

use crate::adapter::{Adapter, WriteKind};

#[derive(Clone, Debug)]
pub(crate) struct WrittenNames {
    pub(super) kind: WriteKind,
    /// Whether an expression of the profile wrote the request, so that no key of the dialect did.
    pub(super) has_expression: bool,
    /// The service's name, or the path to it, and the dialect's key that says so.
    pub(super) keys: Vec<(String, &'static str)>,
    /// The command that changes a setting, without the setting.
    pub(super) command: String,
}

impl WrittenNames {
    pub(crate) fn new(adapter: &Adapter, kind: WriteKind, asked: &Map<String, Value>) -> Self {
        let names = adapter.names_of(kind).into_iter();
        let asked = names.filter(|(own, ..)| asked.contains_key(*own));
        WrittenNames {
            kind,
            has_expression: adapter.write.contains_key(&kind),
            keys: asked.map(|(_, key, name)| (name.to_owned(), key)).collect(),
            command: adapter.set_command(""),
        }
    }

    /// Whether the command of such a request has `-F`.
    pub(super) fn has_field_flag(&self) -> bool {
        matches!(
            self.kind,
            WriteKind::Search | WriteKind::Slots | WriteKind::Create | WriteKind::Action
        )
    }
}
