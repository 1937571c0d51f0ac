use serde_json::Value;

use super::fixture_file::{EXAMPLE, FixtureFile};
use crate::app::Context;
use crate::client::Call;
use crate::json::{Document, plain};
use crate::model::time_text::local;
use crate::outcome::{Exit, Result};
use crate::platform::input::Source;
use crate::terminal::output::{DocumentView, Page};

/// Load venues and bookings of your own
///
/// FILE is TOML or JSON, checked as a whole: with a mistake in it, nothing is loaded. What has the id of an earlier venue
/// or booking takes its place, so that loading again repeats nothing. `sandbox reset` removes everything that was loaded.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox load --example > fixtures.toml\n  \
    bookctl sandbox load fixtures.toml\n  \
    bookctl sandbox load --organization org_01 fixtures.json")]
pub(crate) struct Args {
    /// File with the fixtures, or - for standard input
    #[arg(value_parser = Source::parse, required_unless_present = "example")]
    file: Option<Source>,
    /// Organization to load them into [default: the one that most keys belong to]
    #[arg(long, value_name = "ID", conflicts_with = "example")]
    organization: Option<String>,
    /// Print fixtures that work, and load nothing; TOML, or JSON with --json
    #[arg(long, conflicts_with = "file")]
    example: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let Some(source) = args.file else {
        if context.out.is_human() {
            context.out.print_script(EXAMPLE)?;
        } else {
            let example = Value::Object(FixtureFile::example()?);
            context.out.emit(&DocumentView(example.into(), page))?;
        }
        return Ok(Exit::Done);
    };
    let file = FixtureFile::read(source).await?;
    let path = match &args.organization {
        Some(id) => format!("/sandbox/fixtures?organization={}", Call::segment(id)),
        None => "/sandbox/fixtures".to_owned(),
    };
    let call = Call::post(path, Value::Object(file.document.clone()));
    let answer = context.control(call).await.map_err(|error| {
        let body = error.body.as_ref().map(Document::value);
        body.and_then(|it| file.refused(it)).unwrap_or(error)
    })?;
    context.out.emit(&DocumentView(answer.document, page))?;
    Ok(Exit::Done)
}

fn page(loaded: &Document) -> Page {
    let list = |field: &str| loaded.value()[field].as_array().cloned();
    let (venues, bookings) = (list("venues"), list("bookings"));
    let (venues, bookings) = (venues.unwrap_or_default(), bookings.unwrap_or_default());
    let mut page = Page::default();
    page.line(format!(
        "loaded {} and {}",
        count(venues.len(), "venue"),
        count(bookings.len(), "booking")
    ));
    let rows = venues
        .iter()
        .map(|id| vec!["venue".into(), plain(id).into(), "".into(), "".into()]);
    let of_booking = |booking: &Value| {
        let text = |field: &str| plain(&booking[field]);
        let when = local(&text("datetime")).unwrap_or_default();
        vec![
            "booking".into(),
            text("id").into(),
            text("status").into(),
            when.into(),
        ]
    };
    let rows = rows.chain(bookings.iter().map(of_booking)).collect();
    page.table(vec!["kind", "id", "status", "when"], rows, vec![]);
    page
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        several => format!("{several} {what}s"),
    }
}
