//! The JSON documents, fields in the order of the specification, with ids and times.

pub(crate) mod booking;

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: u32 = 13;

/// What the ids of a kind begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdKind(&'static str);

impl IdKind {
    pub(crate) const BOOKING: Self = Self("bk_");
    pub(crate) const EVENT: Self = Self("evt_");
    pub(crate) const FAULT: Self = Self("flt_");
    pub(crate) const MESSAGE: Self = Self("msg_");
    pub(crate) const ORGANIZATION: Self = Self("org_");
    pub(crate) const REQUEST: Self = Self("req_");
    pub(crate) const SESSION: Self = Self("ses_");

    pub(crate) fn id(self, number: i64) -> String {
        let mut id = String::with_capacity(18);
        id.push_str(self.0);
        for place in (0..LENGTH).rev() {
            let digit = (number >> (5 * place)) & 31;
            let digit = usize::try_from(digit).unwrap_or_default();
            id.push(char::from(ALPHABET[digit]));
        }
        id
    }

    /// The number of an id; `None` if it is not an id of this kind.
    pub(crate) fn number(self, id: &str) -> Option<i64> {
        let digits = id.strip_prefix(self.0)?;
        if digits.len() != LENGTH as usize || digits > "7zzzzzzzzzzzz" {
            return None;
        }
        digits.bytes().try_fold(0, |number: i64, byte| {
            let digit = ALPHABET.iter().position(|it| *it == byte)?;
            Some(number << 5 | i64::try_from(digit).ok()?)
        })
    }
}

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A time as RFC 3339 in UTC with milliseconds, so that texts sort as times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct WireTime(pub(crate) Timestamp);

impl WireTime {
    pub(crate) fn text(self) -> String {
        PRINTER.timestamp_to_string(&self.0)
    }
}

impl Serialize for WireTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// A document without its fields that are null.
pub(crate) fn without_nulls(mut document: Value) -> Value {
    if let Value::Object(fields) = &mut document {
        fields.retain(|_, value| !value.is_null());
    }
    document
}

/// Adds whose it is to a document of the controls. `names` are those of organizations.
pub(crate) fn add_owner(document: &mut Value, organization: &str, names: &HashMap<String, String>) {
    document["organization"] = organization.into();
    if let Some(name) = names.get(organization) {
        document["organization_name"] = name.as_str().into();
    }
}

/// Adds a field that a document has or lacks.
pub(crate) fn add_some<M: SerializeMap>(
    fields: &mut M,
    name: &str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |it| fields.serialize_entry(name, &it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_their_numbers_and_lead_back_to_them() {
        let numbers = [0, 1, 31, 32, 1 << 40, i64::MAX];
        let ids = numbers.map(|it| IdKind::BOOKING.id(it));
        assert!(ids.is_sorted());
        assert_eq!(ids.clone().map(|it| IdKind::BOOKING.number(&it)), numbers.map(Some));
        assert_eq!(IdKind::EVENT.number(&ids[1]), None);
    }

    #[test]
    fn what_is_no_id_has_no_number() {
        for id in ["", "bk_", "bk_1", "bk_zzzzzzzzzzzzz", "bk_0000000000o00", "bk_é00000000000"] {
            assert_eq!(IdKind::BOOKING.number(id), None, "{id}");
        }
    }

    #[test]
    fn every_moment_is_as_long_as_any_other() {
        for (ms, text) in
            [(0, "1970-01-01T00:00:00.000Z"), (1_795_262_400_040, "2026-11-21T12:00:00.040Z")]
        {
            let at = Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(serde_json::json!(WireTime(at)), text);
        }
    }
}
