//! The questions of the walk. `None` means that the person wants to go back to the question before.

use crate::app::Context;
use crate::flows::offer::Offer;
use crate::model::contact;
use crate::model::slot::Slot;
use crate::model::time_text::human;
use crate::model::venue::Venue;
use crate::model::when::When;
use crate::outcome::{Error, Result};
use crate::terminal::output::visible;
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::{slot_line, venue_line};

/// The places of a sandbox, that of the scenario venues first.
const SANDBOX_PLACES: [&str; 6] = ["Sandbox", "London", "Paris", "New York", "Tokyo", "Sydney"];

/// An answer, or `None` for going back.
fn or_back<T>(answer: Result<T, PromptError>) -> Result<Option<T>> {
    match answer {
        Err(PromptError::Back) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

/// How a question is asked: whether one came before, and what was answered the last time.
#[derive(Debug)]
pub(super) struct Manner {
    pub(super) goes_back: bool,
    pub(super) former: Option<String>,
}

impl Manner {
    fn question(self, text: impl Into<String>, flag: &'static str, what: &'static str) -> Question {
        Question::new(text, flag, what)
            .back(self.goes_back)
            .former(self.former)
    }
}

pub(super) async fn ask_vertical(
    context: &Context,
    manner: Manner,
    verticals: &[&str],
) -> Result<Option<usize>> {
    let question = manner.question("What would you like to book?", "VENUE", "the venue");
    or_back(context.prompter.choose(&question, verticals).await)
}

/// Asks for a place. A sandbox has only a few, which are listed.
pub(super) async fn ask_place(
    context: &Context,
    manner: Manner,
    is_sandbox: bool,
) -> Result<Option<String>> {
    let check = |text: &str| not_empty(text, "enter a place");
    if !is_sandbox {
        let question = manner.question("Where? (city or district)", "VENUE", "the venue");
        return or_back(context.prompter.text(&question, None, &check).await);
    }
    let question = manner.question("Where?", "VENUE", "the venue");
    let question = question.of("places of the sandbox");
    let places = SANDBOX_PLACES.map(str::to_owned);
    or_back(
        context
            .prompter
            .pick_or_type(&question, &places, &check)
            .await,
    )
}

/// Asks for a time. Returns it with its text.
pub(super) async fn ask_time(context: &Context, manner: Manner) -> Result<Option<(When, String)>> {
    let check = |text: &str| {
        When::parse(text)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let question = manner.question("When? (e.g. tomorrow 19:30)", "--at", "the time");
    let Some(text) = or_back(context.prompter.text(&question, None, &check).await)? else {
        return Ok(None);
    };
    let when = When::parse(&text).map_err(|error| Error::usage(error.to_string()))?;
    Ok(Some((when, text)))
}

pub(super) async fn ask_party(context: &Context, manner: Manner) -> Result<Option<u32>> {
    let check = |text: &str| contact::party(text).map(drop);
    let default = if manner.former.is_some() {
        None
    } else {
        Some("2")
    };
    let question = manner.question("How many people?", "--party", "the party size");
    match or_back(context.prompter.text(&question, default, &check).await)? {
        Some(text) => contact::party(&text).map(Some).map_err(Error::usage),
        None => Ok(None),
    }
}

/// Asks to pick one of the venues. Returns its index.
pub(super) async fn ask_venue(
    context: &Context,
    manner: Manner,
    venues: &[Venue],
) -> Result<Option<usize>> {
    let rows: Vec<String> = venues
        .iter()
        .map(|venue| visible(&venue_line(venue)).into_owned())
        .collect();
    let former = manner.former.as_deref();
    let former = venues.iter().position(|venue| Some(venue.id()) == former);
    let question = manner.question("Which venue?", "VENUE", "the venue");
    let question = question.former(None).of("venues");
    let row = former.unwrap_or(0);
    or_back(context.prompter.pick(&question, &rows, row).await)
}

pub(super) async fn ask_provider(
    context: &Context,
    manner: Manner,
    providers: &[&str],
) -> Result<Option<usize>> {
    let question = manner.question("Which provider?", "--provider", "the provider");
    or_back(context.prompter.choose(&question, providers).await)
}

/// Asks to pick one of the offered slots. Without a former answer, the slot nearest to the requested time is selected
/// first.
pub(super) async fn ask_slot(
    context: &Context,
    manner: Manner,
    offer: &Offer,
    zone: Option<&str>,
) -> Result<Option<usize>> {
    let rows: Vec<String> = offer
        .slots
        .iter()
        .map(|slot| visible(&slot_line(slot, offer.reader(context))).into_owned())
        .collect();
    let wanted = human(&offer.wanted.wire());
    if !offer.is_comparable() {
        context.out.warn(&format!(
            "the venue's time zone is not known; {wanted} is this computer's time"
        ));
    } else if offer.at_wanted().is_none() {
        context.out.note(&format!(
            "No slot at {wanted}. The nearest one is selected."
        ));
    }
    let day = offer
        .slots
        .first()
        .and_then(Slot::local)
        .map(|local| local.strftime("%a %-d %b").to_string());
    let zone = zone.map(|zone| format!(" ({zone})")).unwrap_or_default();
    let text = format!(
        "Which slot on {}{}?",
        day.unwrap_or_default(),
        visible(&zone)
    );
    let former = manner.former.as_deref();
    let former = offer
        .slots
        .iter()
        .position(|slot| Some(slot.id()) == former);
    let question = manner.question(text, "--slot", "the slot");
    let question = question.former(None).of("slots");
    let row = former.unwrap_or_else(|| offer.nearest_row());
    or_back(context.prompter.pick(&question, &rows, row).await)
}

/// Asks for the guest's name; `needs_both` if the provider refuses a name of one word.
pub(super) async fn ask_name(
    context: &Context,
    manner: Manner,
    needs_both: bool,
) -> Result<Option<String>> {
    let check = |text: &str| {
        not_empty(text, "enter the guest's name")?;
        match needs_both && text.split_whitespace().count() < 2 {
            true => Err("this venue needs a first and a last name".to_owned()),
            false => Ok(()),
        }
    };
    let text = "Guest's name (first and last)";
    let question = manner.question(text, "--name", "the guest's name");
    or_back(context.prompter.text(&question, None, &check).await)
}

pub(super) async fn ask_email(context: &Context, manner: Manner) -> Result<Option<Option<String>>> {
    let question = manner.question("Guest's email (optional)", "--email", "an answer");
    ask_optional(context, &question, contact::email).await
}

pub(super) async fn ask_phone(context: &Context, manner: Manner) -> Result<Option<Option<String>>> {
    let question = manner.question("Guest's phone (optional)", "--phone", "an answer");
    ask_optional(context, &question, contact::phone).await
}

async fn ask_optional(
    context: &Context,
    question: &Question,
    check: fn(&str) -> Result<(), String>,
) -> Result<Option<Option<String>>> {
    let check = |text: &str| match text {
        "" => Ok(()),
        text => check(text),
    };
    let text = or_back(context.prompter.text(question, None, &check).await)?;
    Ok(text.map(|text| Some(text).filter(|text| !text.is_empty())))
}

/// Asks for the confirmation. If the booking has consequences, Enter alone does not give it.
pub(super) async fn ask_to_book(
    context: &Context,
    goes_back: bool,
    has_consequences: bool,
) -> Result<Option<bool>> {
    let esc = match goes_back {
        true => ", Esc goes back",
        false => "",
    };
    let question = Question::new("Book it?", "--yes", "the confirmation")
        .back(goes_back)
        .hint(format!("yes books, no ends without a booking{esc}"));
    or_back(context.prompter.confirm(&question, !has_consequences).await)
}

fn not_empty(text: &str, why: &str) -> Result<(), String> {
    match text.trim().is_empty() {
        true => Err(why.to_owned()),
        false => Ok(()),
    }
}
