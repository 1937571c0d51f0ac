use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::{self, AnswerList, of_organization};
use super::lists::BOOKINGS;
use crate::app::Parts;
use crate::app::input;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;
use crate::sandbox::BODY_LIMIT;
use crate::service::client::Call;
use crate::service::documents::plural;

/// Load venues and bookings of your own
///
/// Loads all of FILE (TOML or JSON), or nothing if it has a mistake. Entries with the same id are
/// replaced, so loading twice is safe. `sandbox reset` removes what was loaded.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox load --example > fixtures.toml\n  \
    bookctl sandbox load fixtures.toml\n  \
    bookctl sandbox load --organization org_01 fixtures.json")]
pub(crate) struct Args {
    /// File with the fixtures, or - for standard input
    #[arg(value_parser = Source::parse, required_unless_present = "example")]
    file: Option<Source>,
    /// Load into this organization [default: org_sandbox]
    #[arg(long, value_name = "ID", conflicts_with = "example")]
    organization: Option<String>,
    /// Print fixtures that work, and load nothing
    #[arg(long, conflicts_with = "file")]
    example: bool,
}

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let Some(source) = args.file else {
        let example = parse(EXAMPLE).map_err(|(_, why)| Error::usage(why))?;
        return answer::script(ui, EXAMPLE.trim_end(), example.into());
    };
    let file = FixtureFile::read(source).await?;
    let path = of_organization("/sandbox/fixtures", args.organization.as_deref());
    let call = Call::post(path, file.document.clone());
    let answer = api.control(call).await.map_err(|error| {
        error.body.as_ref().map(Document::value).and_then(|it| file.refused(it)).unwrap_or(error)
    })?;
    let venues = &answer.document.value()["venues"];
    let count = venues.as_array().map_or(0, Vec::len);
    if count > 0 {
        let venues = plural(count, "venue", "venues");
        ui.out.note(&format!("{venues} loaded"));
    }
    let (document, columns) = (answer.document, BOOKINGS);
    let list = AnswerList { document, field: "bookings", columns, recent: None };
    if count > 0 && list.rows().is_empty() && ui.out.is_human() {
        return Ok(Exit::Done);
    }
    list.emit(records, ui, "the file has no venues and no bookings")
}

const EXAMPLE: &str = include_str!("example_fixtures.toml");

const HINT: &str = "`bookctl sandbox load --example` prints fixtures that work; docs/sandbox-reference.md lists the fields";

pub(crate) struct FixtureFile {
    name: String,
    text: String,
    pub(crate) document: Value,
}

impl FixtureFile {
    pub(crate) async fn read(source: Source) -> Result<Self> {
        let name = source.name();
        let text = input::read(source).await?;
        if text.len() > BODY_LIMIT {
            let what = format!("{name} has more than 1 MB; nothing was loaded");
            return Err(Error::usage(what).hint("load it in several parts"));
        }
        let document = parse(&text).map_err(|(line, why)| {
            Error::usage(format!("{name}, line {line}: {why}")).hint(HINT)
        })?;
        Ok(Self { name, text, document })
    }

    /// The error for a refusal of the document, with its field. `None` for another answer.
    pub(crate) fn refused(&self, body: &Value) -> Option<Error> {
        let (field, why) = body.get("fields")?.as_object()?.iter().next()?;
        let (name, why) = (&self.name, why.as_str()?);
        let line = line_of(&self.text, place(&self.text, field));
        let what = format!("{name}, line {line}: {field} {why}; nothing was loaded");
        Some(Error::usage(what).hint(HINT))
    }
}

/// Where a field such as `venues[0].slots.from` begins, or else what it belongs to.
fn place(text: &str, field: &str) -> usize {
    let toml = toml_edit::Document::parse(text).ok();
    let mut toml = toml.as_ref().map(|it| it.as_item());
    let (mut json, mut at) = (text, 0);
    for step in field.split(['.', '[']) {
        let element = step.strip_suffix(']').and_then(|it| it.parse().ok());
        if let Some(outer) = toml {
            toml = element.map_or_else(|| outer.get(step), |it: usize| outer.get(it));
            at = toml.and_then(|it| it.span()).map_or(at, |it| it.start);
            continue;
        }
        let found: Option<&RawValue> = match element {
            Some(element) => {
                serde_json::from_str(json).ok().and_then(|it: Vec<_>| it.get(element).copied())
            }
            None => serde_json::from_str(json)
                .ok()
                .and_then(|it: BTreeMap<Cow<'_, str>, _>| it.get(step).copied()),
        };
        json = found.map_or("", RawValue::get);
        // It is a part of the text.
        at = found.map_or(at, |it| it.get().as_ptr().addr() - text.as_ptr().addr());
    }
    at
}

/// The document of a text; else the line of the mistake, and why.
fn parse(text: &str) -> Result<Value, (usize, String)> {
    // In TOML, a first bracket is that of a table.
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| {
            // The line stands before it.
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            (error.line(), format!("not valid JSON: {why}"))
        });
    }
    let table = toml::from_str::<toml::Table>(text).map_err(|error| {
        (line_of(text, error.span().map_or(0, |it| it.start)), error.message().to_owned())
    })?;
    Ok(value(toml::Value::Table(table)))
}

/// A value in JSON. Dates and times are texts there.
fn value(toml: toml::Value) -> Value {
    match toml {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(list) => list.into_iter().map(value).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, it)| (key, value(it))).collect())
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_neither_is_refused_with_its_line() {
        assert_eq!(parse("{\n\"venues\": }").unwrap_err().0, 2);
        assert_eq!(parse("a = 1\nb = \n").unwrap_err().0, 2);
        assert!(parse("[[venues]]\nname = 'a'\n").is_ok());
    }
}
