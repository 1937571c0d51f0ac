//! Recognizes the signatures of other services.

/// Signature headers of other services, in lower case.
const HEADERS: &[(&str, &str)] = &[
    ("stripe-signature", "Stripe"),
    ("x-hub-signature-256", "GitHub"),
    ("x-hub-signature", "GitHub"),
    ("svix-signature", "Svix"),
    ("webhook-signature", "Standard Webhooks"),
    ("x-slack-signature", "Slack"),
    ("x-shopify-hmac-sha256", "Shopify"),
    ("x-twilio-signature", "Twilio"),
];

pub(crate) fn owner_of_header(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let row = HEADERS.iter().find(|(header, _)| *header == name);
    row.map(|(_, owner)| *owner)
}

/// The service whose signatures look like this value. Stripe's cannot be told from this service's own.
pub(crate) fn owner_of_value(value: &str) -> Option<&'static str> {
    let value = value.trim();
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let base64 = |text: &str| {
        let digits = text.trim_end_matches('=');
        text.len() == 44
            && digits.len() == 43
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
    };
    let after = |prefix| value.strip_prefix(prefix);
    if after("sha256=").is_some_and(|rest| hex(rest, 64)) {
        return Some("GitHub");
    }
    if after("sha1=").is_some_and(|rest| hex(rest, 40)) {
        return Some("GitHub");
    }
    if after("v0=").is_some_and(|rest| hex(rest, 64)) {
        return Some("Slack");
    }
    // Svix separates several signatures with blanks.
    let mut signatures = value.split(' ').map(|it| it.strip_prefix("v1,"));
    if signatures.all(|it| it.is_some_and(base64)) {
        return Some("Svix");
    }
    base64(value).then_some("Shopify")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_service_is_recognized_and_one_of_this_is_not() {
        let hex = "0".repeat(64);
        let base64 = format!("{}=", "A/".repeat(21) + "B");
        for (value, owner) in [
            (format!("sha256={hex}"), Some("GitHub")),
            (format!("v0={hex}"), Some("Slack")),
            (format!("v1,{base64}"), Some("Svix")),
            (format!("v1,{base64} v1,{base64}"), Some("Svix")),
            (base64, Some("Shopify")),
            (format!("t=1,v1={hex}"), None),
            (hex, None),
            (String::new(), None),
        ] {
            assert_eq!(owner_of_value(&value), owner, "{value}");
        }
        assert_eq!(owner_of_header("X-Hub-Signature-256"), Some("GitHub"));
        assert_eq!(owner_of_header("Booking-Signature"), None);
    }
}
