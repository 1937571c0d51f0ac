//! `continue`: answers a booking's pause: one-time codes, payments, other fields.

pub(crate) mod answer;
pub(crate) mod prompts;

use serde_json::Map;

use crate::app::in_flight::show_command;
use crate::app::{Parts, input};
use crate::booking::arguments::PATIENCE;
use crate::booking::confirmation::Confirmation;
use crate::booking::find::pick;
use crate::booking::finish;
use crate::booking::finish::{Change, finish_changed};
use crate::booking::watch::wait;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::Continuation;
use crate::service::documents::field::{Field, body, field};
use crate::service::documents::{Booking, Status, id};
use crate::service::mapping::WriteKind;

const WAYS_TO_ANSWER: &str = "pass --otp, --otp-stdin, --psp-response, --psp-abort or -F key=value";

/// Send the code, payment or details a booking waits for
///
/// Without an answer, bookctl prompts for it on a terminal.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl continue bk_01\n  \
    bookctl continue bk_01 --otp 123456\n  \
    bookctl sandbox inbox \\\n    --jq '.messages[] | select(.booking_id == \"bk_01\").code' \\\n    | bookctl continue bk_01 --otp-stdin\n  \
    bookctl continue bk_01 --psp-response @answer.json\n  \
    bookctl continue bk_01 -F dietary_notes=none")]
#[command(group(clap::ArgGroup::new("answer").args(["otp", "otp_stdin", "psp_response", "psp_abort"]).multiple(false)))]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Answer with this one-time code
    #[arg(long, value_name = "CODE")]
    otp: Option<String>,
    /// Read the one-time code from standard input
    #[arg(long)]
    otp_stdin: bool,
    /// Send the payment vendor's response
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    psp_response: Option<String>,
    /// Abort the payment, which makes the booking fail
    #[arg(long)]
    psp_abort: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Add a field of the answer: JSON value or text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field, conflicts_with_all = ["psp_response", "psp_abort"])]
    fields: Vec<Field>,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(parts @ Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let (dry_run, yes) = (args.dry_run, args.yes);
    let is_waiting = |status: &Status| *status == Status::RequiresAction;
    let named = args.booking.as_deref();
    let mut named = pick::booking_or_pick(parts, named, is_waiting, !dry_run).await?;
    let given = read_continuation(args).await?;
    if dry_run {
        let answer = given.ok_or_else(|| {
            Error::usage("--dry-run needs an answer to show").hint(WAYS_TO_ANSWER)
        })?;
        return finish::preview(&api.facts, ui, answer::call_of(api, &named.id, &answer).await?);
    }
    api.facts.before_change()?;
    let interactive = ui.prompter.interactive();
    if let Some(Continuation::PspAbort) = &given
        && interactive
        && !yes
    {
        confirm_abort(parts, &mut named).await?;
    }
    let (mut booking, was_waiting) = match &given {
        Some(answer) => (send(parts, &named.id, answer).await?, false),
        None => walk(parts, &mut named).await?,
    };
    if interactive {
        booking = wait::wait_while_processing(parts, booking, PATIENCE).await?;
    }
    let is_on_screen = was_waiting && ui.out.is_terminal();
    let kind = given.as_ref().map_or(WriteKind::Action, Continuation::kind);
    let requested = match given {
        Some(Continuation::Fields(fields) | Continuation::Otp(_, fields)) => fields,
        _ => Map::new(),
    };
    let change = Change { is_on_screen, ..Change::new(kind, &requested) };
    finish_changed(parts, &booking, change)
}

async fn send(parts: &Parts, id: &str, answer: &Continuation) -> Result<Booking> {
    let sent = answer::send_answer(parts, id, answer).await;
    let (booking, refusal) =
        sent.map_err(|error| pick::not_found(&parts.records, &parts.ui, id, error))?;
    let Some(mut error) = refusal else {
        return Ok(booking);
    };
    if let Some(mut otherwise) = answer::answered_otherwise(parts, &booking, answer) {
        error.message = std::mem::take(&mut otherwise.message);
        error.hint = otherwise.hint.take();
    } else if error.hint.as_deref() == Some(Code::Http400.entry().next) {
        let show = show_command(id);
        error = error.hint(format!("the booking is still waiting: {show}"));
    }
    Err(error)
}

async fn read_continuation(args: Args) -> Result<Option<Continuation>> {
    Ok(Some(if let Some(code) = args.otp {
        Continuation::Otp(input::one_time_code(&code, "--otp")?, body(args.fields)?)
    } else if args.otp_stdin {
        let code = input::one_time_code(&input::read_stdin().await?, "--otp-stdin")?;
        Continuation::Otp(code, body(args.fields)?)
    } else if let Some(source) = args.psp_response {
        let text = match source.strip_prefix('@') {
            Some(path) => input::read_file(path).await?,
            None if source == "-" => input::read_stdin().await?,
            None => source,
        };
        let how =
            "pass --psp-response @FILE, with the vendor's response as a JSON object or string";
        let answer = prompts::payment_answer(&text);
        Continuation::PspResponse(answer.map_err(|why| Error::usage(why).hint(how))?)
    } else if args.psp_abort {
        Continuation::PspAbort
    } else if args.fields.is_empty() {
        return Ok(None);
    } else {
        Continuation::Fields(body(args.fields)?)
    }))
}

/// Shows what the booking waits for, and asks. A script's flag is its confirmation.
async fn confirm_abort(parts: &Parts, named: &mut pick::NamedBooking) -> Result<()> {
    let booking = named.booking(parts).await?;
    let abort = Continuation::PspAbort;
    if let Some(error) = answer::answered_otherwise(parts, &booking, &abort) {
        return Err(error);
    }
    if booking.status() != Status::RequiresAction {
        // The service says why nothing can be aborted.
        return Ok(());
    }
    prompts::show_pause(parts, &booking);
    let declined = "The payment was not aborted.";
    Confirmation::new("aborting a payment", prompts::ABORTS, declined).ask(&parts.ui.prompter).await
}

/// The booking, and whether it was waiting.
async fn walk(parts: &Parts, named: &mut pick::NamedBooking) -> Result<(Booking, bool)> {
    if !parts.ui.prompter.interactive() {
        let what = "an answer is missing, and prompts are disabled";
        return Err(Error::usage(what).hint(WAYS_TO_ANSWER));
    }
    let booking = named.booking(parts).await?;
    let is_waiting = booking.status() == Status::RequiresAction;
    if !is_waiting {
        let note = format!("Booking {} is not waiting for anything.", named.id);
        parts.ui.out.note(&note);
    }
    Ok((prompts::answer_pauses(parts, booking).await?, is_waiting))
}
