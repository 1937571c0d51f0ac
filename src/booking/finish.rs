//! Ends a command that makes or changes a booking: the booking on stdout, its status as the exit
//! code. Or with `--dry-run`: the request.

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::terms::{filled_in, find_recorded, kept_slot};
use super::verdict::{MODIFIED, Verdict, compared, of_create, refusal, setting, tell};
use crate::app::in_flight::show_command;
use crate::app::{Facts, Parts, Records, Ui};
use crate::journal::recent::RecentList;
use crate::journal::{Actor, BookingWrite, KeptBooking};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::Call;
use crate::service::documents::{Agreement, Booking, Compared, Slot, Status, Weight, Wish};
use crate::service::mapping::{WriteKind, member};
use crate::service::time::DocumentTime;
use crate::terminal::view::{BookingView, RequestView};

/// How much the clocks of a service that shows one may differ among themselves.
const CLOCKS: SignedDuration = SignedDuration::from_mins(1);

/// The booking as a card, with the service's time for what is left until a deadline.
pub(crate) fn booking_view(parts: &Parts, booking: &Booking) -> BookingView {
    let mut view = BookingView {
        booking: booking.clone(),
        dialect: parts.api.facts.dialect().clone(),
        now: parts.api.facts.service_now(),
        certainty: parts.api.facts.certainty(),
        terms: None,
        venue: None,
        made_by: None,
        map_it: parts.api.facts.mapping().set_command("read.booking=EXPRESSION"),
        unshown: None,
        is_answered: false,
        is_on_screen: false,
    };
    // A script gets the service's document alone.
    if parts.ui.out.is_human() {
        view.booking = filled_in(&parts.records, booking);
        let venue = view.booking.venue_id();
        view.venue = venue.and_then(|id| parts.records.known_venue(&id));
        view.made_by = maker(&parts.api.facts, &parts.records, booking);
        // A late cancellation has its price.
        if !matches!(booking.status(), Status::Failed | Status::Expired) {
            view.terms = kept_slot(&parts.records, booking).map(|slot| slot.value);
        }
    }
    view
}

/// Who made a booking, where a team shares the journal.
fn maker(facts: &Facts, records: &Records, booking: &Booking) -> Option<String> {
    facts.target().journal.as_ref()?;
    let attempts = records.journal().ok()?.attempts_of(booking.id()).ok()?;
    let mut runs = attempts.into_iter().flat_map(|attempt| attempt.runs);
    let Actor { user, host } = runs.find_map(|run| run.maker)?;
    Some(format!("{user} on {host}"))
}

/// What a change asked for and its booking shows, with the terms of the slot that it moved to.
#[derive(Default)]
struct Accepted {
    changes: Map<String, Value>,
    terms: Option<Value>,
}

/// Stores a booking as it was seen now, with the changes that it shows. Another one than was asked
/// for does not take its place in the journal. One whose request is not resolved resolves it if it
/// is as that asked. A journal that cannot be written fails no command: the work is done. Returns
/// how the booking compares with what was asked for.
fn store(records: &Records, booking: &Booking, accepted: &Accepted) -> (Vec<Compared>, Result<()>) {
    let compared_with = |known: &KeptBooking| compared(records, &known.wish(), booking, false);
    let mut known = find_recorded(records, booking.id()).map(|it| it.accepting(&accepted.changes));
    let mut found = known.as_ref().map(compared_with).unwrap_or_default();
    let own = own_changes(records, booking, &found);
    if !own.is_empty() {
        known = known.map(|it| it.accepting(&own));
        found = known.as_ref().map(compared_with).unwrap_or_default();
    }
    let changes = accepted.changes.clone().into_iter().chain(own).collect();
    if found.iter().any(Compared::is_another) {
        return (found, Ok(()));
    }
    let key = known.and_then(|known| known.unresolved_key);
    let is_resolved = of_create(booking, &found, true).refusal.is_none();
    let stored = records.journal().and_then(|it| {
        it.change(booking, &changes, accepted.terms.as_ref())?;
        key.filter(|_| is_resolved).map_or(Ok(()), |key| it.resolve(&key, booking))
    });
    (found, stored)
}

/// What differs because of the last change from here that asked for it: the response to it may have
/// been lost, or older than the change.
pub(super) fn own_changes(
    records: &Records,
    booking: &Booking,
    found: &[Compared],
) -> Map<String, Value> {
    let differs = |field: &str| found.iter().any(|it| it.root() == field && it.clause().is_some());
    if !MODIFIED.into_iter().any(differs) {
        return Map::new();
    }
    let writes = records.journal().and_then(|it| it.writes(booking.id())).unwrap_or_default();
    let changes = writes.into_iter().filter(BookingWrite::may_be_done);
    let changes = changes.filter_map(|it| it.facts.get("changes")?.as_object().cloned());
    let mut last: Map<String, Value> = changes.flatten().collect();
    last.retain(|field, value| {
        let wish = Wish::from_changes(&Map::from_iter([(field.clone(), value.clone())]));
        let is_shown = |it: &Compared| it.agreement == Agreement::Same;
        differs(field) && compared(records, &wish, booking, true).iter().all(is_shown)
    });
    last
}

/// Stores a booking that was read, and judges it by what the journal says was asked for.
pub(crate) fn store_and_judge(records: &Records, booking: &Booking) -> Verdict {
    let (found, stored) = store(records, booking, &Accepted::default());
    let mut verdict = of_create(booking, &found, true);
    verdict.unstored = stored.err();
    verdict
}

/// Stores a booking that a command is about, for `@last` too.
fn keep(
    records: &Records,
    ui: &Ui,
    booking: &Booking,
    accepted: &Accepted,
) -> (Vec<Compared>, Result<()>) {
    let has_record = records.has_journal() || ui.out.is_human();
    records.remember_last(RecentList::LastBooking, booking.id());
    if has_record { store(records, booking, accepted) } else { (Vec::new(), Ok(())) }
}

/// The same, and says how it differs from what was asked for.
pub(crate) fn record(parts: &Parts, booking: &Booking) {
    let (found, _) = keep(&parts.records, &parts.ui, booking, &Accepted::default());
    tell_differences(&parts.ui, booking, &found);
}

/// Ends a command that wrote: writes a booking, and returns the exit code of its status. It exists
/// even if stdout cannot be written: the error carries its id. Of one that is not the one that was
/// asked for, the error is that; only a person sees it.
fn finish_recorded(
    parts @ Parts { ui, .. }: &Parts,
    booking: &Booking,
    view: &BookingView,
    mut refusal: Option<Error>,
) -> Result<Exit> {
    if let Some(error) = refusal.take_if(|_| !ui.out.is_human()) {
        return Err(error);
    }
    let (id, status) = (booking.id(), booking.status());
    let is_read = ui.out.emit_read(view).map_err(|mut error| {
        error.message = format!("booking {id} has status {status}, but {}", error.message);
        error.body = Some(booking.document.clone());
        error.hint(format!("do not repeat the command; check the booking: {}", show_command(id)))
    })?;
    if !is_read {
        ui.out.warn(&format!(
            "the output was closed; booking {id} has status {status}; see it: {}",
            show_command(id)
        ));
    }
    warn_of_unknown_status(&parts.api.facts, ui, booking);
    refusal.map_or(Ok(booking.exit()), Err)
}

/// Explains the exit code of an unspecified status, and how to map it.
pub(crate) fn warn_of_unknown_status(facts: &Facts, ui: &Ui, booking: &Booking) {
    if let Status::Other(word) = booking.status() {
        ui.out.warn(&format!(
            "`{word}` is a status that bookctl does not know; map it: {}",
            facts.mapping().set_command("read.booking=EXPRESSION")
        ));
    }
}

/// Records a shown booking, for `@last` and for the search of `bookings`. A script that reads
/// (`--json`) opens no journal.
pub(crate) fn remember_shown(parts: &Parts, booking: &Booking) {
    if parts.ui.out.is_human() {
        record(parts, booking);
    }
}

/// What a booking shows otherwise than the journal says was asked for.
pub(crate) fn differences(booking: &Booking, found: &[Compared]) -> Vec<String> {
    let telling = found.iter().filter(|it| it.is_another() || !it.was_same);
    let sentence = |it: &Compared| {
        let clause = it.clause()?;
        Some(match it.is_another() {
            true => format!("booking {} is not the one that was asked for: {clause}", booking.id()),
            false => format!("in the booking {clause}"),
        })
    };
    telling.filter_map(sentence).collect()
}

fn tell_differences(ui: &Ui, booking: &Booking, found: &[Compared]) {
    differences(booking, found).iter().for_each(|it| ui.warn_of(booking.id(), it));
}

pub(crate) fn preview(facts: &Facts, ui: &Ui, call: Call) -> Result<Exit> {
    ui.out.emit(&request_view(facts, call))
}

pub(crate) fn request_view(facts: &Facts, call: Call) -> RequestView {
    let (mapping, base_path) = (facts.mapping(), facts.base_path());
    RequestView::masked(call, mapping, facts.has_key(), base_path)
}

/// Ends a command that has made a booking: on stdout, with what its wish says of it. After a 7 a
/// script books elsewhere, so that a booking that is another one than was asked for ends with 16.
/// Its details may stand on the screen above.
pub(crate) fn finish_created(parts: &Parts, booking: &Booking, is_on_screen: bool) -> Result<Exit> {
    let (recorded, _) = keep(&parts.records, &parts.ui, booking, &Accepted::default());
    let verdict = of_create(booking, &recorded, true);
    tell(&parts.api.facts, &parts.ui, &verdict, "");
    let mut refused = refusal(&parts.api.facts, booking, &verdict);
    // What a new booking waits for says more than how it differs.
    if booking.exit() != Exit::Done && !verdict.is_another {
        refused.take().into_iter().for_each(|error| parts.ui.out.warn(&error.message));
    }
    let mut view = booking_view(parts, booking);
    view.unshown = verdict.unshown_sentence(parts.api.facts.mapping());
    view.is_on_screen = is_on_screen;
    finish_recorded(parts, booking, &view, refused)
}

/// What a change asked for, and what it should leave as it was.
pub(crate) struct Change<'a> {
    pub(crate) kind: WriteKind,
    pub(crate) before: Option<&'a Booking>,
    pub(crate) requested: &'a Map<String, Value>,
    /// Its slot, with its terms: the one that it moves to, if it does.
    pub(crate) slot: Option<&'a Slot>,
    /// Whether the booking's card stands on the screen above.
    pub(crate) is_on_screen: bool,
}

impl<'a> Change<'a> {
    pub(crate) fn new(kind: WriteKind, requested: &'a Map<String, Value>) -> Self {
        Change { kind, before: None, requested, slot: None, is_on_screen: false }
    }

    /// How a booking compares with what the change asked for. While the provider works on it, it
    /// may show what it was.
    fn compared(&self, facts: &Facts, records: &Records, booking: &Booking) -> Vec<Compared> {
        let mut found = compared(records, &Wish::from_changes(self.requested), booking, true);
        let names = facts.mapping().names_of(self.kind);
        for it in found.iter_mut().filter(|it| it.agreement == Agreement::NotShown) {
            if let Some(proved) = self.proof(facts, records, booking, &it.field, &names) {
                it.agreement = proved;
            }
        }
        found
            .retain(|it| booking.status() != Status::Processing || it.agreement == Agreement::Same);
        found
    }

    /// Whether a booking has everything that was asked for.
    pub(crate) fn is_shown(&self, parts: &Parts, booking: &Booking) -> bool {
        self.compared(&parts.api.facts, &parts.records, booking)
            .iter()
            .all(|it| it.agreement == Agreement::Same)
    }

    /// What a new `last_modification` says of a field that is not shown (spec, Bookings). It proves
    /// the change if it names no field, or this one, and its `to`, where there is one, agrees.
    fn proof(
        &self,
        facts: &Facts,
        records: &Records,
        booking: &Booking,
        field: &str,
        names: &[(&str, &str, &str)],
    ) -> Option<Agreement> {
        let old = self.before.and_then(Booking::last_modification);
        let new = booking.last_modification().filter(|new| Some(*new) != old)?;
        let made = DocumentTime::from_field(new, "at").and_then(|it| it.instant);
        let since = self.before.map_or(booking.left_at, |it| it.left_at);
        let is_older = |(made, since)| facts.is_before(made, facts.by_service(since), CLOCKS);
        if made.zip(since).is_some_and(is_older) {
            return None;
        }
        let Some(changes) = booking.last_changes() else { return Some(Agreement::Same) };
        let mut names = names.iter().filter(|it| it.0 == field).map(|it| it.2).chain([field]);
        let change = names.find_map(|name| member(changes, name))?;
        let mut shown = booking.value().clone();
        shown[field] = change.get("to").cloned().unwrap_or_default();
        let shown = Booking::from_document(shown.into())?;
        let found = compared(records, &Wish::from_changes(self.requested), &shown, true);
        let its = found.into_iter().find(|it| it.field == field)?.agreement;
        Some(if its == Agreement::NotShown { Agreement::Same } else { its })
    }

    /// How the booking compares with what it was, in what was not to be changed.
    fn moved(&self, records: &Records, booking: &Booking) -> Vec<Compared> {
        let before = self.before.filter(|_| booking.status() != Status::Processing);
        let before = before.map(|it| Wish::from_request(it.value())).unwrap_or_default();
        let mut found = compared(records, &before, booking, false);
        let is_requested = |it: &Compared| self.requested.contains_key(it.root());
        let own = own_changes(records, booking, &found);
        found.retain(|it| {
            it.weight != Weight::Choice && !is_requested(it) && !own.contains_key(it.root())
        });
        found
    }
}

/// Ends a change by what the booking says of it. After a modify, a field that it shows otherwise is
/// 7, and so is one that it does not show (`change_not_shown`). Some services ignore fields whose
/// names they do not know.
pub(crate) fn finish_changed(parts: &Parts, booking: &Booking, change: Change<'_>) -> Result<Exit> {
    let is_modify = change.kind == WriteKind::Modify;
    let found = change.compared(&parts.api.facts, &parts.records, booking);
    let mut accepted = Accepted::default();
    if is_modify && booking.status() != Status::Processing {
        accepted.changes = change.requested.clone();
        accepted.changes.retain(|field, _| {
            let mut its = found.iter().filter(|it| it.root() == field);
            let is_recorded = MODIFIED.contains(&&**field) || field == "customer";
            is_recorded && its.all(|it| it.agreement == Agreement::Same)
        });
        let is_moved = accepted.changes.contains_key("datetime");
        accepted.terms = change.slot.filter(|_| is_moved).map(|slot| slot.value.clone());
    }
    let (recorded, stored) = keep(&parts.records, &parts.ui, booking, &accepted);
    if let Err(error) = stored {
        let what = "the change was made, but could not be saved in the journal";
        parts.ui.out.warn(&format!("{what}: {}", error.message));
    }
    let moved = change.moved(&parts.records, booking);
    let mut doubted: Vec<Compared> = recorded.iter().chain(&moved).cloned().collect();
    let is_differing = |it: &Compared| matches!(it.agreement, Agreement::Differs(_));
    doubted.retain(|it| {
        it.is_another() || is_modify && it.weight == Weight::Account && is_differing(it)
    });
    let refused = refusal(&parts.api.facts, booking, &of_create(booking, &doubted, false));
    let mut unproved = found.iter().filter(|it| is_modify && it.agreement == Agreement::NotShown);
    let not_shown = |it: &Compared| {
        let (id, field) = (booking.id(), &it.field);
        let what =
            format!("booking {id} does not show its {field}, so the change may not have been made");
        let hint = way_to_map(&parts.api.facts, change.kind, field);
        Error::new(Code::ChangeNotShown, what).hint(hint).body(booking.document.clone())
    };
    let refused = refused.or_else(|| unproved.next().map(not_shown));
    let mut view = booking_view(parts, booking);
    // After a payment's response the card invites no second one.
    view.is_answered = matches!(change.kind, WriteKind::Payment | WriteKind::Abort);
    view.is_on_screen = change.is_on_screen;
    let exit = finish_recorded(parts, booking, &view, refused)?;
    let mut is_contradicted = false;
    for (it, is_requested) in
        found.iter().map(|it| (it, true)).chain(moved.iter().map(|it| (it, false)))
    {
        let Some(clause) = it.clause() else { continue };
        is_contradicted = true;
        let way = match &it.agreement {
            Agreement::Differs(_) if !is_requested => "that was not asked for".to_owned(),
            Agreement::NotUnderstood(_) => {
                let set = parts.api.facts.mapping().set_command(setting(booking, it));
                format!("set how the service writes it: {set}")
            }
            _ => way_to_map(&parts.api.facts, change.kind, &it.field),
        };
        let what = "the service accepted the request, but in the booking";
        parts.ui.out.warn(&format!("{what} {clause}; {way}"));
    }
    if !is_modify {
        tell_differences(&parts.ui, booking, &recorded);
    }
    Ok(if is_modify && is_contradicted { Exit::Refused } else { exit })
}

/// The setting that can be the cause if a field was not taken.
pub(crate) fn way_to_map(facts: &Facts, kind: WriteKind, field: &str) -> String {
    let mapping = facts.mapping();
    let names = mapping.names_of(kind);
    let (why, setting) = match names.iter().find(|(own, ..)| *own == field) {
        Some((_, key, _)) if !mapping.write.contains_key(&kind) => {
            ("names it otherwise", format!("dialect.{key}=NAME"))
        }
        _ => ("wants it in another shape", format!("write.{}=EXPRESSION", kind.as_str())),
    };
    format!("if the service {why}: {}", mapping.set_command(&setting))
}
