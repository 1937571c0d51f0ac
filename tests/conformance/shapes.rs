//! Left open by the specification: the shapes of documents.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::receiver::subscribed;
use crate::service::{Service, day, instant, list, names, with};

/// Asserts that an object has these fields, and of the further ones no others. Both are lists of
/// words.
#[track_caller]
fn shaped(object: &Value, fields: &str, further: &str) {
    let names = names(object);
    for field in fields.split_whitespace() {
        assert!(names.contains(&field), "no {field} in {object}");
    }
    for name in names {
        let mut known = fields.split_whitespace().chain(further.split_whitespace());
        let known = known.any(|it| it == name);
        assert!(known, "{name} in {object}");
    }
}

#[test]
fn shape_index_says_that_it_is_a_sandbox() {
    let service = Service::start(&[]);
    let answer = service.get("/v1/");
    let index = answer.is(200);
    let fields = "object name version server_time endpoints sandbox";
    shaped(index, fields, "");
    assert_eq!(index["object"], "api");
    assert_eq!(index["sandbox"], true);
    for endpoint in list(index, "endpoints") {
        shaped(&endpoint, "method path summary", "");
    }
}

const VENUE: &str = "venue_id name vertical provider address city country latitude longitude timezone \
    tags";

#[test]
fn shape_venues_are_listed_with_all_that_is_known_of_them() {
    let service = Service::start(&[]);
    for city in ["Tokyo", "Sandbox"] {
        let search = with(service.search("dining", city), &json!({"party_size": 2}));
        let answer = service.post("/v1/venues/search", search);
        shaped(answer.is(200), "object venues", "");
        assert_eq!(answer.body["object"], "list");
        for venue in list(&answer.body, "venues") {
            shaped(&venue, VENUE, "distance_km price_level providers");
            assert!(venue["latitude"].is_number() && venue["longitude"].is_number());
            assert!(venue["tags"].is_array());
        }
    }
}

#[test]
fn shape_venue_of_several_providers_lists_them() {
    let service = Service::start(&[]);
    let venues = service.venues("dining", "Sandbox");
    let of_two = venues.iter().find(|it| it["venue_id"] == "ven_multi_provider").unwrap();
    assert_eq!(of_two["provider"], Value::Null);
    assert_eq!(of_two["providers"], json!(["provider_a", "provider_c"]));
}

#[test]
fn shape_providers_failed_lists_them_if_others_responded() {
    let service = Service::start(&[]);
    let search = service.search("dining", "Partial Outage");
    let answer = service.post("/v1/venues/search", search);
    assert_eq!(list(answer.is(200), "providers_failed").len(), 1);
    assert!(!list(&answer.body, "venues").is_empty());
}

#[test]
fn shape_slots_are_listed_with_venue_and_provider() {
    let service = Service::start(&[]);
    let mut body = day("ven_confirms_b", &service.evening(1));
    body["party_size"] = json!(3);
    let answer = service.post("/v1/availability/search", body);
    shaped(answer.is(200), "object venue_id provider slots", "");
    assert_eq!(answer.body["object"], "list");
    assert_eq!(answer.body["provider"], "provider_b");
    let fields = "availability_id datetime party_size duration_minutes";
    let further = "seating price card_terms cancellation_terms";
    for slot in list(&answer.body, "slots") {
        shaped(&slot, fields, further);
        assert_eq!(slot["party_size"], 3);
        assert!(slot["duration_minutes"].as_i64().unwrap() > 0);
    }
}

#[test]
fn shape_terms_of_card_and_cancellation_stand_in_each_slot() {
    let service = Service::start(&[]);
    for city in ["London", "Tokyo"] {
        let venue = service.search_then("dining", city, "provider_c");
        for slot in service.slots(venue["venue_id"].as_str().unwrap()) {
            let card = &slot["card_terms"];
            shaped(card, "required text", "hold_amount currency");
            let cancellation = &slot["cancellation_terms"];
            let further = "free_until fee_amount currency";
            shaped(cancellation, "text", further);
            if !cancellation["free_until"].is_null() {
                let slot_time = instant(&slot["datetime"]);
                assert!(instant(&cancellation["free_until"]) <= slot_time);
            }
        }
    }
}

const BOOKING: &str = "id object status provider venue_id venue_name datetime party_size customer \
    created_at updated_at";
const BOOKING_FURTHER: &str = "end_user seating_preference payment_collection error_code error_message next_action \
    last_modification expires_at";

#[test]
fn shape_booking_has_its_fields_and_no_others() {
    let service = Service::start(&[]);
    for venue in "ven_confirms ven_otp ven_provider_fails ven_processing".split(' ') {
        shaped(&service.book(venue), BOOKING, BOOKING_FURTHER);
    }
    let paid = service.book_paid("ven_payment");
    shaped(&paid, BOOKING, BOOKING_FURTHER);
    // Nothing is null: what does not apply is absent.
    assert!(paid.as_object().unwrap().values().all(|it| !it.is_null()));
}

#[test]
fn shape_otp_action_says_where_the_code_was_sent() {
    let (service, booking) = Service::with_booking("ven_otp");
    let action = &booking["next_action"];
    let fields = "type message channel sent_to expires_at";
    shaped(action, fields, "");
    assert_eq!(action["type"], "otp");
    let code = service.code();
    assert!(!booking.to_string().contains(&code), "the code is a secret");
}

#[test]
fn shape_payment_action_carries_the_psp_request() {
    let (_service, booking) = Service::with_paid("ven_payment");
    let action = &booking["next_action"];
    let fields = "type message amount currency psp_request expires_at";
    shaped(action, fields, "");
    assert_eq!(action["type"], "payment_approval");
    assert!(action["amount"].is_number());
    assert!(action["psp_request"]["approval_id"].is_string());
    assert_eq!(action["expires_at"], booking["expires_at"]);
}

#[test]
fn shape_other_action_lists_the_fields_it_asks_for() {
    let (service, booking) = Service::with_booking("ven_confirm_details");
    let action = &booking["next_action"];
    assert_eq!(action["type"], "confirm_details");
    assert!(action["message"].is_string());
    assert!(!list(action, "fields").is_empty());
    let answer = service.act(&booking, "continue", json!({}));
    answer.refused_plainly(400);
}

#[test]
fn shape_last_modification_tells_when_and_from_what_to_what() {
    let (service, booking) = Service::with_booking("ven_confirms");
    let answer = service.act(&booking, "modify", json!({"party_size": 5}));
    let modification = &answer.is(200)["last_modification"];
    shaped(modification, "at changes", "");
    assert_eq!(modification["changes"], json!({"party_size": {"from": 2, "to": 5}}));
    assert!(instant(&modification["at"]) >= instant(&booking["created_at"]));
}

#[test]
fn shape_session_is_201_and_pending() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001");
    shaped(&session, "id object provider state end_user created_at", "");
    assert_eq!(session["object"], "session");
    assert_eq!(session["state"], "pending");
    let answer = service.get("/v1/sessions");
    shaped(answer.is(200), "object sessions", "");
    assert_eq!(answer.body["object"], "list");
}

#[test]
fn shape_open_bookings_hold_the_summary() {
    let (service, booking) = Service::with_booking("ven_otp");
    let answer = service.get("/v1/bookings/bk_unknown");
    let open = list(answer.is(404), "open_bookings");
    shaped(&open[0], "id object status provider next_action", "");
    for (name, value) in open[0].as_object().unwrap() {
        assert_eq!(booking[name], *value);
    }
}

#[test]
fn shape_delivery_is_an_event_with_its_attempts_number() {
    let (service, receiver) = subscribed();
    let booking = service.book("ven_confirms");
    let attempt = receiver.event("booking.confirmed", &booking);
    assert_eq!(attempt.method, "POST");
    assert_eq!(attempt.headers["content-type"], "application/json");
    let fields = "id object type created_at data";
    shaped(&attempt.event, fields, "");
    assert_eq!(attempt.event["object"], "event");
    shaped(&attempt.event["data"], "object", "");
    assert_eq!(attempt.headers["booking-delivery-attempt"], "1");
    assert!(attempt.headers.contains_key("booking-signature"));
}

#[test]
fn shape_delivery_time_is_real_when_the_clock_was_moved() {
    let (service, receiver) = subscribed();
    service.advance("90d");
    let booking = service.book("ven_confirms");
    let attempt = receiver.event("booking.confirmed", &booking);
    let t: i64 = attempt.signature().0.parse().unwrap();
    assert!((attempt.at.as_second() - t).abs() <= 2);
    let created = instant(&attempt.event["created_at"]);
    assert!(created > Timestamp::now() + SignedDuration::from_hours(89 * 24));
}

#[test]
fn shape_times_have_an_offset_and_slots_the_venues_zone() {
    let service = Service::start(&[]);
    for (city, zone) in
        [("Paris", "Europe/Paris"), ("Tokyo", "Asia/Tokyo"), ("New York", "America/New_York")]
    {
        let venue = service.search_then("dining", city, "provider_a");
        assert_eq!(venue["timezone"], zone);
        let slot = service.new_slot(venue["venue_id"].as_str().unwrap());
        let local = instant(&slot["datetime"]).in_tz(zone).unwrap();
        let expected = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        assert_eq!(slot["datetime"], expected);
    }
    let booking = service.book("ven_confirms");
    instant(&booking["created_at"]);
    instant(&booking["updated_at"]);
    let index = service.get("/v1/");
    instant(&index.body["server_time"]);
}

#[test]
fn shape_ids_carry_a_prefix_and_sort_by_creation() {
    let (service, receiver) = subscribed();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let booking = service.book("ven_confirms");
        ids.push(booking["id"].as_str().unwrap().to_owned());
    }
    assert!(ids.is_sorted() && ids.iter().all(|it| it.starts_with("bk_")));
    let attempts = receiver.wait(10, |_| true);
    let event_id = |it: &crate::receiver::Attempt| it.event["id"].as_str().unwrap().to_owned();
    assert!(attempts.iter().all(|it| event_id(it).starts_with("evt_")));
    let session = service.connect("ada", "+441632960001");
    assert!(session["id"].as_str().unwrap().starts_with("ses_"));
    let organization = service.get("/sandbox/organization");
    assert!(organization.body["id"].as_str().unwrap().starts_with("org_"));
    for venue in service.venues("dining", "Sandbox") {
        assert!(venue["venue_id"].as_str().unwrap().starts_with("ven_"));
    }
    for slot in service.slots("ven_confirms") {
        assert!(slot["availability_id"].as_str().unwrap().starts_with("slot_"));
    }
}
