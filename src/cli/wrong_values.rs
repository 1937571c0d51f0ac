//! All values in the arguments that cannot be used. clap reports the first alone.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// More than a command line has.
const MOST: usize = 20;

/// A value that its argument refuses.
pub(super) struct WrongValue {
    /// The flag, or the name of the argument.
    pub(super) argument: String,
    pub(super) value: String,
    pub(super) error: clap::Error,
}

impl WrongValue {
    fn of(error: clap::Error) -> Option<Self> {
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.clone()),
            _ => None,
        };
        if !matches!(
            error.kind(),
            ErrorKind::ValueValidation | ErrorKind::InvalidValue
        ) {
            return None;
        }
        let named = text(ContextKind::InvalidArg)?;
        let argument = named.split([' ', '=', '[']).next().unwrap_or_default();
        Some(WrongValue {
            argument: argument.to_owned(),
            value: text(ContextKind::InvalidValue)?,
            error,
        })
    }

    /// The arguments without this one. `None` if it is not found among them.
    fn left_out(&self, arguments: &[OsString]) -> Option<Vec<OsString>> {
        let joined = format!("{}={}", self.argument, self.value);
        let parted = |pair: &[OsString]| {
            pair.iter()
                .eq([self.argument.as_str(), self.value.as_str()])
        };
        let (at, count) = match arguments.windows(2).position(parted) {
            Some(at) => (at, 2),
            None => (arguments.iter().position(|it| it == joined.as_str())?, 1),
        };
        let mut others = arguments.to_vec();
        others.drain(at..at + count);
        Some(others)
    }
}

/// Every flag with a value that it refuses: each is left out in turn, and `parse` reads the rest again.
pub(super) fn wrong_values(
    arguments: &[OsString],
    parse: impl Fn(&[OsString]) -> Option<clap::Error>,
) -> Vec<WrongValue> {
    let mut found = Vec::new();
    let mut arguments = arguments.to_vec();
    while found.len() < MOST {
        let Some(wrong) = parse(&arguments).and_then(WrongValue::of) else {
            break;
        };
        let others = wrong.left_out(&arguments);
        found.push(wrong);
        match others {
            Some(others) => arguments = others,
            None => break,
        }
    }
    found
}
