//! `--jq`: filters a result without needing jq.

mod child;
mod evaluate;

use serde_json::Value;

pub(crate) use child::{ENTRY as FILTER_ENTRY, filter_standard_input};

use crate::outcome::{Code, Error, Exit, Result};
use child::{LONGEST_RUN, Trouble};

/// A filter that compiles. It is checked before anything is sent.
pub(crate) struct Filter {
    source: String,
}

impl Filter {
    /// Compiles the expression. An error is a usage error.
    pub(crate) fn parse(source: &str) -> Result<Self> {
        evaluate::compile(source).map_err(|why| {
            Error::usage(format!("--jq {}: {why}", source.escape_debug()))
                .hint("use a jq expression, e.g. --jq .id")
        })?;
        Ok(Filter {
            source: source.to_owned(),
        })
    }

    /// The filter's outputs, one per line: strings raw, anything else as JSON.
    ///
    /// A filter that fails ends with 1 and not with 2, which would say that nothing was sent.
    pub(crate) fn run(&self, input: &Value) -> Result<String> {
        let failed = |code, why: String| {
            let message = format!("the --jq filter {}", why.escape_debug());
            Error::new(code, message)
                .exiting(Exit::Unclassified)
                .hint("the request was sent and answered; only the filter failed")
        };
        child::run(&self.source, &input.to_string()).map_err(|trouble| match trouble {
            Trouble::Failed(why) => failed(Code::Filter, format!("failed: {why}")),
            Trouble::Endless => failed(
                Code::Filter,
                format!("did not end within {} s", LONGEST_RUN.as_secs()),
            ),
            Trouble::Interrupted(exit) => Error::interrupted(exit),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_that_is_none_is_refused_before_anything_is_sent() {
        for source in [
            "}",
            ".id |",
            "nonsense",
            "env",
            "$ENV.HOME",
            "halt",
            "input",
        ] {
            assert_eq!(
                Filter::parse(source).err().unwrap().exit,
                Exit::Usage,
                "{source}"
            );
        }
    }
}
