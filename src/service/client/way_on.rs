//! A refusal shows the way: the complete command, with the names that it says.

use super::call::Call;
use super::draft::Draft;
use super::named_fields::{Named, named, texts};
use super::refusal::Refusal;
use crate::platform::shell;
use crate::service::mapping::WriteKind;
use crate::service::time::text::human;

/// What to do about a refusal (400 or 422) of what was asked: the complete command, with the names that it says.
pub(crate) fn way_on(refusal: &Refusal, call: &Call) -> Option<String> {
    let is_of_input = matches!(refusal.status, 400 | 422);
    let mut draft = call.draft.clone().filter(|_| is_of_input)?;
    let said = refusal.said().value();
    let mut errors = texts(said, &["error", "message", "detail"]);
    // What the vendor's response lacks is for the vendor to say.
    if draft.kind == WriteKind::Payment && errors.any(|it| it.contains("psp_response")) {
        return None;
    }
    let named = named(said);
    let is_sent = |field: &str| {
        let pointer = format!("/{}", field.replace('.', "/"));
        call.body
            .as_ref()
            .and_then(|body| body.pointer(&pointer))
            .is_some()
    };
    let flag = |it: &Named| flag_of(&draft, draft.own_name(&it.name).unwrap_or(&it.name));
    let unsent = || named.iter().filter(|it| !is_sent(&it.name));
    if let Some(flag) = unsent().find_map(flag) {
        return Some(format!("add {flag}, which the service requires"));
    }
    let (values, field) = (values_to_correct(refusal, &named, &flag), unsent().next());
    let field = field.map(|it| it.name.clone());
    let is_ours = |it: &Named| !is_sent(&it.name) || draft.own_name(&it.name).is_some();
    let ours: Vec<Named> = named.into_iter().filter(is_ours).collect();
    if !draft.has_expression && draft.take(&ours) {
        let name = shell::word(draft.profile.as_deref().unwrap_or("NAME"));
        return match draft.is_search() {
            true => Some(format!(
                "to find out what the service asks for: bookctl profile learn {name}"
            )),
            false => draft.command(),
        };
    }
    let Some(field) = field else {
        return values;
    };
    // These requests are answers, to which no flag adds a field.
    if matches!(
        draft.kind,
        WriteKind::Otp | WriteKind::Payment | WriteKind::Abort
    ) {
        return draft.command();
    }
    if draft.is_row {
        return Some(format!("add the field {field} to the row"));
    }
    let mut names = field.split('.');
    let first = names.next().unwrap_or_default().to_owned();
    let key = names.fold(first, |key, name| format!("{key}[{name}]"));
    let field = shell::word(&format!("{key}=VALUE"));
    Some(format!("add the field: -F {field}"))
}

const FLAGS: [(&str, &str); 12] = [
    ("datetime", "--at"),
    ("party_size", "--party"),
    ("seating_preference", "--seating"),
    ("customer.name", "--name"),
    ("customer.email", "--email"),
    ("customer.phone", "--phone"),
    ("phone", "--phone"),
    ("availability_id", "--slot"),
    ("location", "--near"),
    ("provider", "--provider"),
    ("end_user", "--end-user"),
    ("reason", "--reason"),
];

/// The flag of a field; in a batch's row the field itself.
fn flag_of(draft: &Draft, field: &str) -> Option<&'static str> {
    let (name, flag) = FLAGS.into_iter().find(|it| it.0 == field)?;
    let is_one = flag != "--reason" || draft.kind == WriteKind::Cancel;
    is_one.then_some(if draft.is_row { name } else { flag })
}

/// Which values to correct, if the refusal names fields that have flags: `check the value of --party`.
fn values_to_correct(
    refusal: &Refusal,
    named: &[Named],
    flag: &impl Fn(&Named) -> Option<&'static str>,
) -> Option<String> {
    let flags: Vec<&str> = named.iter().map(flag).collect::<Option<_>>()?;
    if let ([flag], [it]) = (&flags[..], named)
        && let Some(value) = it.why.strip_prefix("must be ")
        && !value.contains(' ')
        && flag.starts_with("--")
    {
        return Some(format!("pass {}", shell::flag(flag, value)));
    }
    let values = if flags.len() == 1 { "value" } else { "values" };
    let time = refusal
        .other_time
        .filter(|_| flags.contains(&"--at") || flags.contains(&"datetime"));
    let time = time.map_or(String::new(), |time| {
        let time = human(&time.strftime("%FT%TZ").to_string());
        format!("; by the service's clock it is {time}")
    });
    (!flags.is_empty()).then(|| format!("check the {values} of {}{time}", flags.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::mapping::Adapter;
    use reqwest::header::HeaderMap;
    use serde_json::{Value, json};

    fn hint(kind: WriteKind, sent: Value, body: Value) -> Option<String> {
        let adapter = Adapter {
            profile: Some("acme".to_owned()),
            ..Adapter::default()
        };
        let asked = sent.as_object().cloned().unwrap();
        let call = Call::written(&adapter, kind, "/v1/x", asked).unwrap();
        way_on(&Refusal::new(400, &HeaderMap::new(), body.into()), &call)
    }

    #[test]
    fn the_hint_is_the_complete_command_for_what_a_refusal_names() {
        let slots = json!({"venue_id": "v", "datetime": "2026-12-01", "party_size": 2});
        let create = json!({"datetime": "2026-12-01", "customer": {"name": "Ada"}});
        let missing = |name: &str| json!({"error": "no", "missing": [name]});
        let learn = "to find out what the service asks for: bookctl profile learn acme";
        let is_over = json!({"error": "no", "fields": {"datetime": "must be in the future"}});
        let session = json!({"provider": "provider_b", "phone": "1"});
        for (kind, sent, body, expected) in [
            (WriteKind::Slots, &slots, missing("channel"), Some(learn)),
            (
                WriteKind::Slots,
                &slots,
                json!({"error": "unknown field datetime"}),
                Some(learn),
            ),
            (
                WriteKind::Slots,
                &slots,
                is_over.clone(),
                Some("check the value of --at"),
            ),
            (
                WriteKind::Create,
                &create,
                is_over,
                Some("check the value of --at"),
            ),
            (
                WriteKind::Create,
                &create,
                missing("customer.mobile"),
                Some("add the field: -F 'customer[mobile]=VALUE'"),
            ),
            (
                WriteKind::Create,
                &create,
                missing("customer.phone"),
                Some("add --phone, which the service requires"),
            ),
            (
                WriteKind::Cancel,
                &json!({}),
                missing("reason"),
                Some("add --reason, which the service requires"),
            ),
            (
                WriteKind::Otp,
                &json!({"otp": "1"}),
                missing("pin"),
                Some("bookctl profile set acme dialect.otp_field=pin"),
            ),
            (
                WriteKind::Connect,
                &session,
                json!({"error": "provider must be beta"}),
                Some("pass --provider beta"),
            ),
            (
                WriteKind::Slots,
                &slots,
                json!({"error": "the datetime is in the past"}),
                None,
            ),
            (WriteKind::Slots, &slots, json!({"error": "no"}), None),
            (
                WriteKind::Otp,
                &json!({"otp": "1"}),
                missing("action"),
                Some("bookctl profile set acme 'write.otp=. * {action: <?>}'"),
            ),
            (
                WriteKind::Payment,
                &json!({"psp_response": {}}),
                json!({"error": "psp_response: approval_code is required"}),
                None,
            ),
            (
                WriteKind::Modify,
                &json!({"party_size": 2}),
                missing("new_datetime"),
                Some("add the field: -F new_datetime=VALUE"),
            ),
        ] {
            assert_eq!(
                hint(kind, sent.clone(), body.clone()).as_deref(),
                expected,
                "{body}"
            );
        }
    }
}
