use serde_json::{Map, Value, json};

use crate::app::Context;
use crate::client::Call;
use crate::commands::field::{Field, field};
use crate::json::{Document, plain};
use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Show or change the organization's settings, or add an organization
///
/// Among the settings are the webhook URL and secret, billing and suspension. An added organization has keys, bookings,
/// messages, slots and limits of its own, so that tests which run at once can share a sandbox.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox organization\n  \
    bookctl sandbox organization -F webhook_url=http://127.0.0.1:8080/webhooks\n  \
    bookctl sandbox organization -F billing_check=unavailable\n  \
    bookctl sandbox organization --organization other -F suspended=true\n  \
    bookctl sandbox organization add --jq .keys.live\n  \
    bookctl sandbox organization list")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Organization [default: the one that most keys belong to]
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
    /// Setting to change; true, false, null, numbers and JSON lists keep their type, the rest is text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List organizations, with their keys
    List,
    /// Add an organization, and print its keys and webhook secret
    #[command(after_help = "Examples:\n  \
        bookctl sandbox organization add --name 'test 17'\n  \
        bookctl sandbox organization add --jq .keys.live")]
    Add {
        /// Name, so that you recognize it in the list
        #[arg(long)]
        name: Option<String>,
    },
    /// Remove an organization that was added, and everything that belongs to it
    #[command(after_help = "Examples:\n  bookctl sandbox organization remove org_01")]
    Remove {
        /// Id of the organization
        organization: String,
    },
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    const ADDED: &str = "/sandbox/organizations";
    if let Some(action) = args.action {
        return match action {
            Action::List => show(context, Call::get(ADDED), list_page).await,
            Action::Add { name } => {
                let call = Call::post(ADDED, json!({ "name": name }));
                show(context, call, added_page).await
            }
            Action::Remove { organization } => {
                let path = format!("{ADDED}/{}", Call::segment(&organization));
                show(context, Call::delete(path), removed_page).await
            }
        };
    }
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
    show(context, call, settings_page).await
}

async fn show(context: &Context, call: Call, page: fn(&Document) -> Page) -> Result<Exit> {
    let answer = context.control(call).await?;
    context.out.emit(&DocumentView(answer.document, page))?;
    Ok(Exit::Done)
}

fn list_page(list: &Document) -> Page {
    let organizations = list.value()["organizations"].as_array();
    let rows = organizations.into_iter().flatten().map(|organization| {
        let field = |value: &Value| plain(value).into();
        vec![
            field(&organization["id"]),
            organization
                .get("name")
                .map(plain)
                .unwrap_or_default()
                .into(),
            field(&organization["keys"]["live"]),
            field(&organization["webhook_secret"]),
        ]
    });
    let mut page = Page::default();
    let headings = vec!["id", "name", "live key", "webhook secret"];
    page.table(headings, rows.collect(), vec![]);
    page
}

fn added_page(organization: &Document) -> Page {
    let mut page = Page::default();
    let id = organization.str("id").unwrap_or_default();
    page.heading(Tone::Good, "organization", id);
    let keys = &organization.value()["keys"];
    for (label, kind) in [
        ("live key", "live"),
        ("test key", "test"),
        ("read-only key", "readonly"),
    ] {
        page.field(label, plain(&keys[kind]));
    }
    let secret = organization.str("webhook_secret").unwrap_or_default();
    page.field("webhook secret", secret);
    page
}

fn removed_page(organization: &Document) -> Page {
    let mut page = Page::default();
    let id = organization.str("id").unwrap_or_default();
    page.line(format!("organization {id} removed"));
    page
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
