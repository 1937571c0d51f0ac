//! The guided booking: what flags do not say is asked, and what they say is not.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::locate::Located;
use super::offer::{Offer, Zoning, not_a_list, offered, resolve};
use crate::api::{NewBooking, VenueQuery, Where, list};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journal::Shown;
use crate::model::moment::human;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::model::when::When;
use crate::output::{Page, Tone, visible};
use crate::prompt::Question;
use crate::view::slot_line;

/// The four verticals (spec, What the service does).
pub(crate) const VERTICALS: [&str; 4] = ["dining", "fitness", "entertainment", "travel"];

/// A booking as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) venue: Option<Located>,
    pub(crate) slot: Option<Slot>,
    /// `--slot` where the slot was not seen before.
    pub(crate) slot_id: Option<String>,
    pub(crate) at: Option<When>,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) party_size: Option<u32>,
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    pub(crate) vendor_payment: bool,
}

impl Draft {
    /// The request, once a venue, a time, a party and a guest are known.
    pub(crate) fn booking(&self, datetime: String) -> Result<NewBooking> {
        let missing = |what: &str| Error::usage(format!("no {what} is named"));
        let slot = self.slot.as_ref().map(|slot| slot.id().to_owned());
        let venue = self.venue.as_ref().ok_or_else(|| missing("venue"))?;
        Ok(NewBooking {
            venue_id: venue.id.clone(),
            provider: self.provider.clone(),
            datetime,
            availability_id: slot.or_else(|| self.slot_id.clone()),
            party_size: self.party_size.ok_or_else(|| missing("party size"))?,
            name: self.name.clone().ok_or_else(|| missing("guest"))?,
            email: self.email.clone(),
            phone: self.phone.clone(),
            end_user: self.end_user.clone(),
            webhook_url: self.webhook_url.clone(),
            vendor_payment: self.vendor_payment,
        })
    }

    /// The command that books what was walked to, for whoever has to come back to it.
    pub(crate) fn command(&self) -> Option<String> {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let mut command = format!("bookctl book --slot {}", self.slot.as_ref()?.id());
        let options = [
            ("--name", &self.name),
            ("--email", &self.email),
            ("--phone", &self.phone),
        ];
        for (flag, value) in options {
            if let Some(value) = value {
                command.push_str(&format!(" {flag} {}", quoted(value)));
            }
        }
        Some(command)
    }
}

/// Asks for everything that `draft` lacks, shows one summary, and asks for the go-ahead.
pub(crate) async fn guide(context: &Context, draft: &mut Draft) -> Result<()> {
    // The service says who it is before the first question.
    context.client()?;
    let time_is_flagged = draft.at.is_some();
    if draft.venue.is_none() {
        pick_venue(context, draft).await?;
    }
    if draft.slot.is_none() && draft.slot_id.is_none() {
        pick_slot(context, draft, time_is_flagged).await?;
    }
    if draft.party_size.is_none() {
        draft.party_size = Some(ask_party(context).await?);
    }
    if draft.name.is_none() {
        let question = Question::new("Guest's name", "--name", "the guest's name");
        draft.name = Some(ask_line(context, &question, "the venue needs the guest's name").await?);
        if draft.email.is_none() {
            draft.email =
                ask_optional(context, "Guest's email (Enter to leave out)", "--email").await?;
        }
        if draft.phone.is_none() {
            draft.phone =
                ask_optional(context, "Guest's phone (Enter to leave out)", "--phone").await?;
        }
    }
    context.out.show(&summary(draft));
    let question = Question::new("Book it?", "every flag", "the go-ahead");
    if context.prompter.confirm(&question, true).await? {
        Ok(())
    } else {
        Err(Error::new("declined", Exit::Declined, "nothing was booked"))
    }
}

async fn pick_venue(context: &Context, draft: &mut Draft) -> Result<()> {
    let question = Question::new("What is it to be?", "VENUE", "the venue");
    let vertical = VERTICALS[context.prompter.choose(&question, &VERTICALS).await?];
    loop {
        let place = ask_line(
            context,
            &Question::new("Where? (a city or a district)", "VENUE", "the venue"),
            "type a place",
        )
        .await?;
        if draft.at.is_none() {
            draft.at = Some(ask_time(context).await?);
        }
        if draft.party_size.is_none() {
            draft.party_size = Some(ask_party(context).await?);
        }
        let venues = match search(context, draft, vertical, place).await {
            Ok(venues) => venues,
            Err(error) if matches!(error.exit, Exit::Invalid | Exit::Providers) => {
                say(context, &error);
                continue;
            }
            Err(error) if error.exit == Exit::Usage => {
                say(context, &error);
                draft.at = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        if venues.is_empty() {
            context.out.note(&format!(
                "there is nothing for {vertical} there: try another place"
            ));
            continue;
        }
        let rows: Vec<String> = venues
            .iter()
            .map(|venue| visible(&venue_line(venue)).into_owned())
            .collect();
        let row = context
            .prompter
            .pick(
                &Question::new("Which one?", "VENUE", "the venue"),
                None,
                &rows,
                0,
            )
            .await?;
        let venue = venues[row].clone();
        draft.venue = Some(Located {
            id: venue.id().to_owned(),
            remembered: Some(venue),
        });
        return Ok(());
    }
}

async fn search(
    context: &Context,
    draft: &Draft,
    vertical: &str,
    place: String,
) -> Result<Vec<Venue>> {
    let zone = draft.zone.clone().unwrap_or_else(TimeZone::system);
    let moment = match &draft.at {
        Some(when) => resolve(when, context.now()?, &zone)?,
        None => return Err(Error::usage("no time is named")),
    };
    let query = VenueQuery {
        vertical: vertical.to_owned(),
        place: Where::Near(place),
        datetime: moment.wire(),
        party_size: draft.party_size,
        providers: draft.provider.clone().into_iter().collect(),
    };
    find_venues(context, &query, Shown::No)
        .await
        .map(|(_, venues)| venues)
}

/// Searches venues and remembers them.
pub(crate) async fn find_venues(
    context: &Context,
    query: &VenueQuery,
    shown: Shown,
) -> Result<(crate::model::document::Document, Vec<Venue>)> {
    let dialect = context.dialect();
    let progress = context.out.progress("searching");
    let answer = context.read(query.call(&dialect)).await?;
    drop(progress);
    let venues: Vec<Venue> = list(answer.document.value(), &dialect.venues_field)
        .ok_or_else(|| not_a_list("venues", &dialect.venues_field))?
        .iter()
        .filter_map(|venue| Venue::from_value(venue.clone()))
        .collect();
    if let Some(failed) = answer
        .document
        .value()
        .get("providers_failed")
        .and_then(Value::as_array)
    {
        let names: Vec<&str> = failed.iter().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            context.out.warn(&format!(
                "{} did not answer; the list lacks their venues",
                names.join(", ")
            ));
        }
    }
    if let Err(error) = context
        .journal()
        .and_then(|mut journal| journal.remember_venues(&venues, shown))
    {
        context
            .out
            .warn(&format!("the venues are not remembered: {}", error.message));
    }
    Ok((answer.document, venues))
}

async fn pick_slot(context: &Context, draft: &mut Draft, time_is_flagged: bool) -> Result<()> {
    if draft.party_size.is_none() {
        draft.party_size = Some(ask_party(context).await?);
    }
    ask_provider(context, draft).await?;
    // A time that flags gave and that is offered is not asked again.
    let mut from_flags = time_is_flagged;
    loop {
        let when = match draft.at.take() {
            Some(when) => when,
            None => {
                from_flags = false;
                ask_time(context).await?
            }
        };
        let Some(venue) = &draft.venue else {
            return Err(Error::usage("no venue is named"));
        };
        let zoning = Zoning::of(venue.remembered.as_ref(), draft.zone.as_ref());
        let party = draft.party_size.unwrap_or(1);
        let offer = match offered(
            context,
            venue,
            &when,
            &zoning,
            party,
            draft.provider.as_deref(),
        )
        .await
        {
            Ok(offer) => offer,
            Err(error) if matches!(error.exit, Exit::Usage | Exit::Invalid) => {
                say(context, &error);
                continue;
            }
            Err(error) => return Err(error),
        };
        if offer.slots.is_empty() {
            context.out.note(&format!(
                "{} has nothing on that day: try another one",
                venue.name()
            ));
            continue;
        }
        let taken = if from_flags {
            offer.at_wanted().cloned()
        } else {
            None
        };
        let slot = match taken {
            Some(slot) => slot,
            None => choose_slot(context, &offer).await?,
        };
        offer.remember(context, Shown::No);
        draft.provider = draft.provider.take().or(offer.provider);
        draft.slot = Some(slot);
        return Ok(());
    }
}

/// Asks which of the offered slots it is to be, the nearest to the time asked for first.
pub(crate) async fn choose_slot(context: &Context, offer: &Offer) -> Result<Slot> {
    let rows: Vec<String> = offer
        .slots
        .iter()
        .map(|slot| visible(&slot_line(slot)).into_owned())
        .collect();
    if offer.at_wanted().is_none() {
        let wanted = human(&offer.wanted.wire());
        context
            .out
            .note(&format!("nothing at {wanted}; the nearest is marked"));
    }
    let day = offer
        .slots
        .first()
        .and_then(Slot::local)
        .map(|local| local.strftime("%a %-d %b").to_string());
    let question = Question::new(
        format!("Which slot on {}?", day.unwrap_or_default()),
        "--slot",
        "the slot",
    );
    let row = context
        .prompter
        .pick(&question, None, &rows, offer.nearest_row())
        .await?;
    Ok(offer.slots[row].clone())
}

/// A venue of several providers has no mapping of its own: one of them must be named (spec, Booking: provider).
async fn ask_provider(context: &Context, draft: &mut Draft) -> Result<()> {
    let venue = draft
        .venue
        .as_ref()
        .and_then(|venue| venue.remembered.as_ref());
    let providers: Vec<String> = venue
        .map(Venue::providers)
        .unwrap_or_default()
        .into_iter()
        .map(str::to_owned)
        .collect();
    if draft.provider.is_none() && providers.len() > 1 {
        let rows: Vec<&str> = providers.iter().map(String::as_str).collect();
        let row = context
            .prompter
            .choose(
                &Question::new("Through which provider?", "--provider", "the provider"),
                &rows,
            )
            .await?;
        draft.provider = Some(providers[row].clone());
    }
    Ok(())
}

async fn ask_time(context: &Context) -> Result<When> {
    let check = |text: &str| {
        When::parse(text)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let question = Question::new("When? (such as: tomorrow 19:30)", "--at", "the time");
    let text = context.prompter.text(&question, None, &check).await?;
    When::parse(&text).map_err(|error| Error::usage(error.to_string()))
}

async fn ask_party(context: &Context) -> Result<u32> {
    let check = |text: &str| crate::model::party::parse(text).map(drop);
    let text = context
        .prompter
        .text(
            &Question::new("For how many?", "--party", "the party size"),
            Some("2"),
            &check,
        )
        .await?;
    crate::model::party::parse(&text).map_err(Error::usage)
}

async fn ask_line(context: &Context, question: &Question, why: &str) -> Result<String> {
    let check = |text: &str| {
        if text.trim().is_empty() {
            Err(why.to_owned())
        } else {
            Ok(())
        }
    };
    Ok(context
        .prompter
        .text(question, None, &check)
        .await?
        .trim()
        .to_owned())
}

async fn ask_optional(
    context: &Context,
    question: &str,
    flag: &'static str,
) -> Result<Option<String>> {
    let text = context
        .prompter
        .text(&Question::new(question, flag, "an answer"), None, &|_| {
            Ok(())
        })
        .await?;
    let text = text.trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

fn say(context: &Context, error: &Error) {
    context.out.warn(&error.message);
}

fn venue_line(venue: &Venue) -> String {
    let tags = venue
        .value()
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let mut parts = vec![venue.name().to_owned()];
    parts.extend(venue.str("address").map(str::to_owned));
    parts.push(tags.collect::<Vec<_>>().join(", "));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn summary(draft: &Draft) -> Page {
    let mut page = Page::default();
    let venue = draft.venue.as_ref();
    page.heading(
        Tone::Strong,
        "to book",
        venue.map(Located::name).unwrap_or_default(),
    );
    let slot = draft.slot.as_ref();
    page.field_if("when", slot.map(|slot| human(slot.datetime())));
    page.field_if("party", draft.party_size.map(|party| party.to_string()));
    page.field_if("seating", slot.and_then(|slot| slot.str("seating")));
    page.field_if("price", slot.and_then(Slot::price));
    page.field_if("card", slot.and_then(Slot::card_terms));
    page.field_if("cancel", slot.and_then(Slot::cancellation_terms));
    let guest = [&draft.name, &draft.email, &draft.phone]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>();
    page.field("guest", guest.join(" · "));
    page.field_if("provider", draft.provider.as_deref());
    page.field_if(
        "payment",
        draft.vendor_payment.then_some("through the vendor"),
    );
    page
}
