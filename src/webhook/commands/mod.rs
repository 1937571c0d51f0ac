//! `bookctl webhook`: verify and sign deliveries, send, receive and forward events, and test
//! handlers.

pub(crate) mod drill;
pub(crate) mod events;
pub(crate) mod listen;
pub(crate) mod send;
pub(crate) mod signature;

use clap::Subcommand;
use reqwest::Url;

use crate::app::in_flight::InFlight;
use crate::app::input::read_stdin;
use crate::app::plan::{Needs, ServiceNeed};
use crate::app::{Api, Facts, Parts, Settings, Ui};
use crate::config::{Environment, Place, Service};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::ownership;
use crate::sandbox::Options;
use crate::secrets::{Item, Secret, Vault};
use crate::service::client::Call;
use crate::terminal::output::Output;
use crate::terminal::prompt::Question;
use crate::webhook::handler::{DEADLINE, Handler, NoReply, Trace};

/// Receive, forward, send and verify webhooks, and test your handler
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Verify(signature::VerifyArgs),
    Sign(signature::SignArgs),
    Send(send::Args),
    Listen(listen::Args),
    Events(EventsArgs),
    Drill(drill::Args),
}

/// List, show and replay the events that `webhook listen` received
#[derive(clap::Args, Debug)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    action: Option<Events>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Events {
    List(events::ListArgs),
    Show(events::ShowArgs),
    Replay(events::ReplayArgs),
}

impl Command {
    /// Signing, verifying and posting need only a secret and an address, except for a booking.
    pub(crate) fn needs(&self) -> Needs {
        let service = match self {
            Command::Verify(_)
            | Command::Sign(_)
            | Command::Send(send::Args { booking: None, .. })
            | Command::Drill(drill::Args { booking: None, .. }) => ServiceNeed::None,
            _ => ServiceNeed::ProfileUnchecked,
        };
        let replays = |args: &EventsArgs| matches!(args.action, Some(Events::Replay(_)));
        Needs {
            is_server: matches!(self, Command::Listen(_)),
            only_reads: matches!(self, Command::Events(args) if !replays(args)),
            ..Needs::from_service(service)
        }
    }
}

pub(crate) async fn run(parts: &Parts, command: Command) -> Result<Exit> {
    let done = match command {
        Command::Verify(args) => signature::check(parts, args).await,
        Command::Sign(args) => signature::print_signature(parts, args).await,
        Command::Send(args) => send::run(parts, args).await,
        Command::Listen(args) => listen::run(parts, args).await,
        Command::Events(args) => match args.action {
            None => events::list(parts, events::ListArgs::default()),
            Some(Events::List(args)) => events::list(parts, args),
            Some(Events::Show(args)) => events::show(parts, &args),
            Some(Events::Replay(args)) => events::replay(parts, args).await,
        },
        Command::Drill(args) => drill::run(parts, args).await,
    };
    Output::end_trace();
    done
}

fn trace(settings: &Settings) -> Option<Trace> {
    settings.verbose.then_some(Output::trace_aside)
}

/// A client for the handler, with `--timeout`. Trusts `--ca-file`, else the profile's authorities.
fn handler(
    facts: &Facts,
    settings: &Settings,
    url: Url,
    ca_file: Option<&std::path::Path>,
) -> Result<Handler> {
    let own = facts.target().service().and_then(|service| service.settings.ca_file.as_deref());
    Handler::new(url, settings.timeout.unwrap_or(DEADLINE), trace(settings), ca_file.or(own))
}

/// What an interrupt says from now on: that `what` was posted.
fn posting(api: &Api, what: String, to: &Url) {
    let wording = format!("{what} posted to {to}, which may have handled it");
    let hint = "check what it did before you send anything again";
    api.in_flight.replace(InFlight::Other(wording, hint.to_owned()));
}

fn no_response(why: &NoReply, url: &Url) -> Error {
    let code = match why {
        NoReply::TooLate => Code::Timeout,
        NoReply::Broken(..) => Code::Network,
    };
    let usual = "check that your handler is running at this address and responds within 10 seconds";
    let hint = if let NoReply::Broken(_, Some(hint)) = why { hint } else { usual };
    Error::new(code, format!("no response from {url}: {why}")).hint(hint)
}

const SHAPE: &str = "a secret is one line of ASCII characters without spaces";

#[derive(Clone, Debug)]
struct WebhookSecrets {
    /// One at least. Each verifies a delivery, and the first one signs.
    all: Vec<Secret>,
    /// Whether it is a sandbox's, which is no secret.
    is_sandboxs: bool,
}

impl WebhookSecrets {
    /// Secrets separated by whitespace. The error is the predicate of a sentence.
    fn parse(text: &str) -> Result<Self, String> {
        let all: Vec<Secret> = match text.split_whitespace().map(Secret::read).collect() {
            Ok(all) => all,
            // Quotes around several.
            Err(why) => return Err(Secret::read(text).err().unwrap_or(why)),
        };
        if all.is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(WebhookSecrets { all, is_sandboxs: false })
    }

    fn signing(&self) -> &Secret {
        &self.all[0]
    }
}

/// The webhook secrets: on standard input if `from_stdin`, else in `BOOKCTL_WEBHOOK_SECRET`, else
/// stored for the profile and its origin, else a local sandbox's own.
async fn webhook_secrets(
    api: &Api,
    ui: &Ui,
    settings: &Settings,
    from_stdin: bool,
) -> Result<WebhookSecrets> {
    if from_stdin {
        let text = if ui.prompter.interactive() {
            let question =
                Question::new("Webhook secret", "--secret-stdin", "the webhook secret").hidden();
            ui.prompter.text(&question, None, &|_| Ok(())).await?
        } else {
            read_stdin().await?
        };
        if text.trim().is_empty() {
            return Err(Error::usage("no webhook secret on standard input").hint(SHAPE));
        }
        return WebhookSecrets::parse(&text).map_err(|why| {
            Error::usage(format!("the webhook secret on standard input {why}")).hint(SHAPE)
        });
    }
    if let Some(text) = Environment::text(&settings.environment.webhook_secret) {
        return WebhookSecrets::parse(&text)
            .map_err(|why| Error::config(format!("BOOKCTL_WEBHOOK_SECRET {why}")).hint(SHAPE));
    }
    let service = api.facts.target().service();
    let recorded = match service.and_then(Service::account) {
        Some(account) => {
            Vault::new(settings.paths.secrets.clone()).find(&account, Item::WebhookSecret).await
        }
        None => Ok(None),
    };
    if let Ok(Some(found)) = recorded {
        return Ok(WebhookSecrets { all: vec![found.secret], is_sandboxs: false });
    }
    // A sandbox tells its secret, so that it needs no keyring.
    if let Some(secret) = sandbox_secret(api, settings).await? {
        ui.out.note("using the sandbox's webhook secret");
        return Ok(WebhookSecrets { all: vec![secret], is_sandboxs: true });
    }
    let ways = "set BOOKCTL_WEBHOOK_SECRET, pass --secret-stdin, or store it with: \
                bookctl auth login --profile NAME --webhook-secret-stdin";
    recorded.map_err(|error| error.hint(ways))?;
    let service = service.map(|it| format!(" for {}", it.base_url.origin())).unwrap_or_default();
    Err(Error::new(Code::NoSecret, format!("there is no webhook secret{service}")).hint(ways))
}

/// The secret in a sandbox's settings. Sandboxes listen on loopback addresses only.
async fn sandbox_secret(api: &Api, settings: &Settings) -> Result<Option<Secret>> {
    let secret = match &api.facts.target().place {
        _ if settings.options.no_sandbox => None,
        // Nothing is sent to it, so that it need not be served.
        Place::Sandbox { database, .. } => {
            ownership::refuse_others(database)?;
            let sandbox = api.facts.open_sandbox(Options::new(Some(database.clone())))?;
            Some(sandbox.webhook_secret()?)
        }
        Place::Service(service) if service.base_url.is_loopback() => {
            let call = Call::get("/sandbox/organization");
            match api.client()?.send(&call).await {
                Ok(answer) => answer.document.str("webhook_secret").map(str::to_owned),
                // Another service on this computer has no such endpoint.
                Err(failure) if failure.is_answer() => None,
                Err(failure) => return Err(failure.into_error(&call)),
            }
        }
        Place::Service(_) => None,
    };
    Ok(secret.and_then(|secret| Secret::read(&secret).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_secrets_are_separated_by_whitespace() {
        for (text, count) in [
            ("whsec_a", Some(1)),
            (" whsec_a\r\n", Some(1)),
            ("whsec_new\nwhsec_old\n", Some(2)),
            ("whsec_new whsec_old", Some(2)),
            ("", None),
            (" \n", None),
            ("whsec_ä", None),
            ("\u{feff}whsec_a\r\n", Some(1)),
            ("\"whsec_a\"", None),
        ] {
            let secrets = WebhookSecrets::parse(text).ok();
            assert_eq!(secrets.map(|it| it.all.len()), count, "{text:?}");
        }
    }
}
