use std::collections::BTreeMap;

use serde_json::json;

use super::answer;
use crate::app::Parts;
use crate::json::plain;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell::EnvFormat;
use crate::service::client::Call;

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
pub(crate) struct Args {
    /// Write the lines for this shell
    #[arg(long, value_enum, default_value_t = EnvFormat::USUAL)]
    shell: EnvFormat,
    /// Print this organization's key and secret [default: org_sandbox]
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

/// What bookctl needs to use a sandbox.
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

pub(crate) async fn run(Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
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
