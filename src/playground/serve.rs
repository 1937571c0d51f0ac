//! A sandbox that is served: until a signal, or for one command.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use tokio::process::Command;
use tokio::sync::oneshot;

use super::report::ReportFlags;
use super::start::{ServerFlags, start};
use crate::app::{Parts, listen_for_signals};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::ownership;
use crate::platform::shell::EnvFormat;
use crate::platform::system::files::create_folder;
use crate::platform::system::process::{exit_of, pass_on};
use crate::sandbox::Options;
use crate::sandbox::seed::Scenario;
use crate::terminal::output::{Draw, Page, Tone};

/// Serve the sandbox over HTTP until Ctrl-C
///
/// Prints its address and key, then logs each request to stderr. Without --database or --ephemeral,
/// it serves the sandbox that is embedded in bookctl: other bookctl commands see the same bookings.
/// --no-limits or BOOKCTL_SANDBOX_NO_LIMITS=1 turns off its rate limits and test quota.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox serve\n  \
    bookctl sandbox serve --port 0 --ephemeral --json\n  \
    bookctl sandbox serve --fixtures fixtures.toml")]
pub(crate) struct Args {
    /// Listen on this port, or on a free one with 0
    #[arg(long, value_name = "N", default_value_t = 4010)]
    port: u16,
    /// Keep the state in this file [default: the sandbox's file]
    #[arg(long, value_name = "FILE", conflicts_with = "ephemeral")]
    database: Option<PathBuf>,
    /// Keep the state in memory, and lose it when the server stops
    #[arg(long)]
    ephemeral: bool,
    #[command(flatten)]
    server: ServerFlags,
    /// Keep no log of requests, as in a load test
    #[arg(long)]
    no_request_log: bool,
    /// Keep no report, as in a load test
    #[arg(long)]
    no_report: bool,
}

pub(crate) async fn serve(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { ui, settings, .. } = parts;
    let file = args.database;
    let file = (!args.ephemeral).then(|| file.unwrap_or_else(|| settings.paths.sandbox.clone()));
    if let Some(file) = &file {
        ownership::refuse_others(file)?;
    }
    let options = Options {
        keeps_requests: !args.no_request_log,
        keeps_report: !args.no_report,
        ..Options::new(file.clone())
    };
    let logs = !ui.out.quiet;
    let starting = start(parts, options, args.server, args.port, logs).await?;
    // Listens for signals before the server is announced, so that each ends it cleanly.
    let mut signals = listen_for_signals()?;
    let address = starting.address;
    let variables = &starting.variables;
    ui.out.emit_line(&ServeReady {
        openapi_url: format!("{}/openapi.json", variables.base_url),
        page: format!("{}/", variables.base_url),
        database: file.map(|it| it.display().to_string()),
        reached_elsewhere: address.ip().is_unspecified().then(|| address.port()),
        lines: variables.lines(EnvFormat::USUAL),
        base_url: variables.base_url.clone(),
    })?;
    starting.announce()?;
    let shutdown = async move {
        signals.next().await;
    };
    let served = starting.sandbox.serve(starting.listener, starting.on_request, shutdown);
    served.await.map_err(|error| Error::io("the sandbox failed", error))?;
    if starting.log.is_none_or(|it| it.end()) {
        ui.out.note("sandbox stopped");
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ServeReady {
    base_url: String,
    openapi_url: String,
    page: String,
    database: Option<String>,
    /// The port, if the sandbox listens on all addresses.
    #[serde(skip)]
    reached_elsewhere: Option<u16>,
    #[serde(skip)]
    lines: Vec<String>,
}

impl Draw for ServeReady {
    fn draw(&self, page: &mut Page) {
        page.heading(Tone::Good, "sandbox", &self.base_url);
        let elsewhere = self.reached_elsewhere.map(|port| {
            format!("other computers reach it at this computer's address, port {port}")
        });
        page.field_if("exposed", elsewhere);
        page.field("page", &self.page);
        page.field("openapi", &self.openapi_url);
        page.field("state", self.database.as_deref().unwrap_or("in memory"));
        page.field("stop", "Ctrl-C");
        page.line("");
        page.line("To use it in another terminal:");
        page.line("");
        for line in &self.lines {
            page.secret(format!("  {line}"));
        }
        page.line("");
    }
}

/// Run a command with a fresh sandbox, and exit with its exit code
///
/// BOOKCTL_BASE_URL, BOOKCTL_API_KEY and BOOKCTL_WEBHOOK_SECRET are set for the command. The
/// sandbox keeps its state in memory and stops when the command ends. BOOKCTL_HOME is an empty
/// folder, which is then deleted: the command neither reads nor changes your profiles and your
/// journal. --no-limits or BOOKCTL_SANDBOX_NO_LIMITS=1 turns off the sandbox's rate limits and test
/// quota.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox run -- pytest\n  \
    bookctl sandbox run --report=report.md --fail-on findings -- pytest\n  \
    bookctl sandbox run --scenario payment -- \\\n    \
      sh -c 'bookctl book \"$BOOKCTL_SANDBOX_VENUE\" --dry-run …'")]
pub(crate) struct RunArgs {
    /// Set BOOKCTL_SANDBOX_VENUE to the venue of this scenario
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Scenario::all().map(Scenario::name)))]
    scenario: Option<String>,
    /// Listen on this port [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    #[command(flatten)]
    server: ServerFlags,
    #[command(flatten)]
    report: ReportFlags,
    /// Command and its arguments, after --
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) async fn run(parts: &Parts, args: RunArgs) -> Result<Exit> {
    let Parts { ui, .. } = parts;
    let mut report = args.report.open()?;
    let options = Options::new(None);
    let starting = start(parts, options, args.server, args.port, false).await?;
    starting.announce()?;
    let _ready_file = starting.ready_file;
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    let served = starting.sandbox.serve(starting.listener, starting.on_request, stopped);
    let server = tokio::spawn(served);
    let variables = starting.variables;
    let origin = &variables.base_url;
    ui.out.note(&format!("sandbox listening on {origin}"));

    // clap asks for one at least.
    let (program, arguments) = (&args.command[0], &args.command[1..]);
    let home = std::env::temp_dir().join(format!("bookctl-run-{}", uuid::Uuid::now_v7().simple()));
    create_folder(&home)
        .map_err(|error| Error::io(format!("cannot create {}", home.display()), error))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        // The command gets no real service's secret: it could not verify the sandbox's deliveries.
        .envs(variables.all())
        // Its bookings, attempts and limits end with its sandbox. They are not the user's.
        .env("BOOKCTL_HOME", &home)
        // A profile in the environment would take precedence over the sandbox.
        .env_remove("BOOKCTL_PROFILE")
        .env_remove("BOOKCTL_NO_SANDBOX")
        .env_remove("BOOKCTL_JOURNAL")
        // If it were set, every bookctl in the command would complete words instead of running.
        .env_remove("BOOKCTL_COMPLETE")
        // A variable inherited from another `sandbox run` names a venue of another sandbox.
        .env_remove("BOOKCTL_SANDBOX_VENUE")
        .stdin(Stdio::inherit());
    if let Some(scenario) = &args.scenario {
        command.env("BOOKCTL_SANDBOX_VENUE", format!("ven_{scenario}"));
    }
    let ended = ended(&mut command, program).await;
    // What cannot be deleted is left to the system, in its folder for temporary files.
    let _ = std::fs::remove_dir_all(&home);
    let ended = match ended {
        Ok(exit) => report.write(ui, &variables.base_url, exit).await,
        Err(error) => Err(error),
    };
    let _ = stop.send(());
    let _ = server.await;
    ended
}

async fn ended(command: &mut Command, program: &OsStr) -> Result<Exit> {
    let mut signals = listen_for_signals()?;
    let mut child = command.spawn().map_err(|error| {
        let what = format!("cannot run {}", program.to_string_lossy());
        Error::caused(Code::Io, what, error).exiting(Exit::OfProgram(127))
    })?;
    loop {
        tokio::select! {
            status = child.wait() => {
                let failed = |error| Error::io("cannot wait for the command", error);
                return status.map(exit_of).map_err(failed);
            }
            exit = signals.next() => {
                if let Some(process) = child.id() {
                    pass_on(exit, process);
                }
            }
        }
    }
}
