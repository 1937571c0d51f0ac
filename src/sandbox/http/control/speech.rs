//! `/sandbox/speech`: how the service speaks, for a client that has to reach it.

use serde_json::json;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use super::super::service::Service;

pub(super) fn show(service: &Service, _request: &ParsedRequest) -> Outcome {
    let contract = || {
        json!({
            "name": null,
            "base_path": "",
            "auth_header": "Authorization",
            "auth_scheme": "Bearer",
        })
    };
    let speech = service.speech.as_ref();
    Reply::ok(&speech.map_or_else(contract, |it| it.document()))
}
