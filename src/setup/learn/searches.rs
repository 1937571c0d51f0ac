//! The two searches: what a refusal names is sent, until an answer comes.

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::key::refusal_body;
use super::reads::{Reads, Reply};
use super::report::Finding;
use super::with;
use crate::outcome::Result;
use crate::service::client::{Call, Draft, SearchLocation, SlotQuery, VenueQuery, named};
use crate::service::mapping::{Mapping, NextPage, ReadKind, WriteKind, next_page};

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "no venue was found to look at; name a place that the service knows with --near";

impl Reads<'_> {
    async fn search(
        &mut self,
        draft: &mut Draft,
        call: impl Fn(&Mapping) -> Result<Call>,
    ) -> Result<Reply> {
        let own = self.mapping().clone();
        let reply = loop {
            self.parts.api.use_mapping(with(&own, draft.setting(false).as_slice())?);
            match self.send(call(self.mapping())?).await? {
                Err(error)
                    if matches!(error.http_status, Some(400 | 404 | 409 | 422))
                        && !draft.has_expression
                        && draft.take(&named(refusal_body(&error))) => {}
                reply => break reply,
            }
        };
        self.parts.api.use_mapping(own);
        Ok(reply)
    }

    /// Reports a search that showed nothing certain, with the setting whose holes only the user can
    /// fill.
    fn leave_open(&mut self, kind: ReadKind, draft: &Draft, why: &str) {
        let mut why = why.to_owned();
        if let Some(names) = draft.open() {
            why.push_str(&format!("; only you know the value of {names}"));
        }
        let setting = draft.setting(true).map(|it| it.to_string());
        let kind = kind.as_str();
        self.report.documents.push(Finding { kind, why: Some(why), setting, ..Finding::default() });
    }

    /// Searches venues at the named place, or at the first one that has any.
    pub(crate) async fn venues(&mut self) -> Result<Option<Value>> {
        let own = self.mapping().clone();
        let mut draft = Draft::new(&own, WriteKind::Search);
        let options = self.options;
        let near = options.near.as_deref();
        let query = |place: &str, page| VenueQuery {
            page,
            vertical: options.vertical.clone(),
            place: SearchLocation::Near(place.to_owned()),
            datetime: evening(1, own.local_times),
            party_size: Some(2),
            providers: Vec::new(),
            fields: Map::new(),
        };
        let (mut found, mut refused) = (None, None);
        for place in near.map_or(PLACES.to_vec(), |near| vec![near]) {
            match self.search(&mut draft, |mapping| query(place, None).call(mapping)).await? {
                Err(error) => refused = Some(error),
                Ok(document) => {
                    let list = own.venues(&document.clone().into());
                    let is_empty = list.is_ok_and(|list| list.item.items.is_empty());
                    found = Some((place, document));
                    if !is_empty {
                        break;
                    }
                }
            }
        }
        let kind = ReadKind::Venues;
        let Some((place, document)) = found else {
            match refused {
                // A refusal that names no field may be of the place, which says nothing against the
                // profile. One without a status was not sent.
                Some(error)
                    if error.http_status.is_none_or(|status| {
                        status < 500 && near.is_none() && named(refusal_body(&error)).is_empty()
                    }) =>
                {
                    self.report.notes.extend([error.message.clone(), NO_VENUE.to_owned()]);
                }
                Some(error) => self.leave_open(kind, &draft, &error.message),
                None => {}
            }
            return Ok(None);
        };
        let setting = draft.setting(false);
        if draft.open().is_some() {
            self.leave_open(kind, &draft, "a value was tried");
        } else if let Some(setting) = setting {
            // What was learned is tried with the second page too.
            if let Some(NextPage::Field { name, value }) = next_page(&document, None) {
                let page = Some((name, value));
                let call = |mapping: &Mapping| query(place, page.clone()).call(mapping);
                if let Err(error) = self.search(&mut draft, call).await? {
                    self.report.notes.push(format!(
                        "the second page is refused: {}; say in write.search where .cursor goes",
                        error.message
                    ));
                }
            }
            self.report.settings.push(setting);
        }
        Ok(Some(document))
    }

    /// Searches slots of the first venue that was found.
    pub(crate) async fn slots(&mut self, found: &Value) -> Result<Option<Value>> {
        let own = self.mapping().clone();
        let venues = own.venues(&found.clone().into());
        let venue = venues.as_ref().map(|venues| venues.item.items.first());
        let Ok(Some(venue)) = venue else {
            let unread = "slots were not asked for: they need a venue that can be read";
            self.report.notes.push(venue.map_or(unread, |_| NO_VENUE).to_owned());
            return Ok(None);
        };
        let query = |day: i64| SlotQuery {
            page: None,
            venue_id: venue.id_value(),
            datetime: evening(day, own.local_times),
            party_size: 2,
            provider: None,
            fields: Map::new(),
        };
        let mut draft = Draft::new(&own, WriteKind::Slots);
        let kind = ReadKind::Slots;
        let document = match self.search(&mut draft, |mapping| query(1).call(mapping)).await? {
            Ok(document) => document,
            Err(error) if error.http_status.is_none() => {
                self.report.notes.push(format!("not looked at: slots: {}", error.message));
                return Ok(None);
            }
            Err(error) => {
                self.leave_open(kind, &draft, &error.message);
                return Ok(None);
            }
        };
        if let Some(setting) = draft.setting(false) {
            // What was filled in is certain where it makes a difference: another day has other slots.
            let other = self.search(&mut draft, |mapping| query(2).call(mapping)).await?;
            if !other.is_ok_and(|other| other != document) {
                let why = "another day has the same response, so check each field of the request";
                self.leave_open(kind, &draft, why);
                return Ok(None);
            }
            self.report.settings.push(setting);
        }
        Ok(Some(document))
    }
}

fn evening(days: i64, is_local: bool) -> String {
    let day = Timestamp::now().checked_add((24 * days).hours());
    let day = day.unwrap_or(Timestamp::MAX).strftime("%FT19:00:00");
    format!("{day}{}", if is_local { "" } else { "+00:00" })
}
