//! The organization's webhook URL, while the listener stands in for it.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};

use super::unwritten;
use crate::app::Context;
use crate::client::Call;
use crate::outcome::Result;
use crate::webhook::{Registration, Store};

/// How long putting the URL back may take: Ctrl-C is to be done with in 200 ms.
const LAST_WORD: Duration = Duration::from_millis(150);

/// How often the settings are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The listener's URL in a sandbox's settings.
pub(super) struct Stand(Registration);

impl Stand {
    /// Puts the listener's URL into the sandbox's settings; `None` where the service is none, whose settings are set
    /// in its dashboard.
    pub(super) async fn take(context: &Context, store: &Store, url: &str) -> Result<Option<Self>> {
        if !context.is_sandbox().await {
            return Ok(None);
        }
        let left = store.registration().await.map_err(unwritten)?;
        let registration = Registration::new(url.to_owned(), present(context).await?, left);
        // Written down first: where this process dies, the next listener knows whose URL it finds.
        let remembered = store.remember_registration(registration.clone());
        remembered.await.map_err(unwritten)?;
        set(context, Some(url)).await?;
        Ok(Some(Stand(registration)))
    }

    /// Looks after the URL without end: a sandbox that was reset, or started anew, knows none, and would deliver
    /// nothing. What somebody else sets stays, and is said once.
    pub(super) async fn hold(&self, context: &Context) -> Infallible {
        let ours = &self.0.ours;
        let mut known = ours.clone();
        loop {
            sleep(LOOK).await;
            // A sandbox that is not there now may come back.
            let Ok(url) = present(context).await else {
                continue;
            };
            match url {
                None if set(context, Some(ours)).await.is_ok() => {
                    context
                        .out
                        .note("the sandbox was reset: it delivers to this listener again");
                    known.clone_from(ours);
                }
                Some(url) if url != known => {
                    context.out.note(&match url == *ours {
                        true => "the sandbox delivers to this listener again".to_owned(),
                        false => format!(
                            "the sandbox delivers to {url} now, and not to this listener: another one, or \
                             somebody, has set it"
                        ),
                    });
                    known = url;
                }
                _ => {}
            }
        }
    }

    /// Puts the URL back that was there before, unless somebody has set another one since.
    pub(super) async fn put_back(self, context: &Context, store: &Store) {
        let Registration { ours, previous } = &self.0;
        let put_back = async {
            match present(context).await? {
                Some(url) if url == *ours => set(context, previous.as_deref()).await?,
                Some(url) => {
                    if let Some(previous) = previous.as_ref().filter(|it| **it != url) {
                        context.out.note(&format!(
                            "the organization's webhook URL is {url} now; before this listener it was {previous}"
                        ));
                    }
                }
                None => {}
            }
            store.forget_registration().await.map_err(unwritten)
        };
        if !matches!(timeout(LAST_WORD, put_back).await, Ok(Ok(()))) {
            let url = previous.as_deref().unwrap_or("null");
            context.out.warn(&format!(
                "the organization's webhook URL is still {ours}; put it back with: \
                 bookctl sandbox organization -F webhook_url={url}"
            ));
        }
    }
}

async fn present(context: &Context) -> Result<Option<String>> {
    let settings = context.read(Call::get("/sandbox/organization")).await?;
    Ok(settings.document.str("webhook_url").map(str::to_owned))
}

async fn set(context: &Context, url: Option<&str>) -> Result<()> {
    let settings = json!({ "webhook_url": url });
    let call = Call::put("/sandbox/organization", settings);
    context.read(call).await.map(drop)
}
