//! Whether the service is a sandbox, and the calls of a sandbox's own surface.

use serde_json::Value;

use crate::app::Context;
use crate::outcome::{Error, Result};
use crate::service::client::{Answer, Call, Failure};

impl Context {
    /// Refuses a service whose index says that it is a sandbox, if `--no-sandbox` was given.
    pub(crate) async fn refuse_sandbox(&self) -> Result<()> {
        if !self.no_sandbox {
            return Ok(());
        }
        let index = self.read(Call::get("/v1/")).await?;
        if index.document.value().get("sandbox") == Some(&Value::Bool(true)) {
            return Err(
                Error::config("the service is a sandbox, and --no-sandbox is set")
                    .hint("point the profile or BOOKCTL_BASE_URL to the real service"),
            );
        }
        Ok(())
    }

    /// Sends a call to the sandbox's control endpoints. Fails if the profile does not point to a sandbox.
    pub(crate) async fn control(&self, mut call: Call) -> Result<Answer> {
        // The index would say so too, but it needs a key, and a sandbox's controls do not.
        if self.is_sandbox_by(Call::get("/sandbox/clock")).await == Some(false) {
            return Err(self.no_sandbox());
        }
        call.is_control = true;
        self.read(call).await
    }

    fn no_sandbox(&self) -> Error {
        let error = Error::config("the profile is not for a sandbox; nothing was changed");
        if let Some(service) = self.target.service()
            && let Some(before) = service.base_url.join("").strip_suffix("/v1")
        {
            return error.hint(format!(
                "leave /v1 out of the base URL, which bookctl adds itself: {before}"
            ));
        }
        error.hint(
            "use --profile sandbox, or set BOOKCTL_BASE_URL to the address of a sandbox server",
        )
    }

    /// Whether the service is a sandbox. Of a service that is not on this machine only the index is read; without an
    /// answer it counts as no sandbox.
    pub(crate) async fn is_sandbox(&self) -> bool {
        let service = self.target.service();
        let is_elsewhere = service.is_some_and(|service| !service.base_url.is_loopback());
        if is_elsewhere && !self.has_key() {
            return false;
        }
        let index = is_elsewhere.then_some("/v1/");
        let call = Call::get(index.unwrap_or("/sandbox/clock"));
        self.is_sandbox_by(call).await == Some(true)
    }

    /// Whether the answer to this call is a sandbox's; `None` if there was no answer. It is asked once, so that one
    /// command never takes the service for both.
    async fn is_sandbox_by(&self, call: Call) -> Option<bool> {
        if self.target.service().is_none() {
            return Some(true);
        }
        let client = self.client().ok()?;
        let ask = async || match client.send(&call).await {
            Ok(answer) => {
                let says = answer.document.value().get("sandbox");
                Some(answer.document.str("now").is_some() || says == Some(&Value::Bool(true)))
            }
            Err(failure) => is_answered(&failure).then_some(false),
        };
        *self.is_sandbox.get_or_init(ask).await
    }
}

/// Whether something answered, although not as a sandbox does.
fn is_answered(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Refused(_)
            | Failure::Unusable(_)
            | Failure::Redirected { .. }
            | Failure::Unreadable { .. }
    )
}
