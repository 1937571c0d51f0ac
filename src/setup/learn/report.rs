//! What was seen of a service, for people and as JSON: read or not read, and the paths that came. Never a value.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::plain;
use crate::outcome::Exit;
use crate::platform::shell;
use crate::service::mapping::{Adapter, Outline, ReadKind, missing};
use crate::terminal::output::{Draw, Page, Tone};

pub(crate) struct Came {
    pub(crate) kind: ReadKind,
    pub(crate) value: Value,
    /// Those of a recorded delivery.
    pub(crate) headers: Vec<(String, String)>,
}

impl Came {
    pub(crate) fn new(kind: ReadKind, value: Value) -> Self {
        Came {
            kind,
            value,
            headers: Vec::new(),
        }
    }

    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    }
}

/// A setting that the service has shown to be right.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Certain {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) why: String,
}

impl Certain {
    pub(crate) fn new(key: impl Into<String>, value: &str, why: impl Into<String>) -> Self {
        let (key, why) = (key.into(), why.into());
        let value = value.to_owned();
        Certain { key, value, why }
    }

    pub(crate) fn assignment(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    pub(crate) why: String,
    /// The setting that could change it, with holes for what only a person knows.
    pub(crate) setting: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    kind: &'static str,
    read: bool,
    why: Option<String>,
    /// Fields of the contract that are not found in it.
    missing: Vec<&'static str>,
    /// Fields that the profile's own expression no longer finds.
    lost: Vec<&'static str>,
    /// The kinds of the values at each path, in the order in which they came.
    paths: Map<String, Value>,
    setting: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct LearnReport {
    /// `None` where no profile leads to the service.
    pub(crate) profile: Option<String>,
    pub(crate) calls: usize,
    pub(crate) documents: Vec<Shown>,
    /// What is certain, and not yet said in the profile.
    pub(crate) settings: Vec<Certain>,
    pub(crate) refused: Vec<Refused>,
    /// What nobody has to correct.
    pub(crate) notes: Vec<String>,
    pub(crate) written: Option<String>,
    #[serde(skip)]
    pub(crate) is_check: bool,
    #[serde(skip)]
    pub(crate) is_read_only: bool,
    /// Whether a person has seen the documents already.
    #[serde(skip)]
    pub(crate) is_seen: bool,
}

impl LearnReport {
    /// Takes in a document with what is read of it. Of several of a kind, one that is not read counts.
    pub(crate) fn show(
        &mut self,
        adapter: &Adapter,
        came: &Came,
        items: Result<Vec<Value>, String>,
    ) {
        let outline = Outline::of(&came.value);
        let key = format!("read.{}", came.kind.as_str());
        let is_own = adapter.expressions().any(|(known, _)| known == key);
        let why = items.as_ref().err().cloned();
        let objects = items.unwrap_or_default();
        // An empty list shows no field.
        let missing = if objects.is_empty() {
            Vec::new()
        } else {
            missing(came.kind, &objects)
        };
        let is_null = |name: &&str| objects.iter().any(|it| it.get(*name) == Some(&Value::Null));
        // A slot may be without terms.
        let is_lost = |name: &&str| is_own && came.kind != ReadKind::Slots && is_null(name);
        let lost = missing.iter().copied().filter(is_lost).collect();
        let has_holes = why.is_some() || !missing.is_empty() && !is_own;
        // A delivery names its settings itself.
        let setting = (has_holes && came.kind != ReadKind::Event)
            .then(|| format!("{key}={}", outline.skeleton(came.kind, &missing)));
        let paths = outline.paths.into_iter();
        let paths = paths.map(|(path, kinds)| (path, kinds.join(" or ").into()));
        let shown = Shown {
            kind: came.kind.as_str(),
            read: why.is_none(),
            why,
            missing,
            lost,
            paths: paths.collect(),
            setting,
        };
        match self.documents.iter_mut().find(|it| it.kind == shown.kind) {
            Some(known) if known.read && !shown.read => *known = shown,
            Some(_) => {}
            None => self.documents.push(shown),
        }
    }

    /// Whether the service differs from what the profile says. A field that never was there is no difference.
    fn is_drifted(&self) -> bool {
        let differs = |it: &Shown| !it.read || !it.lost.is_empty();
        !self.settings.is_empty() || !self.refused.is_empty() || self.documents.iter().any(differs)
    }

    pub(crate) fn exit(&self) -> Exit {
        if self.is_check && self.is_drifted() {
            Exit::Config
        } else {
            Exit::Done
        }
    }

    fn set_command(&self, setting: &str) -> String {
        let name = shell::word(self.profile.as_deref().unwrap_or("NAME"));
        format!("bookctl profile set {name} {}", shell::word(setting))
    }

    fn heading(&self, page: &mut Page) {
        let name = match &self.profile {
            Some(name) => format!("profile {name}"),
            None => "the service".to_owned(),
        };
        let is_read = self.refused.is_empty() && self.documents.iter().all(|it| it.read);
        if let Some(file) = &self.written {
            page.heading(Tone::Good, "wrote", file);
        } else if self.is_check && self.is_drifted() {
            page.heading(Tone::Warn, "does not fit", name);
        } else if !is_read {
            page.heading(Tone::Warn, "not all is read", name);
        } else {
            let is_known = self.settings.is_empty();
            page.heading(Tone::Good, if is_known { "fits" } else { "read" }, name);
        }
    }

    fn document(&self, page: &mut Page, shown: &Shown) {
        match &shown.why {
            None => page.labelled(Tone::Good, "read", shown.kind),
            Some(why) => page.labelled(Tone::Warn, "not read", format!("{}: {why}", shown.kind)),
        };
        if !shown.missing.is_empty() {
            page.line(format!("    not found: {}", shown.missing.join(", ")));
        }
        if !shown.lost.is_empty() {
            let lost = shown.lost.join(", ");
            page.line(format!("    read.{} finds no longer: {lost}", shown.kind));
        }
        if !self.is_check || !shown.read {
            let widths = shown.paths.keys().map(String::len);
            let width = widths.max().unwrap_or(0).min(48);
            for (path, kinds) in &shown.paths {
                page.line(format!("    {path:width$}  {}", plain(kinds)));
            }
        }
        if let Some(setting) = &shown.setting {
            page.command(self.set_command(setting));
        }
    }
}

impl Draw for LearnReport {
    fn draw(&self, page: &mut Page) {
        self.heading(page);
        page.field("sent", format!("{} reads, nothing else", self.calls));
        for shown in self.documents.iter().filter(|it| !self.is_seen || !it.read) {
            self.document(page, shown);
        }
        for Refused { why, setting } in &self.refused {
            page.labelled(Tone::Warn, "refused", why);
            if let Some(setting) = setting {
                page.command(self.set_command(setting));
            }
        }
        let of_documents = self.documents.iter().map(|it| &it.setting);
        let commands = of_documents.chain(self.refused.iter().map(|it| &it.setting));
        if commands.flatten().any(|it| it.contains("<?>")) {
            let how = "put the service's own name or value for each <?>, and leave out what it does not have";
            page.labelled(Tone::Dim, "note", how);
        }
        for note in &self.notes {
            page.labelled(Tone::Dim, "note", note);
        }
        for setting in self.settings.iter().filter(|_| !self.is_seen) {
            page.labelled(Tone::Good, "certain", setting.why.as_str());
            page.line(format!("    {} = {}", setting.key, setting.value));
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
