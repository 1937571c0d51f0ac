//! The secrets that deliveries are signed with.

use crate::app::Context;
use crate::client::{Call, Failure};
use crate::config::{Environment, Target};
use crate::outcome::{Code, Error, Result};
use crate::secrets::Secret;
use crate::terminal::prompt::Question;

use super::read_stdin;

/// One secret, or several during a rotation.
#[derive(Clone, Debug)]
pub(crate) struct WebhookSecrets {
    /// The first secret, with which bookctl signs.
    pub(crate) signing: Secret,
    /// All secrets, each of which verifies a delivery; the signing one is the first.
    pub(crate) all: Vec<Secret>,
}

impl WebhookSecrets {
    /// Secrets separated by whitespace, which no secret contains. `None` if the text has none or one is malformed.
    fn parse(text: &str) -> Option<Self> {
        let all = text.split_whitespace().map(Secret::typed);
        let all: Vec<Secret> = all.collect::<Option<_>>()?;
        let signing = all.first()?.clone();
        Some(WebhookSecrets { signing, all })
    }
}

impl From<Secret> for WebhookSecrets {
    fn from(secret: Secret) -> Self {
        WebhookSecrets {
            signing: secret.clone(),
            all: vec![secret],
        }
    }
}

/// Finds the webhook secrets: those on standard input if `from_stdin`, else those in `BOOKCTL_WEBHOOK_SECRET`, else the
/// one that `auth login --webhook-secret-stdin` stored for the profile and its origin, else a local sandbox's own.
///
/// # Errors
/// `no_secret` (3) if there is none; `usage` (2) if standard input has none; `config` (3) if the variable has none.
pub(crate) async fn webhook_secrets(context: &Context, from_stdin: bool) -> Result<WebhookSecrets> {
    const SHAPE: &str = "a secret is one line of visible ASCII characters";
    if from_stdin {
        let text = Secret::new(match context.prompter.interactive() {
            true => {
                let question =
                    Question::new("Webhook secret", "--secret-stdin", "the webhook secret");
                let anything = |_: &str| Ok(());
                context
                    .prompter
                    .text(&question.hidden(), None, &anything)
                    .await?
            }
            false => read_stdin().await?,
        });
        return WebhookSecrets::parse(text.expose())
            .ok_or_else(|| Error::usage("standard input holds no webhook secret").hint(SHAPE));
    }
    if let Some(text) = Environment::text(context.environment.webhook_secret.as_ref()) {
        let text = Secret::new(text);
        return WebhookSecrets::parse(text.expose()).ok_or_else(|| {
            Error::config("BOOKCTL_WEBHOOK_SECRET holds no webhook secret").hint(SHAPE)
        });
    }
    if let Some(secret) = context.stored_webhook_secret().await? {
        return Ok(secret.into());
    }
    if let Some(secret) = sandbox_secret(context).await? {
        return Ok(secret.into());
    }
    let service = match context.target() {
        Target::Embedded { .. } => String::new(),
        Target::Remote(service) => format!(" for {}", service.base_url.origin()),
    };
    Err(Error::new(
        Code::NoSecret,
        format!("there is no webhook secret{service}"),
    )
    .hint(
        "set BOOKCTL_WEBHOOK_SECRET, give --secret-stdin, or store it: \
         bookctl auth login --profile NAME --webhook-secret-stdin",
    ))
}

/// The secret in a sandbox's settings. Asks loopback addresses only, because sandboxes listen nowhere else.
async fn sandbox_secret(context: &Context) -> Result<Option<Secret>> {
    let is_local = match context.target() {
        Target::Embedded { .. } => true,
        Target::Remote(service) => service.base_url.is_loopback(),
    };
    if !is_local || !context.takes_sandboxes() {
        return Ok(None);
    }
    let call = Call::get("/sandbox/organization");
    let answer = match context.client()?.read(&call).await {
        Ok(answer) => answer,
        // Another service on this machine has no such endpoint.
        Err(Failure::Refused(_) | Failure::Unreadable { .. }) => return Ok(None),
        Err(failure) => return Err(failure.into_error(&call)),
    };
    let secret = answer
        .document
        .str("webhook_secret")
        .and_then(Secret::typed);
    if secret.is_some() {
        context.out.note("using the sandbox's own webhook secret");
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::WebhookSecrets;

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
        ] {
            let secrets = WebhookSecrets::parse(text);
            assert_eq!(secrets.map(|it| it.all.len()), count, "{text:?}");
        }
    }
}
