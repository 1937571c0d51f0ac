use serde_json::Value;

use super::answer::{List, of_organization};
use super::fixtures::{self, EXAMPLE, FixtureFile};
use super::lists::BOOKINGS;
use crate::app::Context;
use crate::client::Call;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;

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
            let example = fixtures::parse(EXAMPLE).map_err(|(_, why)| Error::usage(why))?;
            context.out.emit(&loaded(Value::Object(example).into()))?;
        }
        return Ok(Exit::Done);
    };
    let file = FixtureFile::read(source).await?;
    let path = of_organization("/sandbox/fixtures", args.organization.as_deref());
    let call = Call::post(path, Value::Object(file.document.clone()));
    let answer = context.control(call).await.map_err(|error| {
        let body = error.body.as_ref().map(Document::value);
        body.and_then(|it| file.refused(it)).unwrap_or(error)
    })?;
    let venues = &answer.document.value()["venues"];
    let count = venues.as_array().map_or(0, Vec::len);
    context.out.note(&format!("{count} venues loaded"));
    loaded(answer.document).emit(context, "no bookings loaded")
}

fn loaded(document: Document) -> List {
    List {
        document,
        field: "bookings",
        columns: BOOKINGS,
        recent: None,
    }
}
