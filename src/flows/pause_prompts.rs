//! Asks a person for what a paused booking needs (a one-time code, a payment answer, other fields), and sends it.

use serde_json::{Value, json};

use super::finish::card;
use super::input::read_file;
use super::pause_answer::{AnswerOutcome, send_answer};
use super::wait::read_booking;
use crate::adapter::Pause;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::Continuation;
use crate::config::Target;
use crate::model::booking::{Booking, Status};
use crate::model::field::{Field, body, field};
use crate::outcome::{Code, Error, Result};
use crate::terminal::output::visible;
use crate::terminal::prompt::{Deadline, Question, Until};
use crate::terminal::view::{AskedField, asked_fields, pause_page};

/// Asks and answers until the booking no longer waits.
pub(crate) async fn answer_pauses(context: &Context, booking: Booking) -> Result<Booking> {
    let mut booking = booking;
    context.in_flight.replace(InFlight::known(&booking));
    let mut shown = false;
    while booking.status() == Status::RequiresAction {
        if !shown {
            show_pause(context, &booking)?;
            shown = true;
        }
        let Some(answer) = ask(context, &booking).await? else {
            context.out.note("The time to answer is up.");
            booking = read_booking(context, booking.id()).await?;
            break;
        };
        let outcome = match send_answer(context, booking.id(), &answer).await {
            // The booking stopped waiting in the meantime. The person needs to see how it ended.
            Err(error) if error.http_status == Some(409) => {
                context.out.note(&error.message);
                AnswerOutcome::Advanced(read_booking(context, booking.id()).await?)
            }
            outcome => outcome?,
        };
        match outcome {
            AnswerOutcome::Advanced(next) => {
                // Another pause may follow, which has to be shown.
                shown = false;
                booking = next;
            }
            AnswerOutcome::StillPaused(still, error) => {
                context.out.warn(&error.message);
                booking = still;
            }
        }
    }
    Ok(booking)
}

fn show_pause(context: &Context, booking: &Booking) -> Result<()> {
    context.out.show(&pause_page(&card(context, booking)));
    let kind = context.dialect().pause(booking.next_action());
    if matches!(context.target(), Target::Embedded { .. }) {
        let request = booking
            .next_action()
            .and_then(|action| action.get("psp_request"));
        if kind == Pause::Otp {
            context
                .out
                .note("Sandbox: see the text message with `bookctl sandbox inbox`");
        } else if let Some(approval) = request.and_then(|request| request.get("approval_id")) {
            context.out.note(&format!(
                "Sandbox: to approve, paste {{\"approval_id\": {approval}, \"status\": \"approved\"}}"
            ));
        }
    }
    Ok(())
}

/// One answer from the person; `None` if the deadline passed first.
async fn ask(context: &Context, booking: &Booking) -> Result<Option<Continuation>> {
    let action = booking.next_action();
    let clock = context.live_clock();
    let deadline = booking.deadline().map(|at| Deadline::new(at, &clock));
    match context.dialect().pause(action) {
        Pause::Otp => ask_code(context, deadline.as_ref()).await,
        Pause::Payment => ask_payment(context, booking, deadline.as_ref()).await,
        Pause::Other => ask_fields(context, action).await.map(Some),
    }
}

async fn ask_code(
    context: &Context,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Continuation>> {
    let question = Question::new("One-time code", "--otp", "the one-time code").fleeting();
    let check = |code: &str| {
        if code.trim().is_empty() {
            Err("enter the code".to_owned())
        } else {
            Ok(())
        }
    };
    let code = context
        .prompter
        .text_until(&question, &check, deadline)
        .await?;
    Ok(answered(code).map(|code| Continuation::Otp(code.trim().to_owned())))
}

/// How a payment approval can be given.
const PAYMENT_WAYS: [&str; 4] = [
    "Read the vendor's response from a file",
    "Write it in an editor",
    "Paste it",
    "Abort the payment (the booking then fails)",
];

async fn ask_payment(
    context: &Context,
    booking: &Booking,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Continuation>> {
    loop {
        let question = Question::new("Payment response", "--psp-response", "the payment response");
        let Some(way) = answered(
            context
                .prompter
                .choose_until(&question, &PAYMENT_WAYS, deadline)
                .await?,
        ) else {
            return Ok(None);
        };
        let text = match way {
            0 => {
                let question = Question::new(
                    "File with the vendor's response",
                    "--psp-response",
                    "the payment response",
                );
                let check = |path: &str| {
                    if path.trim().is_empty() {
                        Err("enter a path".to_owned())
                    } else {
                        Ok(())
                    }
                };
                let Some(path) = answered(
                    context
                        .prompter
                        .text_until(&question, &check, deadline)
                        .await?,
                ) else {
                    return Ok(None);
                };
                let text = read_file(path.trim()).await;
                text.map_err(|error| error.message.clone())
            }
            1 => write_answer(context, booking),
            2 => {
                // Pasted without echo, so that it does not stay in the terminal's scrollback.
                let question = Question::new(
                    "Paste the vendor's response",
                    "--psp-response",
                    "the payment response",
                )
                .hidden();
                let Some(text) = answered(context.prompter.paste_until(&question, deadline).await?)
                else {
                    return Ok(None);
                };
                Ok(text)
            }
            _ => return Ok(Some(Continuation::PspAbort)),
        };
        match text.and_then(|text| payment_answer(&text)) {
            Ok(answer) => return Ok(Some(Continuation::PspResponse(answer))),
            Err(why) => context.out.warn(&why),
        }
    }
}

fn write_answer(context: &Context, booking: &Booking) -> Result<String, String> {
    let environment = &context.environment;
    let editor = environment.visual.as_ref().or(environment.editor.as_ref());
    let Some(editor) = editor.and_then(|editor| editor.to_str()) else {
        return Err("no editor found: set EDITOR, or choose another way".to_owned());
    };
    let approval = booking
        .next_action()
        .and_then(|action| action.get("psp_request")?.get("approval_id"));
    let start = json!({ "approval_id": approval, "status": "" });
    let start = serde_json::to_string_pretty(&start).unwrap_or_default();
    let question = Question::new(
        "The vendor's response",
        "--psp-response",
        "the payment response",
    );
    match context.prompter.edit(&question, editor, &start, ".json") {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err("the file was not changed".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses the payment vendor's answer: a JSON object, or a text in JSON's quotation marks. The specification says nothing
/// of its form.
pub(crate) fn payment_answer(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(answer) if answer.is_object() || answer.is_string() => Ok(answer),
        Ok(_) => Err("the payment response is neither a JSON object nor a JSON string".to_owned()),
        // serde's message would quote the answer, which is confidential.
        Err(error) => Err(format!(
            "the payment response is not valid JSON: line {}, column {}",
            error.line(),
            error.column()
        )),
    }
}

async fn ask_fields(context: &Context, action: Option<&Value>) -> Result<Continuation> {
    let asked = asked_fields(action);
    if let Some(action) = action.filter(|_| asked.is_empty()) {
        context
            .out
            .note(&format!("The service is waiting for: {action}"));
    }
    let mut fields = Vec::new();
    for AskedField {
        name,
        label,
        is_typed,
    } in asked
    {
        let words = match label {
            Some(label) => format!("{label} ({name})"),
            None => name.clone(),
        };
        let question = Question::new(visible(&words).into_owned(), "-F", "the answer");
        let value = context.prompter.text(&question, None, &|_| Ok(())).await?;
        let answer = Field {
            key: name,
            value: value.into(),
        };
        fields.push(if is_typed { answer.typed() } else { answer });
    }
    if fields.is_empty() {
        let check = |line: &str| match line.trim().is_empty() {
            true => Ok(()),
            false => field(line).map(drop),
        };
        loop {
            let question =
                Question::new("Field as key=value (empty to finish)", "-F", "the answer");
            let line = context.prompter.text(&question, None, &check).await?;
            let Ok(answer) = field(&line) else {
                break;
            };
            fields.push(answer);
        }
    }
    if fields.is_empty() {
        return Err(Error::new(Code::Declined, "Nothing was sent."));
    }
    Ok(Continuation::Fields(body(fields)?))
}

fn answered<T>(answer: Until<T>) -> Option<T> {
    match answer {
        Until::Answered(answer) => Some(answer),
        Until::TimedOut => None,
    }
}

#[cfg(test)]
mod tests {
    use super::payment_answer;

    #[test]
    fn a_payment_answer_is_an_object_or_a_text_and_anything_else_is_refused_without_being_repeated()
    {
        assert!(payment_answer("{\"approval_id\": \"a\"}").is_ok());
        assert!(payment_answer("\"vpr_1.approved\"").is_ok());
        for text in ["", "[1]", "secret", "[\"secret\"]", "{\"secret\": "] {
            let why = payment_answer(text).unwrap_err();
            assert!(!why.contains("secret"), "{why}");
        }
    }
}
