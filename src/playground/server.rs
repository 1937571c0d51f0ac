//! A sandbox server that the profile names: its variables and its page; and its organizations.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use super::answer::{self, AnswerList, Columns, cell, of_organization};
use crate::app::{Parts, Settings};
use crate::config::Environment;
use crate::json::plain;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell::EnvFormat;
use crate::platform::system::process::{self, USUAL_BROWSER};
use crate::secrets::reveal;
use crate::service::client::Call;
use crate::service::documents::field::{Field, field};
use crate::terminal::output::DocumentView;

/// Print the variables that make bookctl and your tests use a sandbox server
///
/// These are its address, an API key and the webhook secret. The server prints them when it starts;
/// this command prints them again, for another shell or organization. BOOKCTL_BASE_URL or a profile
/// names the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    BOOKCTL_BASE_URL=http://ci-sandbox:4010 bookctl sandbox env\n  \
    eval \"$(BOOKCTL_BASE_URL=http://127.0.0.1:4010 bookctl sandbox env)\"\n  \
    bookctl sandbox env --shell fish | source\n  \
    bookctl sandbox env --organization org_01 --json")]
pub(crate) struct EnvArgs {
    /// Write the lines for this shell
    #[arg(long, value_enum, default_value_t = EnvFormat::USUAL)]
    shell: EnvFormat,
    /// Print this organization's key and secret [default: org_sandbox]
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(crate) struct Variables {
    pub(crate) base_url: String,
    pub(crate) key: String,
    pub(crate) webhook_secret: String,
}

impl Variables {
    pub(crate) fn all(&self) -> [(&'static str, &str); 3] {
        [
            ("BOOKCTL_BASE_URL", &self.base_url),
            ("BOOKCTL_API_KEY", &self.key),
            ("BOOKCTL_WEBHOOK_SECRET", &self.webhook_secret),
        ]
    }

    pub(crate) fn lines(&self, shell: EnvFormat) -> Vec<String> {
        let set = |(name, value)| shell.export(name, value);
        self.all().map(set).to_vec()
    }
}

pub(crate) async fn print_env(Parts { api, ui, .. }: &Parts, args: EnvArgs) -> Result<Exit> {
    let unnamed = "no sandbox server is named: set BOOKCTL_BASE_URL to its address";
    let service = answer::server(&api.facts, unnamed)?;
    let answer = api.control(Call::get("/sandbox/organizations")).await?;
    let wanted = args.organization.as_deref().unwrap_or("sandbox");
    let wanted = format!("org_{}", wanted.trim_start_matches("org_"));
    let organizations = answer.document.value()["organizations"].as_array();
    let Some(found) = organizations.into_iter().flatten().find(|it| it["id"] == wanted) else {
        let what = format!("the sandbox has no organization {wanted}");
        let unknown = Error::new(Code::Http404, what);
        return Err(unknown.hint("list them with `bookctl sandbox organization list`"));
    };
    let variables = Variables {
        base_url: service.base_url.join(""),
        key: plain(&found["keys"]["live"]),
        webhook_secret: plain(&found["webhook_secret"]),
    };
    let document = json!(BTreeMap::from(variables.all()));
    let text = match args.shell {
        EnvFormat::Json => format!("{document:#}"),
        shell => variables.lines(shell).join("\n"),
    };
    answer::script(ui, &text, document.into())
}

/// How long a program may take that opens browsers. One that runs longer is the browser itself.
const OPENING: Duration = Duration::from_secs(3);

pub(crate) async fn open_page(Parts { api, ui, settings, .. }: &Parts) -> Result<Exit> {
    let service = answer::server(&api.facts, "only a sandbox server has a page")?;
    let url = format!("{}/", service.base_url.origin());
    // Fails if this is not a sandbox.
    api.control(Call::get("/sandbox/clock")).await?;
    let opened = open(settings, &url).await;
    let document = json!({"url": url, "opened": opened}).into();
    ui.out.emit(&DocumentView(document, answer::fields))?;
    if !opened {
        let what = "no browser could be started; open the address yourself";
        ui.out.note(what);
    }
    Ok(Exit::Done)
}

async fn open(settings: &Settings, url: &str) -> bool {
    let browser = Environment::text(&settings.environment.browser);
    let line = browser.as_deref().unwrap_or(USUAL_BROWSER);
    let mut command = Command::from(process::command(line, Some(OsStr::new(url))));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let Ok(mut child) = command.stderr(Stdio::null()).spawn() else {
        return false;
    };
    match tokio::time::timeout(OPENING, child.wait()).await {
        Ok(ended) => ended.is_ok_and(|it| it.success()),
        Err(_) => true,
    }
}

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
pub(crate) struct OrganizationArgs {
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

pub(crate) async fn organization(
    Parts { api, records, ui, .. }: &Parts,
    args: OrganizationArgs,
) -> Result<Exit> {
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
