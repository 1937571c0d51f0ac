//! A session as the service sent it (spec, Sessions), parsed leniently.

use serde_json::Value;

use super::certainty::Certainty;
use super::id::{id_in, token};
use super::text_fold::same_words;
use crate::outcome::word::Word;

#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// In the contract's shape.
    pub(crate) value: Value,
    /// What stands around it in the response, as paths and texts.
    pub(crate) envelope_fields: Vec<(String, String)>,
    pub(crate) id: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) end_user: Option<String>,
    pub(crate) provider: Option<String>,
    /// Whether the response to its deletion says that it is gone; not so beside an error.
    pub(crate) is_deleted: Option<bool>,
}

impl Session {
    pub(crate) fn from_value(value: Value) -> Self {
        let text = |name: &str| value.get(name).and_then(token);
        Session {
            id: value.get("id").and_then(id_in),
            state: text("state"),
            end_user: text("end_user"),
            provider: text("provider"),
            is_deleted: value.get("deleted").and_then(Value::as_bool),
            envelope_fields: Vec::new(),
            value,
        }
    }

    /// Whether it is in this state. Case, blanks and hyphens make no difference.
    pub(crate) fn is(&self, state: &Word) -> bool {
        self.state.as_ref().is_some_and(|it| same_words(it, state.name))
    }

    /// Whether it waits for the code that was sent to its guest. The specification names no state
    /// but the active one.
    pub(crate) fn waits_for_code(&self, certainty: Certainty) -> bool {
        match certainty {
            Certainty::Contract => self.is(Word::PENDING),
            Certainty::Specification => self.state.is_some() && !self.is(Word::ACTIVE),
        }
    }

    /// Whether it is there, although it was to be deleted.
    pub(crate) fn remains(&self) -> bool {
        let stays = [Word::PENDING, Word::ACTIVE, Word::RECONNECT_REQUIRED];
        stays.into_iter().any(|state| self.is(state)) || self.is_deleted == Some(false)
    }
}
