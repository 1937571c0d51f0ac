//! `--jq`: filters a result in this process.

use std::sync::mpsc;
use std::time::Duration;

use jaq_core::compile::Compiler;
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Ctx, Vars};
use jaq_json::Val;
use serde_json::Value;

use super::json;
use super::visible::visible_lines;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// How long a filter may run: an endless one ends with a word.
const LONGEST_RUN: Duration = Duration::from_secs(5);
/// How much a filter may write.
const LONGEST_TEXT: usize = 64 * 1024 * 1024;
/// What would read the environment (secrets live there), the streams, or end the process.
const KEPT_AWAY: &[&str] = &[
    "env",
    "input",
    "inputs",
    "halt",
    "halt_error",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
];

type Compiled = jaq_core::compile::Filter<jaq_core::Native<JustLut<Val>>>;

/// A filter that is known to be well-formed before anything is sent.
pub(crate) struct Filter {
    source: String,
}

impl Filter {
    /// Checks the expression; one that does not compile is a usage error.
    pub(crate) fn parse(source: &str) -> Result<Self> {
        compile(source).map_err(|why| {
            Error::usage(format!("--jq {}: {why}", source.escape_debug()))
                .hint("for example: --jq .id")
        })?;
        Ok(Filter {
            source: source.to_owned(),
        })
    }

    /// The filter's outputs, one a line: strings as they are, anything else as JSON.
    pub(crate) fn run(&self, input: &Value) -> Result<String> {
        let (source, input) = (self.source.clone(), input.to_string());
        let (sender, receiver) = mpsc::channel();
        // A filter can be endless without ever giving anything back: only another thread can be left behind.
        let spawned = std::thread::Builder::new()
            .stack_size(64 * 1024 * 1024)
            .spawn(move || {
                let _ = sender.send(evaluate(&source, &input));
            });
        let outcome = match spawned {
            Ok(_) => receiver
                .recv_timeout(LONGEST_RUN)
                .unwrap_or_else(|_| Err(format!("did not end within {} s", LONGEST_RUN.as_secs()))),
            Err(error) => Err(error.to_string()),
        };
        outcome.map_err(|why| {
            Error::new(
                "usage",
                Exit::Unclassified,
                format!("the --jq filter failed: {}", why.escape_debug()),
            )
            .hint("the call itself was carried out; only its result could not be filtered")
        })
    }
}

fn compile(source: &str) -> Result<Compiled, String> {
    let kept = |name: &str| !KEPT_AWAY.contains(&name);
    let defs = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs())
        .filter(|def| kept(def.name));
    let funs = jaq_core::funs()
        .chain(jaq_std::funs())
        .chain(jaq_json::funs())
        .filter(|(name, ..)| kept(name));
    let arena = Arena::default();
    let modules = Loader::new(defs)
        .load(
            &arena,
            File {
                code: source,
                path: (),
            },
        )
        .map_err(|_| "is not a jq expression".to_owned())?;
    Compiler::default()
        .with_funs(funs)
        .compile(modules)
        .map_err(|errors| {
            let unknown = errors
                .into_iter()
                .flat_map(|(_, errors)| errors)
                .map(|(name, _)| name.to_owned())
                .next();
            match unknown {
                Some(name) => format!("{} is not known here", name.escape_debug()),
                None => "is not a jq expression".to_owned(),
            }
        })
}

fn evaluate(source: &str, input: &str) -> Result<String, String> {
    let filter = compile(source)?;
    let input =
        jaq_json::read::parse_single(input.as_bytes()).map_err(|error| error.to_string())?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let mut text = String::new();
    for output in filter.id.run((context, input)) {
        let output = output.map_err(|exception| match exception.get_err() {
            Ok(error) => error.to_string(),
            Err(_) => "ended early".to_owned(),
        })?;
        match &output {
            Val::TStr(string) => text.push_str(&visible_lines(&String::from_utf8_lossy(string))),
            other => text.push_str(&json::compact(&other.to_string())),
        }
        text.push('\n');
        if text.len() > LONGEST_TEXT {
            return Err("gives more than 64 MB".to_owned());
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(source: &str) -> Result<String> {
        Filter::parse(source)
            .unwrap()
            .run(&json!({"id": "bk_1", "n": 1, "list": [{"b": 1, "a": 2}]}))
    }

    #[test]
    fn strings_come_out_as_they_are_and_objects_as_json_in_their_own_order() {
        assert_eq!(
            run(".id, .n, .list[0]").unwrap(),
            "bk_1\n1\n{\"b\":1,\"a\":2}\n"
        );
        assert_eq!(run("empty").unwrap(), "");
    }

    #[test]
    fn control_characters_in_an_output_are_made_visible() {
        assert_eq!(run(r#""\u001b[31m""#).unwrap(), "\\u{1b}[31m\n");
    }

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

    #[test]
    fn a_filter_that_fails_says_why_and_does_not_end_the_process() {
        assert!(
            run(".id.x")
                .unwrap_err()
                .message
                .contains("the --jq filter failed")
        );
    }
}
