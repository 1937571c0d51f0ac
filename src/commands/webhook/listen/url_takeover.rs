//! Setting the listener as a sandbox's webhook URL while it runs.

use std::convert::Infallible;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::app::Context;
use crate::client::Call;
use crate::outcome::Result;
use crate::webhook::{Registration, Store};

/// How long restoring the URL may take: Ctrl-C ends the process within 200 ms.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(150);

/// How often the settings are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A sandbox's webhook URL that is set to the listener.
pub(super) struct UrlTakeover(Registration);

impl UrlTakeover {
    /// Sets the webhook URL to `url`; `None` if the service is not a sandbox, whose URL is set in its dashboard.
    pub(super) async fn take(context: &Context, store: &Store, url: &str) -> Result<Option<Self>> {
        if !context.is_sandbox().await {
            return Ok(None);
        }
        let left = store.registration().await?;
        let registration = Registration::new(url.to_owned(), current_url(context).await?, left);
        // Stored first, so that after a crash the next listener knows which URL to restore.
        store.remember_registration(registration.clone()).await?;
        set_url(context, Some(url), true).await?;
        Ok(Some(UrlTakeover(registration)))
    }

    /// Sets the URL again whenever the sandbox has none, as after a restart with an empty state. A URL that somebody else
    /// sets stays, and is reported once. Never returns.
    ///
    /// Tells `clock` how far the sandbox's clock is ahead.
    pub(super) async fn keep(
        &self,
        context: &Context,
        clock: &watch::Sender<SignedDuration>,
    ) -> Infallible {
        let ours = &self.0.ours;
        let mut known = ours.clone();
        loop {
            if let Ok(ahead) = clock_offset(context).await {
                clock.send_if_modified(|known| std::mem::replace(known, ahead) != ahead);
            }
            sleep(CHECK_INTERVAL).await;
            // A sandbox that cannot be reached may come back.
            let Ok(url) = current_url(context).await else {
                continue;
            };
            match url {
                None if set_url(context, Some(ours), true).await.is_ok() => {
                    context.out.note(
                        "the sandbox had no webhook URL any more; it is set to this listener again",
                    );
                    known.clone_from(ours);
                }
                Some(url) if url != known => {
                    context.out.note(&match url == *ours {
                        true => "the sandbox's webhook URL is set to this listener again".to_owned(),
                        false => format!(
                            "the sandbox's webhook URL was changed to {url}; this listener receives nothing"
                        ),
                    });
                    known = url;
                }
                _ => {}
            }
        }
    }

    /// Restores the previous URL, unless somebody has set another one since.
    pub(super) async fn restore(self, context: &Context, store: &Store) {
        let Registration { ours, previous } = &self.0;
        let restored = async {
            match current_url(context).await? {
                Some(url) if url == *ours => set_url(context, previous.as_deref(), false).await?,
                Some(url) => {
                    if let Some(previous) = previous.as_ref().filter(|it| **it != url) {
                        context.out.note(&format!(
                            "the sandbox's webhook URL is now {url}; before this listener it was {previous}"
                        ));
                    }
                }
                None => {}
            }
            store.forget_registration().await
        };
        if !matches!(timeout(RESTORE_TIMEOUT, restored).await, Ok(Ok(()))) {
            let url = previous.as_deref().unwrap_or("null");
            context.out.warn(&format!(
                "the sandbox's webhook URL is still {ours}; restore it with: \
                 bookctl sandbox organization -F webhook_url={url}"
            ));
        }
    }
}

/// How far the sandbox's clock is ahead of this computer's.
pub(super) async fn clock_offset(context: &Context) -> Result<SignedDuration> {
    let clock = context.read(Call::get("/sandbox/clock")).await?;
    let seconds = clock.document.value().get("offset_seconds");
    let seconds = seconds.and_then(Value::as_i64).unwrap_or_default();
    Ok(SignedDuration::from_secs(seconds))
}

async fn current_url(context: &Context) -> Result<Option<String>> {
    let settings = context.read(Call::get("/sandbox/organization")).await?;
    Ok(settings.document.str("webhook_url").map(str::to_owned))
}

async fn set_url(context: &Context, url: Option<&str>, stays: bool) -> Result<()> {
    // A listener's URL outlasts a reset: otherwise events would go nowhere until the listener notices.
    let settings = match stays {
        true => json!({ "webhook_url": url, "webhook_url_stays": true }),
        false => json!({ "webhook_url": url }),
    };
    let call = Call::put("/sandbox/organization", settings);
    context.read(call).await.map(drop)
}
