//! `--jq`: filters a result without needing jq.

use std::borrow::Cow;

use serde_json::Value;

use super::json;
use super::visible::visible_rows;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::jq::{Expression, FilterError};

/// A filter that compiles. It is checked before anything is sent.
pub(crate) struct Filter(Expression);

impl Filter {
    pub(crate) fn parse(source: &str) -> Result<Self> {
        let expression = Expression::compile(source).map_err(|why| {
            Error::usage(format!("--jq {source}: {why}")).hint("use a jq expression, e.g. --jq .id")
        })?;
        Ok(Filter(expression))
    }

    /// The filter's outputs, one per line: strings raw, else JSON. A failure is 1, because 2 says that nothing was sent.
    pub(super) fn run(&self, input: &Value) -> Result<String> {
        let outputs = self.0.run(&input.to_string()).map_err(|trouble| {
            let message = match trouble {
                FilterError::Interrupted(exit) => return Error::interrupted(exit),
                other => format!("the --jq filter {other}"),
            };
            Error::new(Code::Filter, message)
                .exiting(Exit::Unclassified)
                .hint("the command was carried out; only the filter failed")
        })?;
        Ok(outputs.lines().map(shown).collect())
    }
}

/// An output for a person or a pipe, with its line feed.
fn shown(output: &str) -> String {
    let text = match serde_json::from_str::<Cow<'_, str>>(output) {
        Ok(string) => visible_rows(&string).into_owned(),
        Err(_) => json::compact(output),
    };
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_that_is_none_is_refused_before_anything_is_sent() {
        for source in ["}", ".id |", "nonsense", "env", "$ENV.HOME", "halt", "input"] {
            assert_eq!(Filter::parse(source).err().unwrap().exit, Exit::Usage, "{source}");
        }
    }

    #[test]
    fn strings_come_out_as_they_are_with_their_control_characters_visible() {
        assert_eq!(shown(r#""bk_1""#), "bk_1\n");
        assert_eq!(shown(r#""\u001b[31m""#), "\\u{1b}[31m\n");
        assert_eq!(shown(r#"{"b":1,"a":2}"#), "{\"b\":1,\"a\":2}\n");
    }
}
