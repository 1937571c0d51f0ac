//! Whether the service is a sandbox, and its controls.

use serde_json::Value;

use super::Api;
use crate::outcome::{Error, Result};
use crate::service::client::{Answer, Call};

impl Api {
    /// Refuses a service whose index says that it is a sandbox, if `--no-sandbox` was given.
    pub(crate) async fn refuse_sandbox(&self) -> Result<()> {
        if !self.settings.options.no_sandbox {
            return Ok(());
        }
        let index = self.read(Call::get("/v1/")).await?;
        if index.document.value().get("sandbox") == Some(&Value::Bool(true)) {
            return Err(Error::config("the service is a sandbox, and --no-sandbox is set")
                .hint("point the profile or BOOKCTL_BASE_URL to the real service"));
        }
        Ok(())
    }

    /// Sends a call to the sandbox's controls. Fails if the profile's service is no sandbox.
    pub(crate) async fn control(&self, mut call: Call) -> Result<Answer> {
        // The index would say so too, but it needs a key, and a sandbox's controls do not.
        if self.is_sandbox_by(Call::get("/sandbox/clock")).await == Some(false) {
            let refused = Error::config("the profile is not for a sandbox; nothing was changed");
            return Err(refused.hint(
                "use --profile sandbox, or set BOOKCTL_BASE_URL to the address of a sandbox server",
            ));
        }
        call.is_control = true;
        self.read(call).await
    }

    /// Whether the service is a sandbox. If it is on another computer, only the index is read.
    pub(crate) async fn is_sandbox(&self) -> bool {
        let service = self.facts.target.service();
        let is_elsewhere = service.is_some_and(|service| !service.base_url.is_loopback());
        if is_elsewhere && !self.facts.has_key() {
            return false;
        }
        let path = if is_elsewhere { "/v1/" } else { "/sandbox/clock" };
        self.is_sandbox_by(Call::get(path)).await == Some(true)
    }

    /// Whether the answer to this call is a sandbox's; `None` without one. Asked once, so that no
    /// command takes it for both.
    async fn is_sandbox_by(&self, call: Call) -> Option<bool> {
        if self.facts.target.service().is_none() {
            return Some(true);
        }
        let client = self.client().ok()?;
        let is_new = !self.is_sandbox.initialized();
        let _progress = is_new.then(|| self.requesting("waiting for the service"));
        let ask = async || match client.send(&call).await {
            Ok(answer) => {
                let says = answer.document.value().get("sandbox");
                Some(answer.document.str("now").is_some() || says == Some(&Value::Bool(true)))
            }
            Err(failure) => failure.is_answer().then_some(false),
        };
        *self.is_sandbox.get_or_init(ask).await
    }
}
