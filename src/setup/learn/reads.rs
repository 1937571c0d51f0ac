//! The calls of learning: few, reads alone, and at most half of what a rate limit leaves. In the
//! searches, what a refusal names is sent, until an answer comes.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};

use super::report::{LearnReport, Sample};
use super::{LearnOptions, ways, with};
use crate::app::Parts;
use crate::booking::confirmation::Confirmation;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{
    Call, Draft, Failure, SearchQuery, key_sent_as, named_in, session, show_call,
};
use crate::service::mapping::{HOLE, Mapping, NextPage, ReadKind, Setting, WriteKind, next_page};

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

pub(crate) const MOST_CALLS: usize = 25;

pub(crate) struct Reads<'a> {
    pub(crate) parts: &'a mut Parts,
    pub(crate) options: &'a LearnOptions,
    /// What a person gives is meant, whatever else comes of its kind.
    pub(crate) recorded: Vec<Sample>,
    pub(crate) report: LearnReport,
    /// The calls that each rate limit counted of these reads, and how many it has left.
    metered: BTreeMap<&'static str, (u32, u32)>,
}

impl<'a> Reads<'a> {
    pub(crate) fn new(
        parts: &'a mut Parts,
        options: &'a LearnOptions,
        recorded: Vec<Sample>,
    ) -> Self {
        let report = LearnReport {
            profile: parts.api.facts.mapping().profile.clone(),
            is_check: options.check,
            ..LearnReport::default()
        };
        Reads { parts, options, recorded, report, metered: BTreeMap::new() }
    }

    pub(super) fn mapping(&self) -> &Mapping {
        self.parts.api.facts.mapping()
    }

    /// Asks before something is sent or written, unless the user said yes or it is a check.
    pub(crate) async fn confirm(&self, action: &str, question: &str, declined: &str) -> Result<()> {
        if self.options.yes || self.options.check {
            return Ok(());
        }
        Confirmation::new(action, question, declined).ask(&self.parts.ui.prompter).await
    }

    /// Reads the service, and shows its documents and the recorded ones.
    pub(crate) async fn look(&mut self) -> Result<()> {
        let index = self.index().await?;
        for it in &self.recorded {
            self.report.show(self.parts.api.facts.mapping(), it);
        }
        self.show(ReadKind::Index, &index);
        let (vertical, datetime) = (&self.options.vertical, self.evening(1));
        let places = self.options.near.as_deref().map_or(PLACES.to_vec(), |near| vec![near]);
        let body = |place| json!({"vertical": vertical, "datetime": datetime, "location": place, "party_size": 2});
        let found = self.search(ReadKind::Venues, places.into_iter().map(body).collect()).await?;
        let venues = found.and_then(|it| self.mapping().venues(&it.into()).ok());
        if let Some(venue) = venues.iter().flat_map(|it| &it.item.items).next() {
            let body = json!({"venue_id": venue.id_value(), "datetime": datetime, "party_size": 2});
            self.search(ReadKind::Slots, vec![body]).await?;
        } else {
            let note =
                "slots need a venue that is read; name a place that the service knows with --near";
            self.report.notes.push(note.to_owned());
        }
        let bookings = self.parts.records.journal().and_then(|it| it.booking_ids(3));
        let bookings = bookings.unwrap_or_default();
        let bookings = bookings.iter().map(|id| (ReadKind::Booking, show_call(id)));
        for (kind, call) in [(ReadKind::Sessions, session::list(&[]))].into_iter().chain(bookings) {
            match self.send(call).await? {
                Ok(document) => self.show(kind, &document),
                Err(error) => self.report.note_missed(kind, &error),
            }
        }
        Ok(())
    }

    /// Reads the index. After a 401 and a go-ahead, sends the key in other ways to the same address.
    async fn index(&mut self) -> Result<Value> {
        let error = match self.send(Call::get("/v1/")).await? {
            Err(error) if error.http_status == Some(401) && !self.options.check => error,
            reply => return reply,
        };
        let own = self.mapping();
        let ways = ways(own);
        let list = ways.iter().map(|it| format!("`{}`", key_sent_as(&it.1)));
        let list = list.collect::<Vec<_>>().join(", ");
        let out = &self.parts.ui.out;
        out.warn(&format!("{}; sent as: {}", error.message, key_sent_as(own)));
        out.note(&format!("other ways to send it: {list}"));
        let count = ways.len();
        let question = format!("Try {count} other ways to send the key, to this address alone?");
        let declined = "the key was not sent in another way";
        self.confirm("sending the key in other ways", &question, declined).await?;
        for (settings, mapping) in ways {
            self.parts.api.use_mapping(mapping);
            if let Ok(document) = self.send(Call::get("/v1/")).await? {
                self.report.settings.extend(settings);
                return Ok(document);
            }
        }
        Err(error.detail(format!("tried as well: {list}")).hint(
            "the service's documentation shows how to send the key; set `auth_header` and `auth_scheme`, `auth_query`, \
             `auth_user` or `headers.NAME` with `bookctl profile set`",
        ))
    }

    /// Reads again with what was found, and leaves what is still not read in the report.
    pub(crate) async fn look_again(&mut self) -> Result<()> {
        let found = std::mem::take(&mut self.report.settings);
        self.parts.api.use_mapping(with(self.mapping(), &found)?);
        self.report.documents.clear();
        self.report.notes.clear();
        if let Err(error) = self.look().await {
            self.report.notes.push(format!("not read again: {}", error.message));
        }
        self.report.settings = found;
        Ok(())
    }

    /// Prints the report. Ends with 3 where a check finds that the service differs from what the
    /// profile says.
    pub(crate) fn conclude(&self) -> Result<Exit> {
        self.parts.ui.out.emit(&self.report)?;
        let is_other = self.options.check && !self.report.fits();
        Ok(if is_other { Exit::Config } else { Exit::Done })
    }

    fn show(&mut self, kind: ReadKind, document: &Value) {
        if self.recorded.iter().all(|it| it.kind != kind) {
            let sample = Sample { kind, value: document.clone(), headers: Vec::new() };
            self.report.show(self.parts.api.facts.mapping(), &sample);
        }
    }

    /// Sends a read. A refusal has no HTTP status where nothing was sent.
    pub(crate) async fn send(&mut self, call: Call) -> Result<Result<Value>> {
        let limit = call.rate_limit_name();
        // Half of what was left before is for others.
        let metered = limit.and_then(|name| self.metered.get(name));
        let is_spent = metered.is_some_and(|(sent, left)| left <= sent);
        if call.is_write() || self.report.calls >= MOST_CALLS || is_spent {
            let spent = "no call is left, or the rate limit leaves too little";
            return Ok(Err(Error::new(Code::RateLimited, spent)));
        }
        self.parts.api.admit(&call, Duration::ZERO).await?;
        self.report.calls += 1;
        let client = self.parts.api.client()?;
        let _progress = self.parts.ui.out.progress("reading");
        let answer = client.send(&call).await;
        if let (Some(name), Some(seen)) = (limit, client.rate_limit.get().flatten()) {
            let (sent, left) = self.metered.entry(name).or_default();
            (*sent, *left) = (*sent + 1, seen.remaining);
        }
        self.parts.api.observe_rate_limit(&call);
        self.parts.records.keep_rate_limits();
        match answer {
            Ok(answer) => Ok(Ok(answer.document.value().clone())),
            Err(failure @ Failure::Refused(_)) => Ok(Err(failure.into_error(&call))),
            Err(failure) => Err(failure.into_error(&call)),
        }
    }

    /// Sends these searches until one finds something, and shows it. What it takes to have a
    /// response is certain once it was tried for another page, or another day has another one.
    async fn search(&mut self, kind: ReadKind, bodies: Vec<Value>) -> Result<Option<Value>> {
        let is_venues = kind == ReadKind::Venues;
        let write_kind = if is_venues { WriteKind::Search } else { WriteKind::Slots };
        let mut draft = Draft::new(self.mapping(), write_kind, |_| true);
        let (is_anywhere, mut body, mut reply) = (bodies.len() > 1, Value::Null, Ok(Value::Null));
        for it in bodies {
            body = it;
            reply = self.ask(&mut draft, &body).await?;
            let list = reply.as_ref().map(|it| self.mapping().list(kind, &it.clone().into(), Some));
            if list.is_ok_and(|list| !list.is_ok_and(|it| it.item.items.is_empty())) {
                break;
            }
        }
        let document = match reply {
            Ok(document) => document,
            Err(error) => {
                // What was not sent says nothing against the profile. Without the name of a field, it
                // may be the place that is refused.
                let is_of_place = is_anywhere && named_in(&error).is_empty();
                if error.http_status.is_some_and(|status| status >= 500 || !is_of_place) {
                    let why = [vec![error.message.clone()], error.details.clone()].concat();
                    self.report.leave_open(kind, draft.setting(), why.join("; "));
                } else {
                    self.report.note_missed(kind, &error);
                }
                return Ok(None);
            }
        };
        self.show(kind, &document);
        if let Some(NextPage::Field { name, value }) = next_page(&document, None)
            && is_venues
        {
            body[name] = value;
            if let Err(error) = self.ask(&mut draft, &body).await? {
                let what = "say in write.search where .cursor goes";
                let note = format!("the second page is refused: {}; {what}", error.message);
                self.report.notes.push(note);
            }
        }
        let Some(setting) = draft.setting() else { return Ok(Some(document)) };
        body["datetime"] = self.evening(2).into();
        if is_venues && setting.value.contains(HOLE) {
            self.report.leave_open(kind, Some(setting), "a value was tried".to_owned());
        } else if is_venues || self.ask(&mut draft, &body).await?.is_ok_and(|it| it != document) {
            self.report.settings.push(tried(setting));
        } else {
            let doubt = "another day has the same response, so check each field of the request";
            self.report.leave_open(kind, Some(setting), doubt.to_owned());
        }
        Ok(Some(document))
    }

    /// Sends a request, and again with what its refusal names, until that is nothing new.
    async fn ask(&mut self, draft: &mut Draft, body: &Value) -> Result<Result<Value>> {
        loop {
            let mapping = with(self.mapping(), draft.setting().map(tried).as_slice())?;
            match self.send(SearchQuery::new(draft.kind, body, Map::new()).call(&mapping)?).await? {
                Err(error)
                    if matches!(error.http_status, Some(400 | 404 | 409 | 422))
                        && draft.take(named_in(&error)) => {}
                reply => return Ok(reply),
            }
        }
    }

    fn evening(&self, days: i64) -> String {
        let day = Timestamp::now().checked_add((24 * days).hours());
        let day = day.unwrap_or(Timestamp::MAX).strftime("%FT19:00:00");
        format!("{day}{}", if self.mapping().local_times { "" } else { "+00:00" })
    }
}

/// A setting whose holes have the time, so that the next refusal shows what is wanted.
fn tried(setting: Setting) -> Setting {
    Setting { value: setting.value.replace(HOLE, ".datetime"), ..setting }
}
