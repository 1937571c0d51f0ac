use serde_json::json;

use super::session_list;
use crate::app::in_flight::{InFlight, declined_to_interrupted};
use crate::app::input::{one_time_code, read_stdin};
use crate::app::pages::waits_for_code;
use crate::app::{Api, Effect, Facts, Parts, Ui};
use crate::booking::arguments::ExtraFields;
use crate::booking::book::walk::not_empty;
use crate::booking::confirmation::Confirmation;
use crate::booking::find::locate::locate_session;
use crate::booking::finish::preview;
use crate::journal::recent::RecentList;
use crate::json::Document;
use crate::outcome::word::Word;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell;
use crate::service::client::{Answer, Call, Failure, session};
use crate::service::documents::{Certainty, Session, contact, fold, id, same_id};
use crate::service::mapping::Dialect;
use crate::terminal::output::{DocumentView, Page, Tone};
use crate::terminal::prompt::{Prompter, Question};
use crate::terminal::view::Fields;

const CHECK_FIRST: &str = "check before trying again: bookctl session list";

/// Connect a guest's own account, to book with it
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    Connect(Connect),
    Verify(Verify),
    List(session_list::Args),
    Show(One),
    Disconnect(Disconnect),
}

impl Command {
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Command::List(_) | Command::Show(_))
    }
}

impl Default for Command {
    fn default() -> Self {
        Command::List(session_list::Args::default())
    }
}

/// Connect an account with a code that is sent to the guest by text message
///
/// On a terminal, bookctl prompts for what is missing, and for the code. In a script, run
/// `connect`, then `verify` with the code. bookctl never repeats a connect request by itself,
/// because each one sends a text message.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl session connect --end-user user_7 --phone '+44 20 7946 0018'\n  \
    bookctl session verify ses_01 --code 123456\n  \
    bookctl book --end-user user_7")]
pub(crate) struct Connect {
    /// Name the guest by your own id
    #[arg(long, value_name = "ID")]
    end_user: Option<String>,
    /// Send the code to this phone number
    #[arg(long, value_name = "PHONE", value_parser = contact::phone)]
    phone: Option<String>,
    /// Connect the account at this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

/// Enter the code that the guest received
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl session verify ses_01 --code 123456\n  \
    bookctl sandbox inbox \\\n    --jq '.messages[] | select(.session_id == \"ses_01\").code' \\\n    | bookctl session verify ses_01 --code-stdin")]
pub(crate) struct Verify {
    /// Session id, @N for a row of the last list of sessions, or @last
    #[arg(value_parser = id)]
    session: String,
    /// Enter the code from the text message
    #[arg(long, value_name = "CODE", conflicts_with = "code_stdin")]
    code: Option<String>,
    /// Read the code from standard input
    #[arg(long)]
    code_stdin: bool,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

/// Show a session
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl session show ses_01")]
pub(crate) struct One {
    /// Session id, @N for a row of the last list of sessions, or @last
    #[arg(value_parser = id)]
    session: String,
}

/// Disconnect a session and delete its saved sign-in
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl session disconnect ses_01 --yes")]
pub(crate) struct Disconnect {
    /// Session id, @N for a row of the last list of sessions, or @last
    #[arg(value_parser = id)]
    session: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(parts: &Parts, command: Command) -> Result<Exit> {
    match command {
        Command::Connect(args) => connect(parts, args).await,
        Command::Verify(args) => verify(parts, args).await,
        Command::List(args) => session_list::run(parts, &args).await,
        Command::Show(args) => {
            let id = locate_session(&parts.records, &args.session)?;
            let document = parts.api.read(Call::get(session::path(&id))).await?.document;
            parts.api.facts.mapping().session(&document)?;
            emit_one(parts, document, &id, Code::UnexpectedAnswer)
        }
        Command::Disconnect(args) => disconnect(parts, args).await,
    }
}

async fn verify(parts @ Parts { api, records, ui, .. }: &Parts, args: Verify) -> Result<Exit> {
    let session = locate_session(records, &args.session)?;
    let code = match args.code {
        Some(code) => one_time_code(&code, "--code")?,
        None if args.code_stdin => one_time_code(&read_stdin().await?, "--code-stdin")?,
        None => {
            if ui.prompter.interactive() {
                let whose = whose(api, &session).await?;
                let note = format!("Session {session}{whose} is waiting for its code.");
                ui.out.note(&note);
            }
            one_time_code(&ask_code(&api.facts, ui).await?, "--code")?
        }
    };
    let call = session::verify(&session, &code, api.facts.mapping())?;
    let call = args.extra.add_to(call)?;
    if args.dry_run {
        return preview(&api.facts, ui, call);
    }
    api.facts.before_change()?;
    let document = send_once(api, &call).await?.document;
    finish_verified(parts, document, &session).await
}

/// Ends a command that sent a code: the session is active then (spec, States and transitions). One
/// that still waits for a code, or is in another state, is 7. A response that does not show its
/// state proves nothing (16), so the session is read then.
async fn finish_verified(parts: &Parts, mut document: Document, id: &str) -> Result<Exit> {
    let Parts { api, ui, .. } = parts;
    let show = shell::command("session show", id, "");
    let read = |it: &Document| api.facts.mapping().written_session(it);
    let shows_state = |it: &Document| read(it).state.is_some();
    if !shows_state(&document) {
        let accepted = format!("the service accepted a code for session {id}");
        api.in_flight.replace(InFlight::Other(accepted.clone(), show.clone()));
        let again = api.read(Call::get(session::path(id))).await.ok().map(|answer| answer.document);
        document = again.filter(shows_state).ok_or_else(|| {
            let what = format!("the outcome is unknown: {accepted}, but does not show its state");
            Error::new(Code::OutcomeUnknown, what).hint(format!("see it: {show}")).body(document)
        })?;
        api.in_flight.take();
    }
    let session = read(&document);
    let exit = emit_one(parts, document, id, Code::OutcomeUnknown)?;
    if session.is(Word::ACTIVE) {
        return Ok(exit);
    }
    let state = session.state.as_deref().unwrap_or_default();
    let is = match session.is(Word::PENDING) {
        true => "still waits for one".to_owned(),
        false => format!("is {state}"),
    };
    let what = format!("the service accepted the code, but the session {is}");
    ui.out.warn(&format!("{what}; see it: {show}"));
    Ok(Exit::Refused)
}

/// Whose session it is, and at which provider, as the service shows it: ` of user_7 at provider_b`.
async fn whose(api: &Api, id: &str) -> Result<String> {
    let document = api.read(Call::get(session::path(id))).await?.document;
    let session = api.facts.mapping().session(&document)?;
    let part = |word: &str, text: Option<String>| {
        text.map(|text| format!(" {word} {text}")).unwrap_or_default()
    };
    Ok(part("of", session.end_user) + &part("at", session.provider))
}

async fn disconnect(parts: &Parts, args: Disconnect) -> Result<Exit> {
    let Parts { api, records, ui, .. } = parts;
    let id = locate_session(records, &args.session)?;
    let call = Call::delete(session::path(&id));
    if args.dry_run {
        return preview(&api.facts, ui, call);
    }
    api.facts.before_change()?;
    if !args.yes {
        let declined = "Nothing was disconnected.";
        let mut confirmation = Confirmation::new("disconnecting", "", declined);
        confirmation.check(&ui.prompter)?;
        let its = format!("{id}{}", whose(api, &id).await?);
        ui.out.note("This deletes the guest's saved sign-in.");
        confirmation.question = format!("Disconnect {its}?");
        confirmation.ask(&ui.prompter).await?;
    }
    let mut document = send_once(api, &call).await?.document;
    // Without a document, success is the whole result.
    if document.value().is_null() {
        document = json!({"id": id, "object": "session", "deleted": true}).into();
    }
    let remains = api.facts.mapping().written_session(&document).remains();
    let exit = emit_one(parts, document, &id, Code::OutcomeUnknown)?;
    if !remains {
        return Ok(exit);
    }
    ui.out.warn(&format!(
        "the service accepted the request, but its response does not show that the session was disconnected; check it: {}",
        shell::command("session show", &id, "")
    ));
    Ok(Exit::Refused)
}

/// Writes the response about a session. What cannot be read is listed unchanged: the call has done
/// its work. Another session than the requested one is the error `mistaken`; only a person sees it.
fn emit_one(parts: &Parts, document: Document, id: &str, mistaken: Code) -> Result<Exit> {
    let Parts { api: Api { facts, .. }, records, ui, .. } = parts;
    let session = facts.mapping().written_session(&document);
    let another = session.id.as_ref().filter(|answered| !same_id(answered, id)).map(|another| {
        let what = format!("the service returned session {another} instead of {id}");
        Error::new(mistaken, what).body(document.clone())
    });
    if ui.out.is_human() || another.is_none() {
        let page = |_: &Document| session_page(&session, facts.certainty());
        ui.out.emit(&DocumentView(document, page))?;
    }
    if ui.out.is_human() && another.is_none() {
        records.remember_last(RecentList::LastSession, id);
    }
    another.map_or(Ok(Exit::Done), Err)
}

async fn connect(parts @ Parts { api, records, ui, .. }: &Parts, args: Connect) -> Result<Exit> {
    let dialect = api.facts.dialect();
    // The sandbox's own name of a provider says nothing at a service that has a profile.
    let is_set = dialect.provider_b != Dialect::default().provider_b;
    let is_profile = api.facts.target().service().is_some_and(|it| it.profile.is_some());
    let own = (is_set || !is_profile).then_some(&*dialect.provider_b);
    let provider = args.provider.as_deref().or(own);
    let end_user = match args.end_user {
        Some(end_user) => end_user,
        None => ask_end_user(&ui.prompter).await?,
    };
    let phone = match args.phone {
        None if ui.prompter.interactive() => Some(ask_phone(&ui.prompter).await?),
        phone => phone,
    };
    let phone = phone.as_deref();
    let call = session::connect(&end_user, provider, phone, api.facts.mapping())?;
    let call = args.extra.add_to(call)?;
    if args.dry_run {
        return preview(&api.facts, ui, call);
    }
    api.facts.before_change()?;
    let Answer { status, document, .. } = send_once(api, &call).await?;
    let session = api
        .facts
        .mapping()
        .session(&document)
        .map_err(|why| Failure::no_booking(status, why).into_error(&call).hint(CHECK_FIRST))?;
    let id = session.id.clone().unwrap_or_default();
    let requested = [
        ("end_user", &session.end_user, Some(&*end_user)),
        ("provider", &session.provider, args.provider.as_deref()),
    ];
    let another = requested.into_iter().find_map(|(name, displayed, requested)| {
        let (displayed, requested) = (displayed.as_ref()?, requested?);
        (fold(displayed) != fold(requested))
            .then(|| format!("{name} is {displayed}, not {requested}"))
    });
    if let Some(difference) = another {
        let what = format!("the service returned another session than was asked for: {difference}");
        let error = Error::new(Code::OutcomeUnknown, what).hint(CHECK_FIRST).body(document.clone());
        if ui.out.is_human() {
            let page = |_: &Document| session_page(&session, api.facts.certainty());
            ui.out.emit(&DocumentView(document, page))?;
        }
        return Err(error);
    }
    if !id.is_empty() {
        records.remember_last(RecentList::LastSession, &id);
    }
    if ui.prompter.interactive() && !session.is(Word::ACTIVE) {
        let to = phone.unwrap_or("the guest's phone");
        let note = format!("Sent a code to {to}. Session {id} of {end_user} is waiting for it.");
        ui.out.note(&note);
        loop {
            api.in_flight.replace(InFlight::Other(
                format!("session {id} is waiting for its code"),
                shell::command("session verify", &id, "--code CODE"),
            ));
            let code = ask_code(&api.facts, ui).await.map_err(declined_to_interrupted)?;
            match send_once(api, &session::verify(&id, &code, api.facts.mapping())?).await {
                Ok(answer) => return finish_verified(parts, answer.document, &id).await,
                // The person may try again as long as the session accepts codes.
                Err(error) if error.code == Code::InvalidCode && waits_for_code(api, &id).await => {
                    ui.out.warn(&error.message);
                }
                Err(error) => return Err(error),
            }
        }
    }
    emit_one(parts, document, &id, Code::OutcomeUnknown)
}

/// Sends a call that must not be repeated where something may have been done.
async fn send_once(api: &Api, call: &Call) -> Result<Answer> {
    let in_flight = InFlight::Sent(call.name(), CHECK_FIRST.to_owned());
    let done = api.result(api.exchange(call, Effect::Change(in_flight)).await, call);
    api.in_flight.take();
    done
}

async fn ask_end_user(prompter: &Prompter<'_>) -> Result<String> {
    let text = "Guest's id at your organization (e.g. ada@example.com)";
    let question = Question::new(text, "--end-user", "the guest's id");
    let check = |text: &str| not_empty(text, "enter the guest's id");
    Ok(prompter.text(&question, None, &check).await?)
}

async fn ask_phone(prompter: &Prompter<'_>) -> Result<String> {
    let text = "Guest's phone (the code is sent there)";
    let question = Question::new(text, "--phone", "the phone number");
    let check = |text: &str| contact::phone(text).map(drop);
    Ok(prompter.text(&question, None, &check).await?)
}

async fn ask_code(facts: &Facts, ui: &Ui) -> Result<String> {
    let question = Question::new("Code from the text message", "--code", "the code").fleeting();
    // Elsewhere a code may be anything.
    let has_digits = facts.certainty() == Certainty::Contract;
    let check = |text: &str| match &*one_time_code(text, "--code").unwrap_or_default() {
        "" => Err("enter the code".to_owned()),
        code if has_digits && (code.len() < 4 || !code.bytes().all(|it| it.is_ascii_digit())) => {
            Err("enter all digits of the code".to_owned())
        }
        _ => Ok(()),
    };
    Ok(ui.prompter.text(&question, None, &check).await?)
}

/// The page of a session; of an answer that has none in it, what came.
fn session_page(session: &Session, certainty: Certainty) -> Page {
    let fields = &mut Fields::from_document(&session.value);
    let id = fields.scalar("id").unwrap_or_default();
    let is_deleted = session.is_deleted == Some(true);
    let state = fields.scalar("state").filter(|_| !is_deleted);
    let is_active = session.is(Word::ACTIVE) && !is_deleted;
    let mut page = Page::default();
    match &state {
        Some(state) if is_active => page.heading(Tone::Good, state, &id),
        Some(state) => page.heading(Tone::Warn, state, &id),
        None if is_deleted => page.heading(Tone::Dim, "disconnected", &id),
        None => page.heading(Tone::Warn, "done", &id),
    };
    if is_deleted {
        fields.take("deleted");
    }
    let person = fields.scalar("end_user");
    page.field_if("guest", person.as_deref());
    page.field_if("provider", fields.scalar("provider"));
    page.field_if("created", fields.time_text("created_at"));
    for (path, value) in fields.rest().iter().chain(&session.envelope_fields) {
        page.field("other", format!("{path} = {value}"));
    }
    if is_active {
        if let Some(person) = &person {
            let person = shell::flag("--end-user", person);
            page.next(format!("bookctl book {person}"));
        }
        page.next(shell::command("card", &id, ""));
    } else if session.waits_for_code(certainty) && !is_deleted {
        page.next(shell::command("session verify", &id, "--code CODE"));
    } else if let (Some(_), Some(person)) = (state, person) {
        let person = shell::flag("--end-user", &person);
        page.next(format!("bookctl session connect {person}"));
    }
    page
}
