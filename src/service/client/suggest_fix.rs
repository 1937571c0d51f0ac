//! A refusal shows the way: the complete command, with the names that it says.

use super::call::Call;
use super::draft::Draft;
use super::named_fields::{Field, named};
use super::refusal::Refusal;
use crate::platform::shell;
use crate::service::mapping::WriteKind;

/// What to do about a refusal (400 or 422): the complete command, with the named fields.
pub(crate) fn suggest_fix(refusal: &Refusal, call: &Call) -> Option<String> {
    let mut draft = call.draft.clone().filter(|_| matches!(refusal.status, 400 | 422))?;
    let wording = refusal.document().value();
    // What the vendor's response lacks is for the vendor to say.
    if draft.kind == WriteKind::Payment && wording.to_string().contains("psp_response") {
        return None;
    }
    let is_sent = |name: &str| {
        let pointer = format!("/{}", name.replace('.', "/"));
        let value = call.body.as_ref().and_then(|body| body.value().pointer(&pointer));
        value.is_some_and(|value| !value.is_null())
    };
    let flag = |name: &str| flag_of(&draft, draft.own_name(name).unwrap_or(name));
    let (mut sent, unsent): (Vec<Field>, Vec<Field>) =
        named(wording).into_iter().partition(|it| is_sent(&it.name));
    if let Some(flag) = unsent.iter().find_map(|it| flag(&it.name)) {
        return Some(format!("add {flag}, which the service asks for"));
    }
    let flags = sent.iter().map(|it| flag(&it.name)).collect::<Option<Vec<String>>>();
    let flags = flags.filter(|flags| unsent.is_empty() && !flags.is_empty());
    let values = flags.map(|flags| format!("check the value of {}", flags.join(" and of ")));
    let field = unsent.first().map(|it| it.name.clone());
    sent.retain(|it| draft.own_name(&it.name).is_some());
    if draft.take(unsent.into_iter().chain(sent)) {
        if draft.is_search() {
            let name = shell::word(draft.profile.as_deref().unwrap_or("NAME"));
            let what = "to find out what the service asks for";
            return Some(format!("{what}: bookctl profile learn {name}"));
        }
        return draft.command().or(values);
    }
    let Some(field) = field else {
        return values;
    };
    // These requests are answers, to which no flag adds a field.
    if matches!(draft.kind, WriteKind::Otp | WriteKind::Payment | WriteKind::Abort) {
        return draft.command();
    }
    if draft.is_row {
        return Some(format!("add the field {field} to the row"));
    }
    let (first, rest) = field.split_once('.').unwrap_or((&field, ""));
    let inner = rest.split_terminator('.').map(|name| format!("[{name}]"));
    let field = format!("{first}{}=VALUE", inner.collect::<String>());
    Some(format!("add the field: -F {}", shell::word(&field)))
}

/// The flag of a field; in a batch's row the field itself.
fn flag_of(draft: &Draft, field: &str) -> Option<String> {
    let flag = match field {
        "datetime" => "--at",
        "party_size" => "--party",
        "seating_preference" => "--seating",
        "customer.name" => "--name",
        "customer.email" => "--email",
        "customer.phone" | "phone" => "--phone",
        "availability_id" => "--slot",
        "location" => "--near",
        "provider" => "--provider",
        "end_user" => "--end-user",
        "reason" if draft.kind == WriteKind::Cancel => "--reason",
        _ => return None,
    };
    Some(if draft.is_row { field } else { flag }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::mapping::Mapping;
    use reqwest::header::HeaderMap;
    use serde_json::{Value, json};

    fn hint(mapping: Mapping, kind: WriteKind, sent: &Value, body: Value) -> String {
        let mapping = Mapping { profile: Some("acme".to_owned()), ..mapping };
        let requested = sent.as_object().cloned().unwrap();
        let call = Call::written(&mapping, kind, "/v1/x", requested).unwrap();
        let refusal = Refusal::new(400, &HeaderMap::new(), body.into());
        suggest_fix(&refusal, &call).unwrap_or_default()
    }

    #[test]
    fn the_hint_is_the_complete_command_for_what_a_refusal_names() {
        let slots = json!({"venue_id": "v", "datetime": "2026-12-01", "party_size": 2});
        let create = json!({"datetime": "2026-12-01", "customer": {"name": "Ada"}});
        let missing = |name: &str| json!({"error": "no", "missing": [name]});
        let learn = "to find out what the service asks for: bookctl profile learn acme";
        let is_over = json!({"error": "no", "fields": {"datetime": "must be in the future"}});
        let is_many = json!({"error": "no", "fields": {"party_size": "must be 1 to 20"}});
        let (otp, none) = (json!({"otp": "1"}), json!({}));
        let session = json!({"provider": "provider_b", "phone": "1"});
        let payment = json!({"psp_response": {}});
        let (change, emptied) = (json!({"party_size": 2}), json!({"seating_preference": null}));
        let any = json!({"error": "no", "fields": {"datetime": "or another one is needed"}});
        let both = json!({"error": "x", "errors": [{"field": "party_size", "message": "unknown"}, {"field": "covers", "message": "is required"}]});
        let moved = json!({"party_size": 3, "datetime": "x"});
        let seconds = json!({"error": "x", "field": "datetime", "detail": "expected unix seconds"});
        let says = |error: &str| json!({"error": error});
        let set = |setting: &str| format!("bookctl profile set acme {setting}");
        let no_null = " | with_entries(select(.value != null))'";
        let as_seconds = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)}";
        use WriteKind::{Cancel, Connect, Create, Modify, Otp, Payment, Search, Slots, Verify};
        #[rustfmt::skip]
        let cases = [
            (Slots, &slots, missing("channel"), learn),
            (Slots, &slots, says("unknown field datetime"), learn),
            (Slots, &slots, is_over.clone(), "check the value of --at"),
            (Search, &slots, is_many.clone(), "check the value of --party"),
            (Modify, &slots, is_many, "check the value of --party"),
            (Create, &create, is_over, "check the value of --at"),
            (Create, &create, missing("customer.mobile"), "add the field: -F 'customer[mobile]=VALUE'"),
            (Create, &create, missing("customer.phone"), "add --phone, which the service asks for"),
            (Cancel, &none, missing("reason"), "add --reason, which the service asks for"),
            (Otp, &otp, missing("pin"), &set("dialect.otp_field=pin")),
            (Otp, &otp, says("answer.value is required"), &set("dialect.otp_field=answer.value")),
            (Otp, &none, json!({"error": "x", "missing": ["a", "b"]}), &set("'write.otp=. * {a: <?>} * {b: <?>}'")),
            (Verify, &json!({"code": "1"}), missing("pin"), &set("dialect.session_code_field=pin")),
            (Connect, &none, missing("mobile"), &set("dialect.session_phone_field=mobile")),
            (Cancel, &none, missing("why"), &set("dialect.cancel_reason_field=why")),
            (Modify, &change, missing("covers"), &set("dialect.modify_party_size_field=covers")),
            (Modify, &change, says("unknown field party_size"), &set("dialect.modify_party_size_field=NAME")),
            (Modify, &moved, both, &set(&format!("'write.modify=del(.party_size) * {{covers: .party_size}}{no_null}"))),
            (Modify, &json!({"datetime": "x"}), seconds.clone(), &set(&format!("'write.modify=. * {{datetime: {as_seconds}{no_null}"))),
            (Connect, &session, says("provider must be beta"), "check the value of --provider"),
            (Slots, &slots, says("the datetime is in the past"), ""),
            (Slots, &slots, says("no"), ""),
            (Otp, &otp, missing("action"), &set("'write.otp=. * {action: <?>}'")),
            (Payment, &payment, says("psp_response: approval_code is required"), ""),
            (Modify, &change, missing("new_datetime"), "add the field: -F new_datetime=VALUE"),
            (Modify, &emptied, any, "add --at, which the service asks for"),
        ];
        for (kind, sent, body, expected) in cases {
            assert_eq!(hint(Mapping::default(), kind, sent, body.clone()), expected, "{body}");
        }
        // What the profile renames stays in an expression.
        let mut mapping = Mapping::default();
        mapping.set("dialect.modify_party_size_field", "covers").unwrap();
        let stored = hint(mapping, Modify, &json!({"datetime": "x"}), seconds);
        assert!(stored.contains("* {covers: .party_size}"), "{stored}");
    }
}
