//! `/v1/sessions`: connect a person's provider account, and ask it for a card.

use serde::Serialize;
use serde_json::json;

use super::door::Visit;
use super::reply::{Outcome, Reply};
use crate::sandbox::rules::fields::{Complaints, Fields};
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::session::{ConnectRequest, SESSION_PROVIDER, Session, SessionState};
use crate::sandbox::seed::Provider;
use crate::sandbox::store::{About, one_time_code};
use crate::sandbox::wire::id::Kind;
use crate::sandbox::wire::session::SessionDocument;

#[derive(Serialize)]
struct Sessions<'a> {
    object: &'static str,
    sessions: Vec<SessionDocument<'a>>,
}

/// Connects an account, and texts the person a code.
pub(super) fn connect(visit: &Visit<'_, '_>) -> Outcome {
    let ledger = visit.ledger;
    let request = ConnectRequest::read(&visit.call.fields()?)?;
    let session = request.session(
        ledger.new_number(),
        &visit.organization.id,
        one_time_code(),
        ledger.now,
    );
    ledger.save_session(&session)?;
    let text = format!("{} is your code to connect your account.", session.code);
    let about = About::Session(session.number);
    ledger.text(&session.phone, &text, &session.code, &about)?;
    Reply::created(&SessionDocument::of(&session, ledger.now))
}

/// Takes the code that was texted.
pub(super) fn verify(visit: &Visit<'_, '_>) -> Outcome {
    let ledger = visit.ledger;
    let body = visit.call.fields()?;
    let mut complaints = Complaints::default();
    let code = complaints.required("code", Fields::of(&body).text("code")?);
    let code = complaints.settle(code)?;
    let (session, outcome) = find(visit)?.verify(code.trim(), ledger.now);
    ledger.save_session(&session)?;
    outcome?;
    Reply::ok(&SessionDocument::of(&session, ledger.now))
}

/// Lists the organization's sessions, of one person, provider and state if they are named.
pub(super) fn list(visit: &Visit<'_, '_>) -> Outcome {
    let now = visit.ledger.now;
    let end_user = visit.call.query("end_user");
    let mut complaints = Complaints::default();
    let provider = provider(visit, &mut complaints);
    let state = visit.call.query("state").map(|it| SessionState::parse(&it));
    if state == Some(None) {
        complaints.add("state", "must be pending, active, expired or lapsed");
    }
    complaints.settle(Some(()))?;
    let sessions = visit
        .ledger
        .sessions(&visit.organization.id, end_user.as_deref())?;
    let listed = sessions
        .iter()
        .filter(|it| provider.is_none_or(|provider| it.provider == provider))
        .filter(|it| state.flatten().is_none_or(|state| it.state(now) == state));
    Reply::ok(&Sessions {
        object: "list",
        sessions: listed.map(|it| SessionDocument::of(it, now)).collect(),
    })
}

/// Reads a session.
pub(super) fn read(visit: &Visit<'_, '_>) -> Outcome {
    Reply::ok(&SessionDocument::of(&find(visit)?, visit.ledger.now))
}

/// Disconnects: the saved sign-in is destroyed.
pub(super) fn disconnect(visit: &Visit<'_, '_>) -> Outcome {
    let session = find(visit)?;
    visit.ledger.delete_session(&session)?;
    let id = Kind::Session.id(session.number);
    Reply::ok(&json!({"id": id, "object": "session", "deleted": true}))
}

/// Whether the session's account has a card.
pub(super) fn card(visit: &Visit<'_, '_>) -> Outcome {
    let has_card = find(visit)?.has_card(visit.ledger.now)?;
    Reply::ok(&json!({"has_card": has_card}))
}

/// The same, asked by person.
pub(super) fn card_of_person(visit: &Visit<'_, '_>) -> Outcome {
    let mut complaints = Complaints::default();
    let end_user = visit.call.query("end_user");
    let end_user = complaints.required("end_user", end_user.as_deref());
    let provider = provider(visit, &mut complaints).unwrap_or(SESSION_PROVIDER);
    let end_user = complaints.settle(end_user)?;
    let session = latest(visit, end_user, provider)?.ok_or(Refusal::SessionNotFound)?;
    Reply::ok(&json!({"has_card": session.has_card(visit.ledger.now)?}))
}

/// Refuses to act as a person who is not signed in.
pub(super) fn signed_in(
    visit: &Visit<'_, '_>,
    end_user: &str,
    provider: Provider,
) -> Result<(), Refusal> {
    let session = latest(visit, end_user, provider)?;
    if session.is_some_and(|it| it.state(visit.ledger.now) == SessionState::Active) {
        Ok(())
    } else {
        Err(Refusal::ReconnectRequired)
    }
}

/// The person's session at a provider: the newest active one, else the newest.
fn latest(
    visit: &Visit<'_, '_>,
    end_user: &str,
    provider: Provider,
) -> Result<Option<Session>, Refusal> {
    let sessions = visit
        .ledger
        .sessions(&visit.organization.id, Some(end_user))?;
    let is_active = |it: &Session| it.state(visit.ledger.now) == SessionState::Active;
    Ok(sessions
        .into_iter()
        .filter(|it| it.provider == provider)
        .max_by_key(|it| (is_active(it), it.number)))
}

/// The provider that the query names.
fn provider(visit: &Visit<'_, '_>, complaints: &mut Complaints) -> Option<Provider> {
    let name = visit.call.query("provider")?;
    let provider = Provider::parse(&name);
    if provider.is_none() {
        complaints.add("provider", "is not known");
    }
    provider
}

/// The organization's session that the path names.
fn find(visit: &Visit<'_, '_>) -> Result<Session, Refusal> {
    let number = Kind::Session.number(visit.call.id());
    let session = match number {
        Some(number) => visit.ledger.session(&visit.organization.id, number)?,
        None => None,
    };
    session.ok_or(Refusal::SessionNotFound)
}
