use std::ffi::OsStr;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;

use super::answer;
use crate::app::{Parts, Settings};
use crate::config::Environment;
use crate::outcome::{Exit, Result};
use crate::platform::system::process::{self, USUAL_BROWSER};
use crate::service::client::Call;
use crate::terminal::output::DocumentView;

/// How long a program may take that opens browsers. One that runs longer is the browser itself.
const OPENING: Duration = Duration::from_secs(3);

pub(crate) async fn run(Parts { api, ui, settings, .. }: &Parts) -> Result<Exit> {
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

/// Starts a browser; returns whether that worked.
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
