//! What was seen of a service, for people and as JSON: kinds and paths, never a value.

use serde::Serialize;
use serde_json::{Map, Value};

use super::items;
use crate::json::plain;
use crate::outcome::Error;
use crate::platform::shell;
use crate::service::documents::slot::Slot;
use crate::service::mapping::{
    HOLE, Mapping, Outline, ReadKind, Setting, missing, set_command, signing_service,
};
use crate::terminal::output::{Draw, Page, Tone};

pub(crate) struct Sample {
    pub(crate) kind: ReadKind,
    pub(crate) value: Value,
    /// Those of a recorded delivery.
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Finding {
    pub(crate) kind: &'static str,
    pub(crate) read: bool,
    pub(crate) why: Option<String>,
    pub(crate) missing: Vec<&'static str>,
    /// The kinds of the values at each path, in the order in which they came.
    pub(crate) paths: Map<String, Value>,
    /// The setting that mends it, with holes for what only a person knows.
    pub(crate) setting: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct LearnReport {
    /// `None` where no profile leads to the service.
    pub(crate) profile: Option<String>,
    pub(crate) calls: usize,
    pub(crate) documents: Vec<Finding>,
    pub(crate) settings: Vec<Setting>,
    /// What needs no correction.
    pub(crate) notes: Vec<String>,
    pub(crate) written: Option<String>,
    #[serde(skip)]
    pub(crate) is_check: bool,
    #[serde(skip)]
    pub(crate) is_read_only: bool,
}

impl LearnReport {
    /// Takes in a document. Of several of a kind, one that is not read counts.
    pub(crate) fn show(&mut self, mapping: &Mapping, came: &Sample) {
        let (kind, outline) = (came.kind.as_str(), Outline::from_document(&came.value));
        let read = items(mapping, came);
        let mut why = read.as_ref().err().map(|error| error.message.clone());
        let objects = read.unwrap_or_default();
        self.settings.extend(of_form(mapping, came, &objects));
        // An empty list shows no field.
        let missing = if objects.is_empty() { Vec::new() } else { missing(came.kind, &objects) };
        // A delivery names its settings itself.
        let has_holes = (why.is_some() || !missing.is_empty()) && came.kind != ReadKind::Event;
        // What the profile's own expression names was there once. A slot may be without terms.
        let is_own = mapping.read.contains_key(&came.kind) && came.kind != ReadKind::Slots;
        let is_null = |name: &&str| objects.iter().any(|it| it.get(*name) == Some(&Value::Null));
        let lost: Vec<_> = missing.iter().copied().filter(|it| is_own && is_null(it)).collect();
        if !lost.is_empty() {
            why = Some(format!("read.{kind} finds no longer: {}", lost.join(", ")));
        }
        let setting = has_holes.then(|| format!("read.{kind}={}", outline.skeleton(came.kind)));
        let paths = outline.paths.into_iter();
        let paths = paths.map(|(path, kinds)| (path, kinds.join(" or ").into())).collect();
        let finding = Finding { kind, read: why.is_none(), why, missing, paths, setting };
        match self.documents.iter_mut().find(|it| it.kind == kind) {
            Some(known) if known.read && !finding.read => *known = finding,
            Some(_) => {}
            None => self.documents.push(finding),
        }
    }

    pub(super) fn note_missed(&mut self, kind: ReadKind, error: &Error) {
        self.notes.push(format!("not looked at: {}: {}", kind.as_str(), error.message));
    }

    /// Adds a search that showed nothing certain, with the setting whose holes only the user fills.
    pub(super) fn leave_open(&mut self, kind: ReadKind, setting: Option<Setting>, why: String) {
        let (kind, setting) = (kind.as_str(), setting.map(|it| it.to_string()));
        self.documents.push(Finding { kind, why: Some(why), setting, ..Finding::default() });
    }

    pub(super) fn fits(&self) -> bool {
        self.settings.is_empty() && self.documents.iter().all(|it| it.read)
    }
}

impl Draw for LearnReport {
    fn draw(&self, page: &mut Page) {
        let name = self.profile.as_ref();
        let name = name.map_or("the service".to_owned(), |it| format!("profile {it}"));
        match &self.written {
            Some(file) => page.heading(Tone::Good, "wrote", file),
            None if self.fits() => page.heading(Tone::Good, "fits", name),
            None => page.heading(Tone::Warn, "does not fit", name),
        };
        page.field("sent", format!("{} reads, nothing else", self.calls));
        let mut has_holes = false;
        for Finding { kind, read, why, missing, paths, setting } in &self.documents {
            match why {
                None => page.labelled(Tone::Good, "read", *kind),
                Some(why) => page.labelled(Tone::Warn, "not read", format!("{kind}: {why}")),
            };
            if !missing.is_empty() {
                page.line(format!("    not found: {}", missing.join(", ")));
            }
            let width = paths.keys().map(String::len).max().unwrap_or(0).min(48);
            for (path, kinds) in paths.iter().filter(|_| !self.is_check || !read) {
                page.line(format!("    {path:width$}  {}", plain(kinds)));
            }
            if let Some(setting) = setting {
                has_holes |= setting.contains(HOLE);
                page.command(set_command(self.profile.as_deref(), &shell::word(setting)));
            }
        }
        if has_holes {
            let how = "put the service's own name or value for each <?>, and leave out what it does not have";
            page.labelled(Tone::Dim, "note", how);
        }
        for note in &self.notes {
            page.labelled(Tone::Dim, "note", note);
        }
        for setting in &self.settings {
            page.labelled(Tone::Good, "certain", setting.to_string());
        }
        let Some(name) = self.profile.as_deref().map(shell::word) else {
            return;
        };
        if self.is_check && !self.settings.is_empty() {
            page.next(format!("bookctl profile learn {name}"));
        }
        if self.is_read_only {
            let access = "read-only from now on: look at what bookctl reads, then allow changes";
            page.field("access", access);
            page.next(format!("bookctl doctor --probe --profile {name}"));
            page.next(format!("bookctl profile set {name} read_only=false"));
        }
    }
}

/// The setting that the form of a document shows, and the profile does not say yet.
fn of_form(mapping: &Mapping, came: &Sample, objects: &[Value]) -> Option<Setting> {
    if let Some(service) = came.headers.iter().find_map(|(name, _)| signing_service(name)) {
        let is_known = service.eq_ignore_ascii_case(&mapping.dialect.service_name);
        return (!is_known).then(|| Setting::new("dialect.service_name", service));
    }
    let is_local = |it: &Value| {
        let slot = Slot::from_value(it.clone());
        slot.is_some_and(|it| it.local().is_some() && it.instant(None).is_none())
    };
    let are_slots = came.kind == ReadKind::Slots && !objects.is_empty();
    let are_local = are_slots && !mapping.local_times && objects.iter().all(is_local);
    are_local.then(|| Setting::new("local_times", "true"))
}
