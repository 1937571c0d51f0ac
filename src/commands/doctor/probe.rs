//! `doctor --probe`: the service's documents as they are, against the specification and the profile.

use std::collections::BTreeMap;

use serde_json::json;

use crate::adapter::learn::{Finding, Recorded, unnamed};
use crate::app::{Context, Startup};
use crate::config::Target;
use crate::flows::learn::{Lookout, OtherWays, misread, not_found, survey};
use crate::json::Document;
use crate::model::shell;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, Tone, View};

/// What the service's documents show.
struct Probe {
    /// `None` where there is none to teach.
    profile: Option<String>,
    calls: usize,
    /// What cannot be read, and calls that were refused.
    against: Vec<String>,
    /// What stands under other names than the profile says.
    named_otherwise: Vec<Finding>,
    /// Fields that no field of the contract is named like, by the kind of document: of what the profile makes of it.
    unnamed: BTreeMap<&'static str, Vec<String>>,
}

/// Reads what `profile learn` reads, and writes nothing.
pub(super) async fn run(setup: Startup) -> Result<Exit> {
    let mut context = Context::new(setup)?;
    let lookout = Lookout {
        near: None,
        vertical: "dining".to_owned(),
        openapi: None,
        other_ways: OtherWays::Never,
    };
    let survey = {
        let _progress = context.out.progress("reading");
        survey(&mut context, &lookout, Recorded::default()).await?
    };
    let mut against = misread(context.adapter(), &survey.documents);
    against.extend(not_found(context.adapter(), &survey.documents));
    against.extend(survey.refused);
    let mut by_kind: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for (kind, document) in &survey.documents {
        let names = unnamed(*kind, &context.adapter().translated(*kind, document));
        if !names.is_empty() {
            by_kind.entry(kind.as_str()).or_default().extend(names);
        }
    }
    let profile = match context.target() {
        Target::Remote(service) => service.profile.clone(),
        Target::Embedded { .. } => None,
    };
    let probe = Probe {
        profile,
        calls: survey.calls,
        against,
        named_otherwise: survey
            .findings
            .into_iter()
            .filter(|it| !it.key.is_empty())
            .collect(),
        unnamed: by_kind,
    };
    context.out.emit(&probe)?;
    let is_right = probe.against.is_empty() && probe.named_otherwise.is_empty();
    Ok(if is_right { Exit::Done } else { Exit::Config })
}

impl View for Probe {
    fn json(&self) -> Document {
        let named = self.named_otherwise.iter().map(|it| {
            json!({"certainty": it.certainty.as_str(), "key": it.key, "value": it.value, "why": it.why})
        });
        json!({
            "calls": self.calls,
            "against_the_specification": self.against,
            "other_names": named.collect::<Vec<_>>(),
            "without_a_field": self.unnamed,
        })
        .into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        match self.against.is_empty() && self.named_otherwise.is_empty() {
            true => page.heading(Tone::Good, "understood", "the service's documents"),
            false => page.heading(Tone::Warn, "differs", "the service's documents"),
        };
        page.field("sent", format!("{} reads, nothing else", self.calls));
        for why in &self.against {
            page.field("against the spec", why.as_str());
        }
        for finding in &self.named_otherwise {
            page.field("other names", finding.why.as_str());
        }
        for (kind, names) in &self.unnamed {
            page.field("no field for", format!("{kind}: {}", names.join(", ")));
        }
        if let Some(profile) = &self.profile
            && !self.named_otherwise.is_empty()
        {
            page.next(format!("bookctl profile learn {}", shell::word(profile)));
        }
        page
    }
}
