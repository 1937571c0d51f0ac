use std::net::Ipv4Addr;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::oneshot;

use crate::app::{Context, Signals};
use crate::outcome::{Code, Error, Exit, Result, reason};
use crate::platform::process::with_core_dumps;
use crate::sandbox::seed::Scenario;
use crate::sandbox::{Database, LIVE_KEY, Options, Sandbox, live_webhook_secret};

/// Run a command beside a fresh sandbox, and end with its exit code
///
/// The command gets BOOKCTL_BASE_URL, BOOKCTL_API_KEY and BOOKCTL_WEBHOOK_SECRET, whatever language it is written in;
/// the sandbox lives in memory and ends with it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox run -- pytest\n  \
    bookctl sandbox run --scenario payment -- sh -c 'bookctl book \"$BOOKCTL_SANDBOX_VENUE\" --dry-run …'")]
pub(crate) struct Args {
    /// Put this scenario's venue into BOOKCTL_SANDBOX_VENUE
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Option<String>,
    /// No rate limits and no test allowance
    #[arg(long)]
    no_limits: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<std::ffi::OsString>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let sandbox = Sandbox::open(Options {
        limits: !args.no_limits,
        ..Options::new(Database::Memory)
    })
    .map_err(|error| Error::config(error.to_string()))?;
    let failed = |error: std::io::Error| Error::io("the sandbox cannot be served", &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(failed)?;
    let base = format!("http://{}", listener.local_addr().map_err(failed)?);
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(sandbox.serve(listener, None, async {
        let _ = stopped.await;
    }));
    context.out.note(&format!("sandbox: {base}"));

    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Error::usage("no command is given"));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("BOOKCTL_BASE_URL", &base)
        .env("BOOKCTL_API_KEY", LIVE_KEY)
        // The command gets no secret of a real service, which could not verify the sandbox's deliveries anyway.
        .env("BOOKCTL_WEBHOOK_SECRET", live_webhook_secret())
        // A profile in the environment would take precedence over the sandbox.
        .env_remove("BOOKCTL_PROFILE")
        .env_remove("BOOKCTL_NO_SANDBOX")
        // If it were set, every bookctl in the command would complete words instead of running.
        .env_remove("BOOKCTL_COMPLETE")
        // If this command itself was started by `sandbox run`, the variable names a venue of another sandbox.
        .env_remove("BOOKCTL_SANDBOX_VENUE")
        .stdin(Stdio::inherit());
    if let Some(scenario) = &args.scenario {
        command.env("BOOKCTL_SANDBOX_VENUE", format!("ven_{scenario}"));
    }
    let mut signals = Signals::listen()?;
    let mut child = with_core_dumps(|| command.spawn()).map_err(|error| {
        Error::new(
            Code::Usage,
            format!(
                "{} cannot be started: {}",
                program.to_string_lossy(),
                reason(&error)
            ),
        )
        .exiting(Exit::OfProgram(127))
    })?;
    // Ctrl-C reaches the command too, because it is in the same process group. Its end is the end of this.
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            exit = signals.next() => {
                if exit == Exit::Terminated {
                    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
                    if let Some(pid) = pid {
                        // Passes the signal on. A command that has ended ignores it.
                        let _ = kill_process(pid, Signal::TERM);
                    }
                }
            }
        }
    };
    let status = status.map_err(|error| Error::io("the command cannot be waited for", &error))?;
    let _ = stop.send(());
    let _ = server.await;
    Ok(Exit::of_program(status))
}

fn scenario(text: &str) -> Result<String, String> {
    let known = Scenario::ALL.iter().map(|scenario| scenario.name());
    if known.clone().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "the scenarios are {}",
        known.collect::<Vec<_>>().join(", ")
    ))
}
