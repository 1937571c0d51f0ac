//! How a command that has made or changed a booking ends: the booking on stdout, what differs said,
//! and its exit code.

use serde_json::{Map, Value};

use super::finish::{Accepted, finish_recorded, keep, tell_differences};
use super::verdict::{MODIFIED, compared, of_create, refusal, setting, tell};
use crate::app::{Facts, Parts, Records};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::slot::Slot;
use crate::service::documents::wish::{Agreement, Compared, Weight, Wish};
use crate::service::mapping::{WriteKind, member};

/// Ends a command that has made a booking: on stdout, with what its wish says of it. After a 7 a
/// script books elsewhere, so that a booking that is another one than was asked for ends with 16.
/// Its details may stand on the screen above.
pub(crate) fn finish_created(parts: &Parts, booking: &Booking, is_on_screen: bool) -> Result<Exit> {
    let recorded = keep(parts, booking, &Accepted::default());
    let verdict = of_create(booking, &recorded, true);
    tell(parts, &verdict, "");
    let mut refused = refusal(&parts.api.facts, booking, &verdict);
    // What a new booking waits for says more than how it differs.
    if booking.exit() != Exit::Done && !verdict.is_another {
        refused.take().into_iter().for_each(|error| parts.ui.out.warn(&error.message));
    }
    finish_recorded(parts, booking, refused, |view| {
        view.unshown = verdict.unshown_sentence(parts.api.facts.mapping());
        view.is_on_screen = is_on_screen;
    })
}

/// What a change asked for, and what it should leave as it was.
pub(crate) struct Change<'a> {
    pub(crate) kind: WriteKind,
    pub(crate) before: Option<&'a Booking>,
    pub(crate) requested: &'a Map<String, Value>,
    /// The slot that the booking moves to, with its terms.
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
    fn compared(&self, parts: &Parts, booking: &Booking) -> Vec<Compared> {
        let mut found =
            compared(&parts.records, &Wish::from_changes(self.requested), booking, true);
        let names = parts.api.facts.mapping().names_of(self.kind);
        for it in &mut found {
            if self.is_proved(booking, it, &names) {
                it.agreement = Agreement::Same;
            }
        }
        found
            .retain(|it| booking.status() != Status::Processing || it.agreement == Agreement::Same);
        found
    }

    /// Whether a booking has everything that was asked for.
    pub(crate) fn is_shown(&self, parts: &Parts, booking: &Booking) -> bool {
        self.compared(parts, booking).iter().all(|it| it.agreement == Agreement::Same)
    }

    /// Whether a new `last_modification` proves a field that is not shown (spec, Bookings): it
    /// names the field, or none.
    fn is_proved(&self, booking: &Booking, it: &Compared, names: &[(&str, &str, &str)]) -> bool {
        let (old, new) =
            (self.before.and_then(Booking::last_modification), booking.last_modification());
        if new.is_none() || new == old {
            return false;
        }
        let field = it.field.as_str();
        let mut names = names.iter().filter(|it| it.0 == field).map(|it| it.2).chain([field]);
        let is_named =
            booking.last_changes().is_none_or(|it| names.any(|name| member(it, name).is_some()));
        it.agreement == Agreement::NotShown && is_named
    }

    /// How the booking compares with what it was, in what was not to be changed.
    fn moved(&self, records: &Records, booking: &Booking) -> Vec<Compared> {
        let before = self.before.filter(|_| booking.status() != Status::Processing);
        let before = before.map(|it| Wish::from_request(it.value())).unwrap_or_default();
        let mut found = compared(records, &before, booking, false);
        let is_requested = |it: &Compared| self.requested.contains_key(it.root());
        found.retain(|it| it.weight != Weight::Choice && !is_requested(it));
        found
    }
}

/// Ends a change by what the booking says of it. After a modify, a field that it shows otherwise is
/// 7, and so is one that it does not show (`change_not_shown`). Some services ignore fields whose
/// names they do not know.
pub(crate) fn finish_changed(parts: &Parts, booking: &Booking, change: Change<'_>) -> Result<Exit> {
    let is_modify = change.kind == WriteKind::Modify;
    let found = change.compared(parts, booking);
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
    let recorded = keep(parts, booking, &accepted);
    let moved = change.moved(&parts.records, booking);
    let mut doubted: Vec<Compared> = recorded.iter().chain(&moved).cloned().collect();
    doubted.retain(|it| it.is_another() || is_modify && it.weight == Weight::Account);
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
    let exit = finish_recorded(parts, booking, refused, |view| {
        // After a payment's response the card invites no second one.
        view.is_answered = matches!(change.kind, WriteKind::Payment | WriteKind::Abort);
        view.is_on_screen = change.is_on_screen;
    })?;
    let mut is_contradicted = false;
    for it in found.iter().chain(&moved) {
        let Some(clause) = it.clause() else { continue };
        is_contradicted = true;
        let way = match &it.agreement {
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
