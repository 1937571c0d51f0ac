//! The secrets that deliveries are signed with.

use crate::app::Context;
use crate::client::{Call, Failure};
use crate::config::{Environment, Target};
use crate::outcome::{Code, Error, Result};
use crate::secrets::Secret;
use crate::terminal::prompt::Question;

use super::read_stdin;

/// The secrets that a delivery may be signed with; the first is the one to sign with. There is at least one.
///
/// Standard input beats the environment, the environment what `auth login --webhook-secret-stdin` stored for the
/// profile and its origin; a sandbox tells its own. Several, for the days of a rotation, are separated by blanks or
/// line ends: none can be part of a secret.
///
/// # Errors
/// `no_secret` (3) where there is none; `usage` (2) where standard input holds none.
pub(crate) async fn webhook_secrets(context: &Context, from_stdin: bool) -> Result<Vec<Secret>> {
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
        return several(text.expose()).ok_or_else(|| {
            Error::usage("standard input holds no webhook secret")
                .hint("a secret is one line of visible ASCII characters")
        });
    }
    if let Some(text) = Environment::text(context.environment.webhook_secret.as_ref()) {
        let text = Secret::new(text);
        return several(text.expose()).ok_or_else(|| {
            Error::config("BOOKCTL_WEBHOOK_SECRET holds no webhook secret")
                .hint("a secret is one line of visible ASCII characters")
        });
    }
    if let Some(secret) = context.stored_webhook_secret().await? {
        return Ok(vec![secret]);
    }
    if let Some(secret) = of_the_sandbox(context).await? {
        return Ok(vec![secret]);
    }
    let of = match context.target() {
        Target::Embedded { .. } => String::new(),
        Target::Remote(service) => format!(" for {}", service.base_url.origin()),
    };
    Err(
        Error::new(Code::NoSecret, format!("there is no webhook secret{of}")).hint(
            "set BOOKCTL_WEBHOOK_SECRET, give --secret-stdin, or store it: \
         bookctl auth login --profile NAME --webhook-secret-stdin",
        ),
    )
}

/// `None` where one of them is no secret, or where there is none at all.
fn several(text: &str) -> Option<Vec<Secret>> {
    let secrets: Option<Vec<Secret>> = text.split_whitespace().map(Secret::typed).collect();
    secrets.filter(|secrets| !secrets.is_empty())
}

/// What the organization's settings say. Sandboxes are bound to this machine: no other address is asked.
async fn of_the_sandbox(context: &Context) -> Result<Option<Secret>> {
    let is_near = match context.target() {
        Target::Embedded { .. } => true,
        Target::Remote(service) => service.base_url.is_loopback(),
    };
    if !is_near || !context.takes_sandboxes() {
        return Ok(None);
    }
    let call = Call::get("/sandbox/organization");
    let answer = match context.client()?.read(&call).await {
        Ok(answer) => answer,
        // Another service on this machine has no such page.
        Err(Failure::Refused(_) | Failure::Unreadable { .. }) => return Ok(None),
        Err(failure) => return Err(failure.into_error(&call)),
    };
    let secret = answer
        .document
        .str("webhook_secret")
        .and_then(Secret::typed);
    if secret.is_some() {
        context.out.note("the webhook secret is the sandbox's own");
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::several;

    #[test]
    fn several_secrets_stand_on_lines_or_between_blanks() {
        for (text, count) in [
            ("whsec_a", Some(1)),
            (" whsec_a\r\n", Some(1)),
            ("whsec_new\nwhsec_old\n", Some(2)),
            ("whsec_new whsec_old", Some(2)),
            ("", None),
            (" \n", None),
            ("whsec_ä", None),
        ] {
            assert_eq!(several(text).map(|it| it.len()), count, "{text:?}");
        }
    }
}
