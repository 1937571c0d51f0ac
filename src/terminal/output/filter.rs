//! `--jq`: filters a result without needing jq.

use std::borrow::Cow;

use serde_json::Value;

use super::json;
use super::visible::visible_rows;
use crate::config::Environment;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::jq::Expression;
use crate::platform::signals;

/// A filter that compiles. It is checked before anything is sent.
pub(crate) struct Filter(Expression);

impl Filter {
    /// A filter with `$ENV`, `env` and the variables of `--arg`, names and values in turn.
    pub(crate) fn parse(source: &str, arguments: &[String]) -> Result<Self> {
        // To read the environment costs a script that does not ask for it.
        let environment = if source.contains("ENV") || source.contains("env") {
            Environment::without_secrets()
        } else {
            Vec::new()
        };
        let environment = environment.into_iter().map(|(name, value)| (name, Value::from(value)));
        let environment = Value::Object(environment.collect()).to_string();
        let mut variables = vec![("$ENV".to_owned(), environment)];
        for pair in arguments.chunks_exact(2) {
            let name = pair[0].trim_start_matches('$');
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if name.is_empty() || name == "ENV" || !name.chars().all(is_letter) {
                let what = format!("--arg {}: not a name for a variable", pair[0].escape_debug());
                return Err(
                    Error::usage(what).hint("use letters, digits and _, e.g. --arg id bk_1")
                );
            }
            variables.push((format!("${name}"), Value::from(pair[1].as_str()).to_string()));
        }
        let expression = Expression::with_variables(source, variables).map_err(|why| {
            Error::usage(format!("--jq {source}: {why}")).hint("use a jq expression, e.g. --jq .id")
        })?;
        Ok(Filter(expression))
    }

    /// The filter's outputs, one per line: strings raw, else JSON. A failure is 1, because 2 says
    /// that nothing was sent.
    pub(super) fn run(&self, input: &Value) -> Result<String> {
        let outputs = self.0.run(&input.to_string()).map_err(|why| match signals::caught() {
            Some(exit) => Error::interrupted(exit),
            None => Error::new(Code::Filter, format!("the --jq filter {why}"))
                .exiting(Exit::Unclassified)
                .hint("the command was carried out; only the filter failed"),
        })?;
        Ok(outputs.lines().map(output_line).collect())
    }
}

fn output_line(output: &str) -> String {
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
    fn filter_prints_strings_with_visible_control_characters() {
        assert_eq!(output_line(r#""bk_1""#), "bk_1\n");
        assert_eq!(output_line(r#""\u001b[31m""#), "\\u{1b}[31m\n");
        assert_eq!(output_line(r#"{"b":1,"a":2}"#), "{\"b\":1,\"a\":2}\n");
    }
}
