//! Asks a person for what a paused booking needs (a one-time code, a payment answer, other fields), and sends it.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::finish::card;
use super::input::read_file;
use super::pause_answer::{AnswerOutcome, send_answer};
use super::wait::read_booking;
use crate::adapter::Pause;
use crate::app::Context;
use crate::app::in_flight::{InFlight, once_sent};
use crate::client::{Call, Continuation};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::field::{Field, body, field};
use crate::outcome::{Code, Error, Result};
use crate::platform::system::process::USUAL_EDITOR;
use crate::terminal::output::visible;
use crate::terminal::prompt::{Deadline, Question};
use crate::terminal::view::{AskedField, asked_fields, pause_page};

/// Asks and answers until the booking no longer waits.
pub(crate) async fn answer_pauses(context: &Context, booking: Booking) -> Result<Booking> {
    let mut booking = booking;
    let is_sandbox = context.is_sandbox().await;
    let known = InFlight::known(&booking);
    let before = context.in_flight.replace(known);
    let mut is_sent = !matches!(before, InFlight::Nothing);
    let mut shown = false;
    let mut former = HashMap::new();
    while booking.status() == Status::RequiresAction {
        if !shown {
            show_pause(context, &booking);
            shown = true;
        }
        let answer = ask(context, &booking, is_sandbox, &mut former).await;
        let Some(answer) = answer.map_err(|error| match is_sent {
            true => once_sent(error),
            false => error,
        })?
        else {
            context.out.note("The time to answer is up.");
            booking = read_booking(context, booking.id()).await?;
            break;
        };
        is_sent = true;
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
                former.clear();
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

pub(crate) fn show_pause(context: &Context, booking: &Booking) {
    context.out.show(&pause_page(&card(context, booking)));
}

/// One answer from the person; `None` if the deadline passed first. `former` has the fields of an answer that was refused.
async fn ask(
    context: &Context,
    booking: &Booking,
    is_sandbox: bool,
    former: &mut HashMap<String, String>,
) -> Result<Option<Continuation>> {
    let action = booking.next_action();
    let clock = context.live_clock();
    let deadline = booking.waits_until().map(|at| Deadline::new(at, &clock));
    match context.dialect().pause(action) {
        Pause::Otp => {
            let offered = match is_sandbox {
                true => code_of_the_inbox(context, booking.id()).await,
                false => None,
            };
            ask_code(context, offered.as_deref(), deadline.as_ref()).await
        }
        Pause::Payment => {
            ask_payment(context, booking, is_sandbox, former, deadline.as_ref()).await
        }
        Pause::Other => ask_fields(context, action, former, deadline.as_ref()).await,
    }
}

/// The code of this booking that a sandbox has sent, if its inbox has one.
async fn code_of_the_inbox(context: &Context, id: &str) -> Option<String> {
    let inbox = context.control(Call::get("/sandbox/inbox")).await.ok()?;
    let messages = inbox.document.value().get("messages")?.as_array()?;
    let of_this = |message: &&Value| message.get("booking_id").and_then(Value::as_str) == Some(id);
    let message = messages.iter().find(of_this)?;
    let code = message.get("code")?.as_str()?;
    (!code.is_empty()).then(|| code.to_owned())
}

/// Asks for the one-time code. That of a sandbox is `offered`: Enter takes it, and a code of another form is refused
/// before it costs a try. Nothing says what the codes of other services look like.
async fn ask_code(
    context: &Context,
    offered: Option<&str>,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Continuation>> {
    let mut question = Question::new("One-time code", "--otp", "the one-time code").fleeting();
    if let Some(code) = offered {
        let source = "the sandbox's inbox";
        question = question
            .hint(format!("Enter uses {} from {source}", visible(code)))
            .taken_from(source);
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits_of_a_code = offered.filter(|code| digits(code)).map(str::len);
    let check = |code: &str| match (code.trim(), digits_of_a_code) {
        ("", _) => Err("enter the code".to_owned()),
        (code, Some(length)) if !digits(code) || code.len() != length => {
            Err(format!("the code has {length} digits"))
        }
        _ => Ok(()),
    };
    let code = context
        .prompter
        .text_until(&question, offered, &check, deadline)
        .await?;
    Ok(code.map(|code| Continuation::Otp(code.trim().to_owned())))
}

#[derive(Clone, Copy)]
enum PaymentWay {
    /// Only at a sandbox, which stands for the vendor too.
    Approve,
    File,
    Editor,
    Paste,
    Abort,
}

impl PaymentWay {
    const fn text(self) -> &'static str {
        match self {
            Self::Approve => "Approve it as the vendor would (sandbox)",
            Self::File => "Read the vendor's response from a file",
            Self::Editor => "Write it in an editor",
            Self::Paste => "Paste it",
            Self::Abort => "Abort the payment (the booking then fails)",
        }
    }
}

fn approval_id(booking: &Booking) -> Option<&Value> {
    booking
        .next_action()?
        .get("psp_request")?
        .get("approval_id")
}

pub(crate) const ABORTS: &str = "Abort the payment? The booking then fails";

/// Asks whether to abort; no unless the person says yes. Returns `None` if the deadline passed.
async fn confirm_abort(context: &Context, deadline: Option<&Deadline<'_>>) -> Result<Option<bool>> {
    let question = Question::new(ABORTS, "--psp-abort", "the confirmation");
    let aborts = context.prompter.confirm_until(&question, false, deadline);
    Ok(aborts.await?)
}

async fn ask_payment(
    context: &Context,
    booking: &Booking,
    is_sandbox: bool,
    former: &mut HashMap<String, String>,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Continuation>> {
    use PaymentWay::{Abort, Approve, Editor, File, Paste};
    let approval = approval_id(booking).filter(|_| is_sandbox);
    let ways = match approval {
        Some(_) => &[Approve, File, Editor, Paste, Abort][..],
        None => &[File, Editor, Paste, Abort],
    };
    let rows: Vec<&str> = ways.iter().map(|way| way.text()).collect();
    loop {
        let question = Question::new("Payment response", "--psp-response", "the payment response");
        let way = context.prompter.choose_until(&question, &rows, deadline);
        let Some(way) = way.await? else {
            return Ok(None);
        };
        let text = match ways[way] {
            Approve => Ok(json!({ "approval_id": approval, "status": "approved" }).to_string()),
            File => match ask_file(context, deadline).await? {
                Some(text) => text,
                None => return Ok(None),
            },
            Editor => write_answer(context, booking, former),
            Paste => {
                // Pasted without echo, so that it does not stay in the terminal's scrollback.
                let question = Question::new(
                    "Paste the vendor's response (JSON, never a card number)",
                    "--psp-response",
                    "the payment response",
                )
                .hidden();
                match context.prompter.paste_until(&question, deadline).await? {
                    Some(text) => Ok(text),
                    None => return Ok(None),
                }
            }
            Abort => match confirm_abort(context, deadline).await? {
                Some(true) => return Ok(Some(Continuation::PspAbort)),
                Some(false) => continue,
                None => return Ok(None),
            },
        };
        match text.and_then(|text| payment_answer(&text)) {
            Ok(answer) => return Ok(Some(Continuation::PspResponse(answer))),
            Err(why) => {
                context.out.warn(&why);
                if let Some(id) = approval_id(booking) {
                    let id = plain(id);
                    context.out.note(&format!(
                        "This payment's response has the approval_id {id}."
                    ));
                }
            }
        }
    }
}

/// Asks for a file and reads it. Returns `None` if the deadline passed.
async fn ask_file(
    context: &Context,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Result<String, String>>> {
    let question = Question::new(
        "File with the vendor's response",
        "--psp-response",
        "the payment response",
    );
    let check = |path: &str| match path.trim().is_empty() {
        true => Err("enter a path".to_owned()),
        false => Ok(()),
    };
    let path = context
        .prompter
        .text_until(&question, None, &check, deadline);
    let Some(path) = path.await? else {
        return Ok(None);
    };
    let text = read_file(path.trim()).await;
    Ok(Some(text.map_err(|error| error.message.clone())))
}

/// Where what was written in the editor is kept, so that a mistake in it can be mended. No field has an empty name.
const WRITTEN: &str = "";

fn write_answer(
    context: &Context,
    booking: &Booking,
    former: &mut HashMap<String, String>,
) -> Result<String, String> {
    let environment = &context.environment;
    let editor = environment.visual.as_ref().or(environment.editor.as_ref());
    let editor = editor.and_then(|editor| editor.to_str());
    let editor = editor.unwrap_or(USUAL_EDITOR);
    let start = former.get(WRITTEN).cloned().unwrap_or_else(|| {
        let start = json!({ "approval_id": approval_id(booking), "status": "" });
        serde_json::to_string_pretty(&start).unwrap_or_default()
    });
    let question = Question::new(
        "The vendor's response",
        "--psp-response",
        "the payment response",
    );
    match context.prompter.edit(&question, editor, &start, ".json") {
        Ok(Some(text)) => {
            former.insert(WRITTEN.to_owned(), text.clone());
            Ok(text)
        }
        Ok(None) => Err("the file was not changed".to_owned()),
        Err(error) => Err(Error::from(error).message.clone()),
    }
}

/// Parses the payment vendor's answer: a JSON object, or a text in JSON's quotation marks. The specification says nothing
/// of its form.
pub(crate) fn payment_answer(text: &str) -> Result<Value, String> {
    let why = match serde_json::from_str::<Value>(text) {
        Ok(Value::String(answer)) if is_like_a_card_number(&answer) => {
            "it looks like a card number".to_owned()
        }
        Ok(answer) if answer.is_object() || answer.is_string() => return Ok(answer),
        Ok(_) => "it is neither a JSON object nor a JSON string".to_owned(),
        Err(_) if text.trim().is_empty() => "it is empty".to_owned(),
        // serde's message would quote the answer, which is confidential.
        Err(error) => format!(
            "it is not valid JSON: line {}, column {}",
            error.line(),
            error.column()
        ),
    };
    Err(format!(
        "this is not the payment vendor's response: {why}; pass the JSON that the vendor's payment page returned, \
         never a card number"
    ))
}

/// Whether a text has the form of a card number: 13 to 19 digits with the right check digit (ISO/IEC 7812). Most tokens of
/// vendors have other characters, too.
fn is_like_a_card_number(text: &str) -> bool {
    let is_of_one = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-');
    let digits = text.bytes().filter(u8::is_ascii_digit);
    let digits: Vec<u32> = digits.map(|byte| u32::from(byte - b'0')).collect();
    let counted = digits.iter().rev().enumerate().map(|(place, digit)| {
        let digit = digit * if place % 2 == 0 { 1 } else { 2 };
        digit / 10 + digit % 10
    });
    (13..=19).contains(&digits.len())
        && text.bytes().all(is_of_one)
        && counted.sum::<u32>() % 10 == 0
}

async fn ask_fields(
    context: &Context,
    action: Option<&Value>,
    former: &mut HashMap<String, String>,
    deadline: Option<&Deadline<'_>>,
) -> Result<Option<Continuation>> {
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
        is_optional,
    } in asked
    {
        let words = match label {
            Some(label) => format!("{label} ({name})"),
            None => name.clone(),
        };
        let question = Question::new(visible(&words).into_owned(), "-F", "the answer");
        let question = question.former(former.remove(&name));
        let check = |text: &str| match text.is_empty() && !is_optional {
            true => Err(format!("{} cannot be empty", visible(&name))),
            false => Ok(()),
        };
        let value = context
            .prompter
            .text_until(&question, None, &check, deadline);
        let Some(value) = value.await? else {
            return Ok(None);
        };
        former.insert(name.clone(), value.clone());
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
            let line = context
                .prompter
                .text_until(&question, None, &check, deadline);
            let Some(line) = line.await? else {
                return Ok(None);
            };
            let Ok(answer) = field(&line) else {
                break;
            };
            fields.push(answer);
        }
    }
    if fields.is_empty() {
        return Err(Error::new(Code::Declined, "Nothing was sent."));
    }
    Ok(Some(Continuation::Fields(body(fields)?)))
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
        for card in ["4111111111111111", "\"4111 1111 1111 1111\"", "4111-1"] {
            let why = payment_answer(card).unwrap_err();
            assert!(why.contains("never a card number") && !why.contains("4111"));
        }
    }
}
