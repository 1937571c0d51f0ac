use serde_json::{Value, json};

use super::answer::{self, AnswerList, Columns, cell, of_organization};
use crate::app::Parts;
use crate::outcome::{Exit, Result};
use crate::secrets::reveal;
use crate::service::client::Call;
use crate::service::documents::field::{Field, field};

/// Show or change the organization's settings, or add an organization
///
/// Among the settings are the webhook URL and secret, billing and suspension. An added organization
/// has keys, bookings, messages, slots and limits of its own, so that tests which run at the same
/// time can share a sandbox.
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
    action: Option<OrganizationAction>,
    /// Choose the organization [default: org_sandbox]
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
    /// Change a setting: JSON value or text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

#[derive(clap::Subcommand, Debug)]
enum OrganizationAction {
    /// List organizations, with their keys
    List,
    /// Add an organization, and print its keys and webhook secret
    #[command(after_help = "Examples:\n  \
        bookctl sandbox organization add --name 'test 17'\n  \
        bookctl sandbox organization add --jq .keys.live")]
    Add {
        /// Name it, to recognize it in the list
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

const COLUMNS: Columns =
    Columns("id, name, live key=keys.live, webhook secret=webhook_secret", cell);

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    const ADDED: &str = "/sandbox/organizations";
    let path = of_organization("/sandbox/organization", args.organization.as_deref());
    let call = match args.action {
        Some(OrganizationAction::List) => {
            let list = AnswerList::read(api, Call::get(ADDED), "organizations", COLUMNS).await?;
            let keys = list.rows().into_iter().filter_map(|it| it["keys"]["live"].as_str());
            keys.for_each(reveal);
            return list.emit(records, ui, "");
        }
        Some(OrganizationAction::Add { name }) => Call::post(ADDED, json!({ "name": name })),
        Some(OrganizationAction::Remove { organization }) => {
            Call::delete(format!("{ADDED}/{}", Call::segment(&organization)))
        }
        None if args.fields.is_empty() => Call::get(path),
        None => {
            let settings = args.fields.into_iter().map(|it| (it.key, it.value));
            Call::put(path, Value::Object(settings.collect()))
        }
    };
    answer::show(api, ui, call, answer::fields).await
}
