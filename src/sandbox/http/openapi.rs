//! `GET /openapi.json`: the OpenAPI description of the service.

use super::parsed_request::ParsedRequest;
use super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;

/// OpenAPI 3.1 of everything under `/v1`, and of the webhook events.
pub(super) const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

pub(super) fn document(_tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Ok(Reply::text(DOCUMENT))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;
    use crate::sandbox::http::endpoints::ENDPOINTS;
    use crate::sandbox::rules::error_code::ErrorCode;
    use crate::sandbox::rules::rate_limit::RateLimit;
    use crate::sandbox::rules::scope::Scope;

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    fn object(value: &Value) -> &Map<String, Value> {
        value.as_object().unwrap()
    }

    #[test]
    fn it_tells_the_scope_and_the_limit_of_every_endpoint_and_of_nothing_else() {
        let document = document();
        for endpoint in ENDPOINTS {
            let operation = &document["paths"][endpoint.path][endpoint.method.to_lowercase()];
            assert!(
                operation.is_object(),
                "{} {}",
                endpoint.method,
                endpoint.path
            );
            assert_eq!(operation["summary"], endpoint.summary);
            let scope = endpoint.scope.map(Scope::as_str);
            assert_eq!(operation["x-required-scope"].as_str(), scope);
            let limit = endpoint
                .rate_limit
                .map(|it| u64::from(RateLimit::limit(it)));
            assert_eq!(operation["x-rate-limit"].as_u64(), limit);
        }
        let operations = object(&document["paths"])
            .values()
            .map(|it| object(it).len());
        assert_eq!(operations.sum::<usize>(), ENDPOINTS.len());
    }

    #[test]
    fn it_lists_every_error_code_of_a_booking() {
        let document = document();
        let codes = &document["components"]["schemas"]["BookingErrorCode"]["enum"];
        let codes: Vec<_> = codes
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        assert_eq!(codes, ErrorCode::ALL.map(ErrorCode::as_str));
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn follow(document: &Value, value: &Value) {
            if let Some(target) = value.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(&target[1..]).is_some(), "{target}");
            }
            match value {
                Value::Object(fields) => fields.values().for_each(|it| follow(document, it)),
                Value::Array(items) => items.iter().for_each(|it| follow(document, it)),
                _ => {}
            }
        }
        let document = document();
        follow(&document, &document);
    }
}
