use serde_json::{Value, json};

use super::field::ExtraFields;
use crate::adapter::list;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::{Call, session};
use crate::flows::{Confirmation, preview, read_stdin, send_guarded, understood};
use crate::json::{Document, plain};
use crate::model::id::id;
use crate::model::shell;
use crate::model::time_text::human;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{DocumentView, Page, TableCell, Tone};
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
    extra: ExtraFields,
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
    extra: ExtraFields,
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
            let call = session::verify(&args.session, &code, context.adapter())?;
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
            // Without a document, success is the whole result.
            match answer.value() {
                Value::Null => {
                    json!({"id": args.session, "object": "session", "deleted": true}).into()
                }
                _ => answer,
            }
        }
        Command::List(args) => return list_all(context, &args).await,
    };
    context.out.emit(&DocumentView(document, session_page))?;
    Ok(Exit::Done)
}

async fn connect(context: &Context, args: Connect) -> Result<Exit> {
    let dialect = context.dialect();
    let provider = args.provider.as_deref().unwrap_or(&dialect.provider_b);
    let call = session::connect(
        &args.end_user,
        provider,
        args.phone.as_deref(),
        context.adapter(),
    )?;
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
            context.in_flight.replace(InFlight::CodeSent {
                session: id.clone(),
            });
            let code = ask_code(context).await?;
            match send_once(context, session::verify(&id, &code, context.adapter())?).await {
                Ok(document) => break document,
                // The person may try again as long as the session accepts codes.
                Err(error) if error.code == Code::InvalidCode && waits(context, &id).await => {
                    context.out.warn(&error.message);
                }
                Err(error) => return Err(error),
            }
        };
    }
    context.out.emit(&DocumentView(document, session_page))?;
    Ok(Exit::Done)
}

/// Whether the session still waits for its code. It does not after too many wrong codes, or when it has expired.
async fn waits(context: &Context, id: &str) -> bool {
    match context.read(session::show(id)).await {
        Ok(answer) => answer.document.str("state") == Some("pending"),
        // Unknown. The next answer will tell.
        Err(_) => true,
    }
}

/// Sends a call that must not be repeated where something may have been done.
async fn send_once(context: &Context, call: Call) -> Result<Document> {
    let in_flight = || InFlight::Sent {
        request: call.name(),
    };
    let sent = send_guarded(context, &call, in_flight, "sending the request").await?;
    context.in_flight.replace(InFlight::Nothing);
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
    let sessions = understood(context, context.adapter().sessions(&document))?.items;
    let page = |_: &Document| {
        let mut page = Page::default();
        let headers = vec!["id", "state", "end user", "provider", "created"];
        page.table(headers, sessions.iter().map(row).collect(), vec![]);
        page
    };
    let view = DocumentView(document.clone(), page);
    context
        .out
        .emit_list(&view, sessions.is_empty(), "No sessions found.")?;
    Ok(Exit::Done)
}

fn row(session: &Value) -> Vec<TableCell> {
    let text = |field: &str| session.get(field).map(plain).unwrap_or_default();
    let cell = |field: &str| text(field).into();
    vec![
        cell("id"),
        cell("state"),
        cell("end_user"),
        cell("provider"),
        human(&text("created_at")).into(),
    ]
}

fn session_page(session: &Document) -> Page {
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
