use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journal::Attempt;
use crate::model::document::{Document, plain};
use crate::model::moment::human;
use crate::output::{Page, TableCell, Tone, View};
use crate::walk::{finish, resume};

/// List and settle creates whose outcome is not known
///
/// An attempt is written down before the first byte of a create is sent, and stays unsettled until
/// an answer tells what came of it. `resume` sends the same request under the same key: the service
/// then returns the booking that exists, or makes the one that does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl attempts\n  \
    bookctl attempts resume 0193e6a2-…\n  \
    bookctl attempts abandon 0193e6a2-…")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List the attempts whose outcome is not settled
    List,
    /// Settle one: the same request under the same key
    Resume {
        /// The attempt's idempotency key
        key: String,
    },
    /// Give one up: it is not sent again, and a booking may exist all the same
    Abandon {
        /// The attempt's idempotency key
        key: String,
    },
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => {
            let attempts = context.journal()?.unsettled()?;
            context.out.emit(&AttemptList(&attempts))?;
            if context.out.is_human() && attempts.is_empty() {
                context.out.note("every attempt is settled");
            }
            Ok(Exit::Done)
        }
        Action::Resume { key } => {
            let attempt = find(context, &key)?;
            context.before_change()?;
            let booking = resume(context, &key, attempt.request).await?;
            finish(context, &booking)
        }
        Action::Abandon { key } => {
            let mut attempt = find(context, &key)?;
            if attempt.state != "unsettled" {
                return Err(Error::new(
                    "usage",
                    Exit::Refused,
                    format!(
                        "this attempt is {}: there is nothing to abandon",
                        attempt.state
                    ),
                ));
            }
            context.journal()?.abandon(&key)?;
            attempt.state = "abandoned".to_owned();
            context.out.emit(&AttemptList(&[attempt]))?;
            Ok(Exit::Done)
        }
    }
}

/// The attempt under `key`, if it went to the service that this command talks to.
fn find(context: &Context, key: &str) -> Result<Attempt> {
    let attempt = context.journal()?.attempt(key)?.ok_or_else(|| {
        let shown = key.escape_debug();
        Error::new(
            "usage",
            Exit::Usage,
            format!("the journal knows no attempt {shown}"),
        )
        .hint("list them with `bookctl attempts`")
    })?;
    let origin = context.target().origin();
    if attempt.origin != origin {
        let profile = attempt.profile.as_deref().unwrap_or(&attempt.origin);
        return Err(Error::config(format!(
            "this attempt went to {}, and this command talks to {origin}",
            attempt.origin
        ))
        .hint(format!(
            "use the profile or the base URL it went to: {profile}"
        )));
    }
    Ok(attempt)
}

struct AttemptList<'a>(&'a [Attempt]);

impl View for AttemptList<'_> {
    fn json(&self) -> Document {
        let attempts = self.0.iter().map(|attempt| {
            let mut object = json!({
                "idempotency_key": attempt.idempotency_key,
                "state": attempt.state,
                "profile": attempt.profile,
                "origin": attempt.origin,
                "created_at": attempt.created_at,
                "request": attempt.request,
            });
            if let (Some(object), Some(id)) = (object.as_object_mut(), &attempt.booking_id) {
                object.insert("booking_id".to_owned(), json!(id));
            }
            object
        });
        json!({ "attempts": attempts.collect::<Vec<Value>>() }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|attempt| {
            let asked = |field: &str| attempt.request.get(field).map(plain).unwrap_or_default();
            let guest = attempt
                .request
                .get("customer")
                .and_then(|guest| guest.get("name"));
            vec![
                TableCell::from(attempt.idempotency_key.as_str()),
                TableCell::toned(attempt.state.as_str(), Tone::Warn),
                TableCell::from(human(&attempt.created_at)),
                TableCell::from(asked("venue_id")),
                TableCell::from(human(&asked("datetime"))),
                TableCell::from(guest.map(plain).unwrap_or_default()),
            ]
        });
        let mut page = Page::default();
        let headers = vec!["key", "state", "began", "venue", "when", "guest"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
