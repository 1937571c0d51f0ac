use serde_json::{Value, json};

use super::field::Extra;
use crate::adapter::list;
use crate::app::Context;
use crate::app::in_flight::Situation;
use crate::client::{Call, session};
use crate::flows::{Confirmation, not_a_list, preview, read_stdin, send_guarded};
use crate::json::{Document, plain};
use crate::model::id::id;
use crate::model::shell;
use crate::model::time_text::human;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::terminal::prompt::Question;

/// Connect a guest's own account, to book with it
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    Connect(Connect),
    Verify(Verify),
    List(List),
    Show(One),
    Disconnect(Disconnect),
}

/// Connect an account with a code that is sent to the person by text message
///
/// On a terminal, bookctl prompts for the code. In a script, run `connect`, then `verify` with the code. bookctl never
/// repeats a connect request by itself, because each one sends a text message.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl session connect --end-user user_7 --phone '+44 20 7946 0018'\n  \
    bookctl session verify ses_01 --code 123456")]
pub(crate) struct Connect {
    /// Person, by your own id
    #[arg(long, value_name = "U")]
    end_user: String,
    /// Phone number for the text message
    #[arg(long, value_name = "P")]
    phone: Option<String>,
    /// Provider of the account [default: the one that has sessions]
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    #[command(flatten)]
    extra: Extra,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

/// Enter the code that the person received
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl session verify ses_01 --code 123456\n  \
    bookctl sandbox inbox --jq '.messages[0].code' | bookctl session verify ses_01 --code-stdin")]
pub(crate) struct Verify {
    /// Session id
    #[arg(value_parser = id)]
    session: String,
    /// Code from the text message
    #[arg(long, value_name = "C", conflicts_with = "code_stdin")]
    code: Option<String>,
    /// Read the code from standard input
    #[arg(long)]
    code_stdin: bool,
    #[command(flatten)]
    extra: Extra,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

/// List sessions
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl session list\n  \
    bookctl session list --end-user user_7 --state active --jq '.sessions[].id'")]
pub(crate) struct List {
    /// List only sessions of this person
    #[arg(long, value_name = "U")]
    end_user: Option<String>,
    /// List only sessions of this provider
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// List only sessions in this state
    #[arg(long, value_name = "S")]
    state: Option<String>,
}

/// Show a session
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl session show ses_01")]
pub(crate) struct One {
    /// Session id
    #[arg(value_parser = id)]
    session: String,
}

/// Disconnect a session and delete its saved sign-in
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl session disconnect ses_01 --yes")]
pub(crate) struct Disconnect {
    /// Session id
    #[arg(value_parser = id)]
    session: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    let dialect = context.dialect();
    let document = match command {
        Command::Connect(args) => return connect(context, args).await,
        Command::Verify(args) => {
            let code = code(context, &args).await?;
            let call = session::verify(&args.session, &code, &dialect);
            let call = args.extra.add_to(call)?;
            if args.dry_run {
                return preview(context, call);
            }
            context.before_change()?;
            send_once(context, call).await?
        }
        Command::Show(args) => context.read(session::show(&args.session)).await?.document,
        Command::Disconnect(args) => {
            let call = session::disconnect(&args.session);
            if args.dry_run {
                return preview(context, call);
            }
            context.before_change()?;
            if !args.yes {
                confirm(context, &args.session).await?;
            }
            let answer = send_once(context, call).await?;
            // Where the service has nothing to say of it, that it is done is all.
            match answer.value() {
                Value::Null => {
                    json!({"id": args.session, "object": "session", "deleted": true}).into()
                }
                _ => answer,
            }
        }
        Command::List(args) => return list_all(context, &args).await,
    };
    context.out.emit(&SessionView(document))?;
    Ok(Exit::Done)
}

async fn connect(context: &Context, args: Connect) -> Result<Exit> {
    let dialect = context.dialect();
    let provider = args.provider.as_deref().unwrap_or(&dialect.provider_b);
    let call = session::connect(&args.end_user, provider, args.phone.as_deref(), &dialect);
    let call = args.extra.add_to(call)?;
    if args.dry_run {
        return preview(context, call);
    }
    context.before_change()?;
    let mut document = send_once(context, call).await?;
    let id = document.str("id").unwrap_or_default().to_owned();
    if context.prompter.interactive() && document.str("state") != Some("active") && !id.is_empty() {
        let to = args.phone.as_deref().unwrap_or("the person's phone");
        context.out.note(&format!(
            "Sent a code to {to}. Session {id} is waiting for it."
        ));
        document = loop {
            context.situation.replace(Situation::Texted {
                session: id.clone(),
            });
            let code = ask_code(context).await?;
            match send_once(context, session::verify(&id, &code, &dialect)).await {
                Ok(document) => break document,
                // Another try is the person's to decide, as long as a code can be right.
                Err(error) if error.code == Code::InvalidCode && waits(context, &id).await => {
                    context.out.warn(&error.message);
                }
                Err(error) => return Err(error),
            }
        };
    }
    context.out.emit(&SessionView(document))?;
    Ok(Exit::Done)
}

/// Whether the session still waits for its code: it is too late for one that was wrong too often, or is too old.
async fn waits(context: &Context, id: &str) -> bool {
    match context.read(session::show(id)).await {
        Ok(answer) => answer.document.str("state") == Some("pending"),
        // Whether it does cannot be told; the next answer will.
        Err(_) => true,
    }
}

/// Sends a call that must not be repeated where something may have been done.
async fn send_once(context: &Context, call: Call) -> Result<Document> {
    let in_flight = || Situation::Sent {
        request: call.name(),
    };
    let sent = send_guarded(context, &call, in_flight, "sending the request").await?;
    context.situation.replace(Situation::Nothing);
    sent.map(|answer| answer.document).map_err(|failure| {
        let is_open = failure.leaves_a_write_open();
        let error = failure.into_error(&call);
        match is_open {
            true => error.hint("check before trying again: bookctl session list"),
            false => error,
        }
    })
}

async fn code(context: &Context, args: &Verify) -> Result<String> {
    if let Some(code) = &args.code {
        return Ok(code.clone());
    }
    if !args.code_stdin {
        return ask_code(context).await;
    }
    let text = read_stdin().await?;
    match text.trim() {
        "" => Err(Error::usage("no code on standard input")),
        code => Ok(code.to_owned()),
    }
}

async fn ask_code(context: &Context) -> Result<String> {
    let question = Question::new("Code from the text message", "--code", "the code").fleeting();
    let check = |text: &str| match text.trim() {
        "" => Err("enter the code".to_owned()),
        _ => Ok(()),
    };
    Ok(context.prompter.text(&question, None, &check).await?)
}

async fn confirm(context: &Context, id: &str) -> Result<()> {
    let id = crate::terminal::output::visible(id);
    let confirmation = Confirmation {
        action: "disconnecting",
        question: format!("Disconnect {id} and delete its saved sign-in?"),
        declined: "Nothing was disconnected.",
    };
    confirmation.ask(&context.prompter).await
}

async fn list_all(context: &Context, args: &List) -> Result<Exit> {
    let call = session::list(&[
        ("end_user", args.end_user.as_deref()),
        ("provider", args.provider.as_deref()),
        ("state", args.state.as_deref()),
    ]);
    let document = context.read(call).await?.document;
    let field = context.dialect().sessions_field;
    let sessions = list(document.value(), &field).ok_or_else(|| not_a_list("sessions", &field))?;
    let empty = sessions.is_empty();
    let rows = sessions.iter().map(row).collect();
    context.out.emit(&SessionList {
        document: document.clone(),
        rows,
    })?;
    if empty && context.out.is_human() {
        context.out.note("No sessions found.");
    }
    Ok(Exit::Done)
}

fn row(session: &Value) -> Vec<String> {
    let cell = |field: &str| session.get(field).map(plain).unwrap_or_default();
    vec![
        cell("id"),
        cell("state"),
        cell("end_user"),
        cell("provider"),
        human(&cell("created_at")),
    ]
}

struct SessionList {
    document: Document,
    rows: Vec<Vec<String>>,
}

impl View for SessionList {
    fn json(&self) -> Document {
        self.document.clone()
    }

    fn page(&self) -> Page {
        let rows = self.rows.iter();
        let rows = rows.map(|row| {
            row.iter()
                .map(|cell| TableCell::from(cell.as_str()))
                .collect()
        });
        let mut page = Page::default();
        let headers = vec!["id", "state", "end user", "provider", "created"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}

struct SessionView(Document);

impl View for SessionView {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let session = &self.0;
        let id = session.str("id").unwrap_or_default();
        let mut page = Page::default();
        if session.value().get("deleted") == Some(&Value::Bool(true)) {
            page.heading(Tone::Dim, "disconnected", id);
            return page;
        }
        let state = session.str("state").unwrap_or("unknown");
        let tone = if state == "active" {
            Tone::Good
        } else {
            Tone::Warn
        };
        page.heading(tone, state, id);
        page.field_if("end user", session.str("end_user"));
        page.field_if("provider", session.str("provider"));
        page.field_if("created", session.str("created_at").map(human));
        let id = shell::word(id);
        match state {
            "pending" => page.next(format!("bookctl session verify {id} --code CODE")),
            "active" => page.next(format!("bookctl card {id}")),
            _ => match session.str("end_user") {
                Some(person) => page.next(format!(
                    "bookctl session connect --end-user {}",
                    shell::word(person)
                )),
                None => &mut page,
            },
        };
        page
    }
}
