use std::ffi::{OsStr, OsString};
use std::process::Stdio;

use clap::builder::PossibleValuesParser;
use tokio::process::Command;
use tokio::sync::oneshot;

use super::report::ReportFlags;
use super::start::{Files, ServerFlags, start};
use crate::app::{Parts, listen_for_signals};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::system::files::create_folder;
use crate::platform::system::process::{exit_of, pass_on};
use crate::sandbox::Options;
use crate::sandbox::seed::Scenario;

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
pub(crate) struct Args {
    /// Set BOOKCTL_SANDBOX_VENUE to the venue of this scenario
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Scenario::all().map(Scenario::name)))]
    scenario: Option<String>,
    /// Listen on this port [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    #[command(flatten)]
    server: ServerFlags,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    report: ReportFlags,
    /// Command and its arguments, after --
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { ui, .. } = parts;
    let mut report = args.report.open()?;
    let options = Options::new(None);
    let starting = start(parts, options, args.files, args.server, args.port, false).await?;
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

    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Error::usage("no command was given"));
    };
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

/// Runs the command to its end, which is the end of this too.
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
