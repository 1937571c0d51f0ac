//! Other words for the fields whose names the specification leaves open: the only list of them.

use crate::adapter::Shape;
use crate::adapter::kind::ReadKind;

/// What a field holds, so that a name alone does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Text,
    /// A whole number, or a text of digits.
    Whole,
    /// A time in a form that is read.
    Time,
    /// An IANA time zone.
    Zone,
    /// A text, or a list of texts or of objects with one text.
    Providers,
    /// A whole number, next to which the name says that it counts minor units.
    Minor,
    Any,
}

/// A field of the contract, and the names that services give it. A name with dots is a path; where a path and a name
/// have the same letters, they are one.
pub(super) struct Field {
    /// The contract's name; one inside another object has a dot.
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    /// Names with blanks between them.
    pub(super) words: &'static str,
}

const fn field(name: &'static str, holds: Holds, words: &'static str) -> Field {
    Field { name, holds, words }
}

/// Objects in which a field may stand without being another one.
pub(super) const NEUTRAL: &str = "attributes details info facts location loc visit audit history data _embedded embedded \
        policies terms place schedule reservation people rank clock";

/// The open fields of a kind of document.
pub(super) fn fields(kind: ReadKind) -> &'static [Field] {
    match kind {
        ReadKind::Index => INDEX,
        ReadKind::Venues => VENUE,
        ReadKind::Slots => SLOT,
        ReadKind::Booking => BOOKING,
        ReadKind::Session | ReadKind::Sessions => SESSION,
        ReadKind::Card | ReadKind::Error | ReadKind::Event => &[],
    }
}

/// The shape of what a kind of document holds.
pub(super) fn shape(kind: ReadKind) -> Option<Shape> {
    match kind {
        ReadKind::Venues => Some(Shape::Venue),
        ReadKind::Slots => Some(Shape::Slot),
        ReadKind::Booking => Some(Shape::Booking),
        ReadKind::Session | ReadKind::Sessions => Some(Shape::Session),
        ReadKind::Card => Some(Shape::Card),
        ReadKind::Index | ReadKind::Error | ReadKind::Event => None,
    }
}

const INDEX: &[Field] = &[
    field(
        "name",
        Holds::Text,
        "service_name api_name api title display_name service",
    ),
    field("version", Holds::Text, "api_version v release release.path"),
    field(
        "server_time",
        Holds::Time,
        "now time clock.now unix_time date timestamp time.epoch",
    ),
];

const VENUE: &[Field] = &[
    field(
        "name",
        Holds::Text,
        "display_name title label venue_name name.text name.en restaurant restaurant_name \
        place_name",
    ),
    field(
        "timezone",
        Holds::Zone,
        "time_zone tz zone tzid iana_timezone time_zone_id clock.zone zone.name zone_id",
    ),
    field(
        "address",
        Holds::Text,
        "street_address street postal_address address_line location.address address.street where \
        postal_address.street place full_address",
    ),
    field(
        "city",
        Holds::Text,
        "city_name locality town address.city address.locality postal_address.locality",
    ),
    field(
        "provider",
        Holds::Providers,
        "primary_provider provider_id source booked_with providers provider_ids connected_through \
        booking.providers links.providers via integration",
    ),
    field(
        "price_level",
        Holds::Any,
        "price_band price_class price_range price_tier rank.price",
    ),
    field(
        "distance_km",
        Holds::Any,
        "km_away distance_in_km kilometres kilometers",
    ),
];

const SLOT: &[Field] = &[
    field(
        "duration_minutes",
        Holds::Whole,
        "length_minutes duration_min minutes",
    ),
    field(
        "party_size",
        Holds::Whole,
        "covers guests pax people seats persons party party.adults",
    ),
    field(
        "seating",
        Holds::Text,
        "area seating_area section table seat.area room seating_type",
    ),
    field(
        "card_terms",
        Holds::Any,
        "card_policy card terms.card guarantee hold card_guarantee card_rules card_conditions",
    ),
    field(
        "cancellation_terms",
        Holds::Any,
        "cancel_policy cancellation_policy cancellation cancelling terms.cancellation \
        refund_rules release cancellation_rules cancel_terms",
    ),
    field(
        "price.amount",
        Holds::Minor,
        "price_minor price_cents amount_minor price_in_cents",
    ),
    field(
        "price.currency",
        Holds::Text,
        "price_currency currency currency_code",
    ),
];

const BOOKING: &[Field] = &[
    field(
        "datetime",
        Holds::Time,
        "starts_at start start_time starting_at when time at begins_at date_time visit.start \
        interval.start reserved_for",
    ),
    field(
        "party_size",
        Holds::Whole,
        "covers guests pax people seats persons party party.adults number_of_guests visit.party",
    ),
    field(
        "venue_id",
        Holds::Any,
        "venue.venue_id venue.id restaurant.venue_id place_id",
    ),
    field(
        "venue_name",
        Holds::Text,
        "venue.name venue.title venue.label venue.display_name venue_title restaurant.name \
        restaurant.restaurant venue.name.text",
    ),
    field(
        "seating_preference",
        Holds::Text,
        "area seating section table seat.area seating_area",
    ),
    field(
        "created_at",
        Holds::Time,
        "created made posted written created_on created.at creation_time",
    ),
    field(
        "updated_at",
        Holds::Time,
        "updated changed modified amended corrected updated.at modified_at changed_at \
        last_updated",
    ),
    field(
        "expires_at",
        Holds::Time,
        "valid_until expires expiry expires_on deadline held_until",
    ),
    field(
        "customer.name",
        Holds::Text,
        "guest.full_name guest.name guest_name lead.name payee.name in_the_name_of customer_name \
        customer.full_name contact.name",
    ),
    field(
        "customer.email",
        Holds::Text,
        "guest.email_address guest.email guest_email lead.contact.email payee.email \
        customer_email customer.email_address contact.email",
    ),
    field(
        "customer.phone",
        Holds::Text,
        "guest.mobile guest.phone guest_phone lead.contact.phone payee.phone customer_phone \
        customer.mobile customer.phone_number contact.phone",
    ),
    field(
        "next_action.message",
        Holds::Text,
        "next_action.instructions next_action.user_message next_action.say next_action.note \
        next_action.title next_action.text next_action.action.texts.customer action_message",
    ),
    field(
        "next_action.channel",
        Holds::Text,
        "next_action.delivery_channel next_action.sent.by next_action.by next_action.medium \
        next_action.through next_action.action.sent.channel",
    ),
    field(
        "next_action.sent_to",
        Holds::Text,
        "next_action.masked_destination next_action.sent.to next_action.to next_action.target \
        next_action.reached_at next_action.action.sent.address",
    ),
    field(
        "next_action.expires_at",
        Holds::Time,
        "next_action.answer_before next_action.answer_until next_action.until \
        next_action.valid_until next_action.deadline next_action.action.window.ends",
    ),
    field(
        "next_action.amount",
        Holds::Minor,
        "next_action.amount_minor next_action.amount_cents",
    ),
    field(
        "next_action.currency",
        Holds::Text,
        "next_action.currency_code",
    ),
    field(
        "next_action.psp_request",
        Holds::Any,
        "next_action.vendor.payload next_action.vendor_request next_action.hand_over \
        next_action.terminal next_action.action.vendor.request next_action.payment_request",
    ),
];

const SESSION: &[Field] = &[
    field(
        "created_at",
        Holds::Time,
        "created opened opened_at posted written created_on history.created.at",
    ),
    field(
        "end_user",
        Holds::Text,
        "user person end_user_id external_user",
    ),
];

/// Words for the text inside terms that are an object.
pub(super) const TEXT_OF_TERMS: &str =
    "summary description wording wording.en note message details";

/// Words for what a request names. The last word of a path decides, else the one before it.
pub(super) const VENUE_WORDS: &str = "venue_id venue for_venue restaurant restaurant_id place_id property property_id \
        venue_code";
/// Words for the day alone.
pub(super) const DAY_WORDS: &str = "day date on booking_date visit_date";
/// Words for the time, or the beginning of a window.
pub(super) const TIME_WORDS: &str = "datetime date_time start starts_at start_time when time at from begin begins_at \
        new_start_time visit_time";
/// Words for the end of a window.
pub(super) const END_WORDS: &str = "to until end ends_at end_time till";
/// Words for the number of guests.
pub(super) const PARTY_WORDS: &str = "party_size covers guests pax people seats persons party size new_party_size \
        number_of_guests";
/// Words for the provider.
pub(super) const PROVIDER_WORDS: &str = "provider provider_id source via with integration";
/// Words for the seating.
pub(super) const SEATING_WORDS: &str =
    "seating_preference seating area table section new_seating seating_area seat";

/// Words for a status that the specification has another word for.
pub(super) const STATUS_WORDS: &[(&str, &str)] = &[
    (
        "requires_action",
        "awaiting_guest action_required awaiting_action needs_action waiting_for_guest",
    ),
    (
        "processing",
        "in_progress pending queued received working submitted requested",
    ),
    ("confirmed", "booked accepted complete completed ok"),
    ("failed", "rejected declined error refused"),
    ("cancelled", "cancelled_by_guest voided"),
    ("expired", "lapsed timed_out timeout"),
];

/// Words of a pause that asks for a one-time code, as parts of its name.
pub(super) const OTP_PARTS: &str = "otp code sms";
/// Words of a pause that asks for a payment, as parts of its name.
pub(super) const PAYMENT_PARTS: &str = "payment pay psp";
