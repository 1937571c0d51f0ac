//! Setting the listener as a sandbox's webhook URL while it runs.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::app::Context;
use crate::outcome::{Error, Result};
use crate::service::client::Call;

/// How long restoring the URL may take: Ctrl-C ends the process within 200 ms.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(150);

/// A sandbox's webhook URL that is set to the listener, and the one from before.
pub(crate) struct UrlTakeover {
    ours: String,
    previous: Option<String>,
}

impl UrlTakeover {
    /// Sets the webhook URL to `ours`; `None` if the service is not a sandbox, whose URL is set in its dashboard.
    pub(crate) async fn take(context: &Context, ours: String) -> Result<Option<Self>> {
        if !context.is_sandbox().await {
            return Ok(None);
        }
        // A listener that was killed on the same port had the same URL.
        let previous = current_url(context).await?.filter(|url| *url != ours);
        set_url(context, Some(&ours), true).await?;
        Ok(Some(UrlTakeover { ours, previous }))
    }

    /// Restores the previous URL, unless somebody has set another one since.
    pub(crate) async fn restore(self, context: &Context) {
        let UrlTakeover { ours, previous } = &self;
        let restored = async {
            if current_url(context).await?.as_ref() == Some(ours) {
                set_url(context, previous.as_deref(), false).await?;
            }
            Ok::<_, Error>(())
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

async fn current_url(context: &Context) -> Result<Option<String>> {
    let settings = context.read(Call::get("/sandbox/organization")).await?;
    Ok(settings.document.str("webhook_url").map(str::to_owned))
}

async fn set_url(context: &Context, url: Option<&str>, stays: bool) -> Result<()> {
    let mut settings = json!({ "webhook_url": url });
    if stays {
        // A listener's URL outlasts a reset: otherwise events would go nowhere until the listener notices.
        settings["webhook_url_stays"] = json!(true);
    }
    let call = Call::put("/sandbox/organization", settings);
    context.read(call).await.map(drop)
}
