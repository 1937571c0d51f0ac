use serde_json::{Map, Value};

use crate::app::Context;
use crate::client::Call;
use crate::commands::field::{Field, field};
use crate::json::{Document, plain};
use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Show or change the organization's settings
///
/// Among them are the webhook URL and secret, billing and suspension.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox organization\n  \
    bookctl sandbox organization -F webhook_url=http://127.0.0.1:8080/webhooks\n  \
    bookctl sandbox organization -F billing_check=unavailable\n  \
    bookctl sandbox organization --organization other -F suspended=true")]
pub(crate) struct Args {
    /// Organization [default: the one that most keys belong to]
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
    /// Setting to change; true, false, null, numbers and JSON lists keep their type, the rest is text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let path = match &args.organization {
        Some(name) => format!("/sandbox/organization?organization={}", Call::segment(name)),
        None => "/sandbox/organization".to_owned(),
    };
    let call = if args.fields.is_empty() {
        Call::get(path)
    } else {
        let settings = args.fields.into_iter().map(|field| match field.value {
            // There is no other way to give a list: `search_providers=[]`.
            Value::String(text) if text.starts_with('[') => {
                let list = serde_json::from_str(&text).unwrap_or(Value::String(text));
                (field.key, list)
            }
            value => (field.key, value),
        });
        Call::put(path, Value::Object(settings.collect::<Map<_, _>>()))
    };
    let answer = context.control(call).await?;
    context
        .out
        .emit(&DocumentView(answer.document, settings_page))?;
    Ok(Exit::Done)
}

fn settings_page(settings: &Document) -> Page {
    let mut page = Page::default();
    page.heading(
        Tone::Strong,
        "organization",
        settings.str("id").unwrap_or_default(),
    );
    let rows = settings.value().as_object().into_iter().flatten();
    let rows = rows
        .filter(|(key, _)| *key != "id")
        .map(|(key, value)| vec![key.as_str().into(), plain(value).into()]);
    page.table(vec!["setting", "value"], rows.collect(), vec![]);
    page
}
