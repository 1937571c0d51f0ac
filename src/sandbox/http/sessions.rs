//! `/v1/sessions`: connect a person's provider account, and ask it for a card.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reply::{HandlerResult, Reply};
use super::request::RequestContext;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fields::{self, FieldErrors};
use crate::sandbox::rules::session::{SESSION_PROVIDER, Session, SessionState};
use crate::sandbox::seed::Provider;
use crate::sandbox::store::{next_number, one_time_code};
use crate::sandbox::wire::{IdKind, WireTime};

pub(super) fn connect(context: &RequestContext<'_>) -> HandlerResult {
    let tx = context.tx;
    let (body, organization) = (&context.request.body, &context.organization.id);
    let (number, code) = (next_number(), one_time_code());
    let session = Session::connect(body, number, organization, code, tx.now)?;
    tx.save_session(&session)?;
    let (phone, code) = (&session.phone, &session.code);
    let about = (IdKind::SESSION, session.number);
    tx.send_code(organization, phone, "connect your account", code, about)?;
    Reply::created(&document(&session, tx.now))
}

/// It contains neither the phone number nor the code.
fn document(session: &Session, now: Timestamp) -> Value {
    json!({
        "id": IdKind::SESSION.id(session.number),
        "object": "session",
        "provider": SESSION_PROVIDER,
        "state": session.state(now),
        "end_user": session.end_user,
        "created_at": WireTime(session.created_at),
    })
}

#[derive(Deserialize)]
struct VerifyBody {
    code: Option<String>,
}

pub(super) fn verify(context: &RequestContext<'_>) -> HandlerResult {
    let tx = context.tx;
    let body: VerifyBody = fields::read(&context.request.body)?;
    let mut errors = FieldErrors::default();
    let code = errors.required("code", body.code);
    errors.finish()?;
    let mut session = find(context)?;
    let verified = session.verify(code.trim(), tx.now);
    tx.save_session(&session)?;
    verified?;
    Reply::ok(&document(&session, tx.now))
}

pub(super) fn list(context: &RequestContext<'_>) -> HandlerResult {
    let now = context.tx.now;
    let end_user = context.request.query("end_user");
    let mut errors = FieldErrors::default();
    let has_any = has_sessions(context, &mut errors);
    let known = |it: String| serde_json::from_value::<SessionState>(it.into()).ok();
    let demand = "must be pending, active, expired or lapsed";
    let state = errors.parsed("state", context.request.query("state"), known, demand);
    errors.finish()?;
    let sessions = context.tx.sessions(&context.organization.id, end_user.as_deref())?;
    let listed =
        sessions.iter().filter(|it| has_any && state.is_none_or(|state| it.state(now) == state));
    let documents: Vec<_> = listed.map(|it| document(it, now)).collect();
    Reply::ok(&json!({"object": "list", "sessions": documents}))
}

pub(super) fn read(context: &RequestContext<'_>) -> HandlerResult {
    Reply::ok(&document(&find(context)?, context.tx.now))
}

pub(super) fn disconnect(context: &RequestContext<'_>) -> HandlerResult {
    let session = find(context)?;
    context.tx.delete_session(&session)?;
    let id = IdKind::SESSION.id(session.number);
    Reply::ok(&json!({"id": id, "object": "session", "deleted": true}))
}

pub(super) fn card(context: &RequestContext<'_>) -> HandlerResult {
    let has_card = find(context)?.has_card(context.tx.now)?;
    Reply::ok(&json!({"has_card": has_card}))
}

pub(super) fn card_of_person(context: &RequestContext<'_>) -> HandlerResult {
    let mut errors = FieldErrors::default();
    let end_user = errors.required("end_user", context.request.query("end_user"));
    let has_any = has_sessions(context, &mut errors);
    errors.finish()?;
    let session = latest(context, &end_user)?.filter(|_| has_any);
    let session = session.ok_or(ApiError::SESSION_NOT_FOUND)?;
    Reply::ok(&json!({"has_card": session.has_card(context.tx.now)?}))
}

pub(super) fn require_session(context: &RequestContext<'_>, end_user: &str) -> Result<()> {
    let session = latest(context, end_user)?;
    if session.is_some_and(|it| it.state(context.tx.now) == SessionState::Active) {
        Ok(())
    } else {
        Err(ApiError::RECONNECT_REQUIRED)
    }
}

/// The person's newest active session, else the newest.
fn latest(context: &RequestContext<'_>, end_user: &str) -> Result<Option<Session>> {
    let sessions = context.tx.sessions(&context.organization.id, Some(end_user))?;
    let is_active = |it: &Session| it.state(context.tx.now) == SessionState::Active;
    Ok(sessions.into_iter().max_by_key(|it| (is_active(it), it.number)))
}

/// Whether the provider that the query names has sessions: the only one that has some does, and is
/// meant without a name.
fn has_sessions(context: &RequestContext<'_>, errors: &mut FieldErrors) -> bool {
    let Some(name) = context.request.query("provider") else {
        return true;
    };
    if Provider::parse(&name).is_none() {
        errors.add("provider", "is not known");
    }
    name == SESSION_PROVIDER.id()
}

fn find(context: &RequestContext<'_>) -> Result<Session> {
    let number = IdKind::SESSION.number(&context.request.id);
    context.tx.session(&context.organization.id, number)?.ok_or(ApiError::SESSION_NOT_FOUND)
}
