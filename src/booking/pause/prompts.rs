//! Asks for what a paused booking needs (a code, a payment answer, other fields), and sends it.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::send_answer;
use crate::app::in_flight::InFlight;
use crate::app::{Api, Parts, input};
use crate::booking::{finish, watch::wait};
use crate::json::plain;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell;
use crate::platform::system::process::USUAL_EDITOR;
use crate::service::client::{Call, Continuation};
use crate::service::documents::field::{Field, body, field};
use crate::service::documents::{Booking, Status};
use crate::service::mapping::Pause;
use crate::terminal::output::View as _;
use crate::terminal::prompt::{Deadline, PromptError, Prompter, Question};
use crate::terminal::view::requested_fields;

/// Asks and answers until the booking no longer waits.
pub(crate) async fn answer_pauses(parts: &Parts, mut booking: Booking) -> Result<Booking> {
    let is_sandbox = parts.api.is_sandbox().await;
    let before = parts.api.in_flight.replace(InFlight::known(&booking));
    let mut is_sent = !matches!(before, InFlight::Nothing);
    let mut displayed = false;
    let mut previous_answers = HashMap::new();
    while booking.status() == Status::RequiresAction {
        if !displayed {
            // Its amount and reference are part of the story.
            finish::record(parts, &booking);
            show_pause(parts, &booking);
            displayed = true;
        }
        let clock = parts.api.facts.live_clock();
        let until = booking.waits_until();
        let deadline = until.map(|at| Deadline { at, clock: &clock });
        let mut asking = Asking {
            parts,
            booking: &booking,
            is_sandbox,
            prompter: parts.ui.prompter.until(deadline),
            previous_answers: &mut previous_answers,
        };
        let answer = match booking.is_overdue(clock()) {
            true => Err(PromptError::TooLate),
            false => asking.ask().await,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(PromptError::TooLate) => {
                parts.ui.out.note("The time to answer is up.");
                return wait::read_booking(&parts.api, booking.id()).await;
            }
            Err(PromptError::Back) => return Err(is_unresolved(&booking, is_sent)),
            Err(error) => return Err(error.into()),
        };
        is_sent = true;
        booking = match send_answer(parts, booking.id(), &answer).await {
            Ok((still, Some(error))) => {
                parts.ui.out.warn(&error.message);
                booking = still;
                continue;
            }
            // What was accepted, and is not shown, is not asked for again.
            Ok((next, None)) if next.next_action() == booking.next_action() => return Ok(next),
            Ok((next, None)) => next,
            // The booking stopped waiting in the meantime. The person needs to see how it ended.
            Err(error) if error.http_status == Some(409) => {
                parts.ui.out.note(&error.message);
                wait::read_booking(&parts.api, booking.id()).await?
            }
            Err(error) => return Err(error),
        };
        // Another pause may follow, which has to be shown.
        displayed = false;
        previous_answers.clear();
    }
    Ok(booking)
}

/// Who leaves the question leaves the booking as it is. That is no error, and has the exit code of
/// an interrupt once something was sent.
fn is_unresolved(booking: &Booking, is_sent: bool) -> Error {
    let what = format!("Booking {} is still waiting.", booking.id());
    let answer = shell::command("continue", booking.id(), "");
    let error = Error::new(Code::Declined, what).hint(format!("answer it: {answer}"));
    if is_sent { error.exiting(Exit::Interrupted) } else { error }
}

pub(crate) fn show_pause(parts: &Parts, booking: &Booking) {
    let page = finish::booking_view(parts, booking).page();
    parts.ui.out.show(&page.without_commands());
}

// The ways to answer a payment. A sandbox stands for the vendor too.
const APPROVE: &str = "Approve it as the vendor would (sandbox)";
const FILE: &str = "Read the vendor's response from a file";
const EDITOR: &str = "Write it in an editor";
const PASTE: &str = "Paste it";
const ABORT: &str = "Abort the payment (the booking then fails)";

pub(crate) const ABORTS: &str = "Abort the payment? The booking then fails";

fn payment_question(text: &'static str) -> Question {
    Question::new(text, "--psp-response", "the payment response")
}

/// Where what was written in the editor is kept, so that a mistake in it can be mended. No field
/// has an empty name.
const WRITTEN: &str = "";

/// One answer that a person is asked for.
struct Asking<'a> {
    parts: &'a Parts,
    booking: &'a Booking,
    is_sandbox: bool,
    /// Asks until the booking's deadline.
    prompter: Prompter<'a>,
    /// What was typed for an answer that was refused.
    previous_answers: &'a mut HashMap<String, String>,
}

impl Asking<'_> {
    async fn ask(&mut self) -> Result<Continuation, PromptError> {
        let action = self.booking.next_action();
        match self.parts.api.facts.dialect().pause(action) {
            Pause::Otp => self.code().await,
            Pause::Payment => self.payment().await,
            Pause::Other => self.fields(action).await,
        }
    }

    /// The one-time code. That of a sandbox is offered: Enter takes it, and a code of another form
    /// is refused before it costs a try. Nothing says what the codes of other services look like.
    async fn code(&self) -> Result<Continuation, PromptError> {
        let offered = match self.is_sandbox {
            true => code_of_the_inbox(&self.parts.api, self.booking.id()).await,
            false => None,
        };
        let mut question = Question::new("One-time code", "--otp", "the one-time code").fleeting();
        if let Some(code) = &offered {
            let hint = format!("Enter uses {} from the sandbox's inbox", code);
            question = question.hint(hint);
        }
        let is_like = |code: &str, offered: &str| {
            code.len() == offered.len() && code.bytes().all(|byte| byte.is_ascii_digit())
        };
        let check = |code: &str| match (code, &offered) {
            ("", _) => Err("enter the code".to_owned()),
            (code, Some(offered)) if !is_like(code, offered) => {
                Err(format!("the code has {} digits", offered.len()))
            }
            _ => Ok(()),
        };
        let check = |code: &str| check(&input::one_time_code(code, "--otp").unwrap_or_default());
        let code = self.prompter.text(&question, offered.as_deref(), &check);
        let code = input::one_time_code(&code.await?, "--otp")?;
        Ok(Continuation::Otp(code, serde_json::Map::new()))
    }

    async fn payment(&mut self) -> Result<Continuation, PromptError> {
        let out = &self.parts.ui.out;
        let id = self.booking.next_action().and_then(|it| it.pointer("/psp_request/approval_id"));
        let approves = self.is_sandbox && id.is_some();
        let ways = &[APPROVE, FILE, EDITOR, PASTE, ABORT][usize::from(!approves)..];
        loop {
            let question = payment_question("Payment response");
            let row = self.prompter.choose(&question, ways).await?;
            match self.answer_by(ways[row], id).await {
                // Esc leads back to the ways.
                Err(PromptError::Back) => {}
                // A mistake can be mended.
                Err(PromptError::Failed(error)) if error.code != Code::Interrupted => {
                    out.warn(&error.message);
                    if let Some(id) = id.map(plain) {
                        let note = format!("This payment's response has the approval_id {id}.");
                        out.note(&note);
                    }
                }
                answer => return answer,
            }
        }
    }

    async fn answer_by(
        &mut self,
        way: &str,
        id: Option<&Value>,
    ) -> Result<Continuation, PromptError> {
        let prompter = &self.prompter;
        let text = match way {
            APPROVE => json!({ "approval_id": id, "status": "approved" }).to_string(),
            FILE => {
                let question = payment_question("File with the vendor's response");
                let path = prompter.text(&question, None, &|_| Ok(())).await?;
                input::read_file(&path).await?
            }
            EDITOR => {
                let environment = &self.parts.settings.environment;
                let editor = environment.visual.as_ref().or(environment.editor.as_ref());
                let editor = editor.and_then(|editor| editor.to_str());
                let form = || format!("{:#}", json!({ "approval_id": id, "status": "" }));
                let start = self.previous_answers.get(WRITTEN).cloned().unwrap_or_else(form);
                let question = payment_question("The vendor's response");
                let text = prompter.edit(&question, editor.unwrap_or(USUAL_EDITOR), &start)?;
                let text = text.ok_or_else(|| Error::usage("the file was not changed"))?;
                self.previous_answers.insert(WRITTEN.to_owned(), text.clone());
                text
            }
            PASTE => {
                // Pasted without echo, so that it does not stay in the terminal's scrollback.
                let text = "Paste the vendor's response (JSON, never a card number)";
                let question = payment_question(text).hidden();
                prompter.text(&question, None, &|_| Ok(())).await?
            }
            _ => {
                let question = Question::new(ABORTS, "--psp-abort", "the confirmation");
                let is_meant = prompter.confirm(&question, false).await?;
                return is_meant.then_some(Continuation::PspAbort).ok_or(PromptError::Back);
            }
        };
        Ok(Continuation::PspResponse(payment_answer(&text).map_err(Error::usage)?))
    }

    async fn fields(&mut self, action: Option<&Value>) -> Result<Continuation, PromptError> {
        let requested = requested_fields(action);
        let mut fields = Vec::new();
        for it in &requested {
            let name = &it.name;
            let words = match &it.label {
                Some(label) => format!("{label} ({name})"),
                None => name.clone(),
            };
            let question = Question::new(words, "-F", "the answer");
            let check = |text: &str| match text.is_empty() && !it.is_optional {
                true => Err(format!("{} cannot be empty", name)),
                false => Ok(()),
            };
            let question = question.previous_answer(self.previous_answers.remove(name));
            let value = self.prompter.text(&question, None, &check).await?;
            self.previous_answers.insert(name.clone(), value.clone());
            let answer = Field { key: name.clone(), value: value.into() };
            fields.push(if it.is_typed { answer.typed() } else { answer });
        }
        if requested.is_empty() {
            if let Some(action) = action {
                let note = format!("The service is waiting for: {action}");
                self.parts.ui.out.note(&note);
            }
            let check = |line: &str| match line.trim().is_empty() {
                true => Ok(()),
                false => field(line).map(drop),
            };
            let question =
                Question::new("Field as key=value (empty to finish)", "-F", "the answer");
            while let Ok(answer) = field(&self.prompter.text(&question, None, &check).await?) {
                fields.push(answer);
            }
        }
        // A line that was meant for another window is no answer.
        let question = Question::new("Send these answers?", "-F", "the confirmation");
        if fields.is_empty() || !self.prompter.confirm(&question, false).await? {
            return Err(PromptError::Back);
        }
        Ok(Continuation::Fields(body(fields)?))
    }
}

/// The code of this booking that a sandbox has sent, if its inbox has one.
async fn code_of_the_inbox(api: &Api, id: &str) -> Option<String> {
    let inbox = api.control(Call::get("/sandbox/inbox")).await.ok()?;
    let messages = inbox.document.value().get("messages")?.as_array()?;
    let of_this = |message: &&Value| message.get("booking_id").and_then(Value::as_str) == Some(id);
    let code = messages.iter().find(of_this)?.get("code")?.as_str()?;
    (!code.is_empty()).then(|| code.to_owned())
}

/// Parses the payment vendor's answer: a JSON object, or a text in JSON's quotation marks. The
/// specification says nothing of its form.
pub(crate) fn payment_answer(text: &str) -> Result<Value, String> {
    let why = match serde_json::from_str::<Value>(text) {
        // Tokens of vendors have other characters, too.
        Ok(Value::String(answer)) if is_card_number(&answer) => {
            "it looks like a card number".to_owned()
        }
        Ok(answer) if answer.is_object() || answer.is_string() => return Ok(answer),
        Ok(_) => "it is neither a JSON object nor a JSON string".to_owned(),
        Err(_) if text.trim().is_empty() => "it is empty".to_owned(),
        // serde's message would quote the answer, which is confidential.
        Err(error) => {
            format!("it is not valid JSON: line {}, column {}", error.line(), error.column())
        }
    };
    Err(format!(
        "this is not the payment vendor's response: {why}; pass the JSON that the vendor's payment page returned, \
         never a card number"
    ))
}

fn is_card_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 13 && text.bytes().all(|it| b"0123456789 -".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::payment_answer;

    #[test]
    fn payment_answer_is_object_or_text() {
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
