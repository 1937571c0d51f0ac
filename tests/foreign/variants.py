"""The ways in which one booking service may differ from another and still follow the specification.

A variant is data.  BASE is the service as the column "today taken for" of the list of open points has it; every
other variant is a set of changes to BASE.  A table says, for each field of a canonical document, where the field
stands in what is sent (a path with dots) and in which form; tables of requests say the same the other way round.
Nothing here knows how a booking lives: that is service.py.

A target in a table is None (not sent, or not taken), a path, a pair (path, form), or a list of such pairs.
"""
import copy
import datetime as dt
import re
import zlib
from email.utils import formatdate

try:
    from zoneinfo import ZoneInfo
    ZoneInfo("Asia/Tokyo")
except Exception:                        # no time zone data on this machine: winter offsets will do
    class ZoneInfo(dt.tzinfo):
        HOURS = {"Asia/Tokyo": 9, "America/New_York": -5}

        def __init__(self, key):
            self.key = key

        def utcoffset(self, when):
            return dt.timedelta(hours=self.HOURS.get(self.key, 0))

        def dst(self, when):
            return dt.timedelta(0)

        def tzname(self, when):
            return self.key

# ------------------------------------------------------------------------------------------------ the reference

BASE = {
    "says": "everything as the open points say it is taken for today (the reference)",
    "prefix": "api",
    "service": "Booking",                # <Service>-Signature
    "strict": [],                        # operations that refuse a top-level field they do not know
    "auth": {"in": "header", "name": "Authorization", "scheme": "Bearer", "second": None,
             "look": {"live": "sk_live_", "test": "sk_test_", "beta": "sk_v3_"}},
    "ids": {"venue": "text:ven_", "slot": "text:slot_", "booking": "text:bk_", "session": "text:ses_", "event": "text:evt_"},
    "object_name": "booking",
    "providers": {"A": "provider_a", "B": "provider_b", "C": "provider_c", "D": "provider_d"},
    "status": {"requires_action": "requires_action", "processing": "processing", "confirmed": "confirmed",
               "failed": "failed", "cancelled": "cancelled", "expired": "expired"},
    "session_state": {"pending": "pending", "active": "active"},
    "resource": None,                    # {"booking": "bookings", …}: documents become {type, id, attributes}
    "meta": None,                        # where every answer also carries the id of the request
    "answers": {"index": "", "venues": "venues", "slots": "slots", "booking": "", "session": "",
                "sessions": "sessions", "card": ""},
    "create_status": {"fresh": 201, "repeated": 200},
    "delete_status": 204,
    "paging": {"venues": None, "sessions": None},
    "end_user": "text",
    # ---- documents that are sent
    "index": {"name": "name", "version": "version", "server_time": ("server_time", "t:utc"),
              "endpoints": ("endpoints", "routes:objects")},
    "route_names": {"method": "method", "path": "path", "summary": "summary"},
    "partial_failure": ("providers_failed", "failed:names"),
    "venue": {"venue_id": ("venue_id", "id:venue"), "name": "name", "address": "address", "vertical": "vertical",
              "providers": ("providers", "providers"), "timezone": ("timezone", "tz:iana"),
              "price_level": "price_level", "distance_km": "distance_km", "tags": "tags", "rating": "rating"},
    "slots_answer": {"provider": ("provider", "provider")},
    "slot": {"availability_id": ("availability_id", "id:slot"), "datetime": ("datetime", "t:offset"),
             "duration_minutes": "duration_minutes", "seating": "seating", "party_size": None,
             "price": [("price.amount", "m:minor"), ("price.currency", "m:currency")],
             "card_terms": ("card_terms", "doc:card_terms"),
             "cancellation_terms": ("cancellation_terms", "doc:cancellation_terms")},
    "card_terms": {"text": "text", "required": "required",
                   "hold": [("hold_amount", "m:minor"), ("currency", "m:currency")], "per_person": None},
    "cancellation_terms": {"text": "text", "free_until": ("free_until", "t:offset"),
                           "fee": [("fee_amount", "m:minor"), ("currency", "m:currency")]},
    "booking": {"id": ("id", "id:booking"), "object": "object", "status": ("status", "status"),
                "provider": ("provider", "provider"), "error_code": "error_code", "error_message": "error_message",
                "next_action": "next_action", "last_modification": "last_modification",
                "expires_at": ("expires_at", "t:utc"),
                "datetime": ("datetime", "t:offset"), "party_size": "party_size",
                "guest_name": "customer.name", "guest_email": "customer.email", "guest_phone": "customer.phone",
                "venue_id": ("venue_id", "id:venue"), "venue_name": "venue_name",
                "created_at": ("created_at", "t:utc"), "updated_at": ("updated_at", "t:utc"),
                "seating": "seating_preference", "confirmation_number": None, "price": None, "links": None},
    "action_shape": "object",            # object, list, text (the rest stands beside it), keyed (the kind is the key)
    "action": {"kind": "type", "message": "message", "channel": "channel", "sent_to": "sent_to",
               "expires_at": ("expires_at", "t:utc"),
               "money": [("amount", "m:minor"), ("currency", "m:currency")],
               "psp_request": "psp_request", "fields": ("fields", "fields:objects")},
    "action_words": {"otp": "enter_otp", "payment": "approve_payment", "details": "provide_details"},
    "modification_shape": "changes",     # changes, text, list, before_after
    "modification_names": {"at": ("at", "t:utc"), "datetime": "datetime", "party_size": "party_size",
                           "seating": "seating_preference"},
    "session": {"id": ("id", "id:session"), "provider": ("provider", "provider"), "state": ("state", "session_state"),
                "end_user": ("end_user", "end_user"), "created_at": ("created_at", "t:utc"),
                "phone_masked": None, "verified_at": None},
    "event": {"id": "id", "kind": "type", "created_at": ("created_at", "t:utc")},
    "validation": "fields:map",          # fields:map, list:objects, list:texts, pointers, names
    "open_bookings": "objects",          # objects, ids, map, wrapped, links, texts
    "attempts_left": "attempts_left",
    "refused_booking": "booking",
    # ---- requests that are taken
    "search_request": {"providers": ("providers", "list"), "party_size": "party_size"},
    "slots_request": {"venue": ("venue_id", "id:venue"), "datetime": ("datetime", "t:offset"),
                      "window_from": None, "window_to": None, "party_size": "party_size",
                      "provider": "provider", "further": None},
    "slots_further": None,               # the words that `further` takes
    "slots_required": ["venue", "datetime"],
    "create_request": {"email": "customer.email", "phone": "customer.phone", "datetime_form": ("datetime", "t:offset"),
                       "seating": "seating_preference", "notes": "notes", "further": None},
    "create_required": [],
    "otp_request": {"code": "otp"},
    "details_request": ("", "map"),      # place, and map or list of {name, value}
    "psp_response": "object",            # object, text
    "psp_abort": "true",                 # true, text, object
    "modify_request": {"datetime": "datetime", "party_size": "party_size", "seating": "seating_preference"},
    "cancel_request": {"reason": "reason"},
    "cancel_required": [],
    "connect_request": {"phone": "phone"},
    "verify_request": {"code": "code"},
}

# ------------------------------------------------------------------------------------------------ the variants

CHANGES = {}

CHANGES["assumed"] = {}

CHANGES["enveloped"] = {
    "says": "snake_case inside {data, meta}; a key header without a word; search options under `filters`; availability asked by date alone",
    "prefix": "partner-api", "service": "Harbor",
    "auth": {"name": "X-Partner-Key", "scheme": ""},
    "ids": {"venue": "uuid", "slot": "uuid", "booking": "uuid", "session": "uuid", "event": "uuid"},
    "providers": {"A": "tablefast", "B": "seatlink", "C": "openhall", "D": "farebridge"},
    "meta": "meta.request_id",
    "answers": {"index": "data", "venues": "data.results", "slots": "data.availability", "booking": "data",
                "session": "data", "sessions": "data.items", "card": "data"},
    "create_status": {"fresh": 201, "repeated": 201},
    "paging": {"venues": {"style": "cursor", "size": 2, "request": {"cursor": "page.after", "size": "page.limit"},
                          "response": {"next": "meta.next_cursor", "total": "meta.total_count"}},
               "sessions": {"style": "cursor", "size": 2, "request": {"cursor": "after", "size": "limit"},
                            "response": {"next": "meta.next_cursor", "total": "meta.total_count"}}},
    "index": {"name": "service_name", "version": "api_version", "server_time": ("clock.now", "t:utc"),
              "endpoints": ("routes", "routes:texts")},
    "partial_failure": ("meta.unavailable_providers", "failed:objects"),
    "venue": {"name": "title", "address": [("location.street", "street"), ("location.city", "city")],
              "providers": ("connected_through", "providers"), "timezone": ("location.time_zone", "tz:iana"),
              "price_level": "facts.price_band", "distance_km": ("facts.distance_m", "metres"), "tags": "facts.labels",
              "rating": "facts.score"},
    "slots_answer": {"provider": ("data.source", "provider")},
    "slot": {"duration_minutes": "length_minutes", "seating": "area", "party_size": "covers",
             "price": ("price", "m:nested"), "card_terms": ("card_policy", "doc:card_terms"),
             "cancellation_terms": ("cancel_policy", "doc:cancellation_terms")},
    "card_terms": {"text": "summary", "required": "card_needed", "hold": ("hold", "m:nested")},
    "cancellation_terms": {"text": "summary", "free_until": ("free_before", "t:utc"), "fee": ("late_fee", "m:nested")},
    "booking": {"datetime": ("starts_at", "t:offset"), "party_size": "covers", "guest_name": "guest.full_name",
                "guest_email": "guest.email_address", "guest_phone": "guest.mobile",
                "venue_id": ("venue.venue_id", "id:venue"), "venue_name": "venue.title",
                "created_at": ("audit.created", "t:utc"), "updated_at": ("audit.changed", "t:utc"),
                "seating": "area", "confirmation_number": "confirmation_code"},
    "action": {"kind": "kind.code", "message": "instructions", "channel": "sent.by", "sent_to": "sent.to",
               "expires_at": ("answer_before", "t:utc"), "money": ("charge", "m:nested"),
               "psp_request": "vendor.payload", "fields": ("questions", "fields:map")},
    "action_words": {"otp": "code", "payment": "payment", "details": "questions"},
    "modification_shape": "before_after",
    "modification_names": {"at": ("changed_at", "t:utc"), "datetime": "starts_at", "party_size": "covers", "seating": "area"},
    "session_state": {"pending": "awaiting_code"},
    "session": {"created_at": ("opened_at", "t:utc"), "phone_masked": "sent_to"},
    "event": {"id": "event_id", "kind": "event_type", "created_at": ("occurred_at", "t:utc")},
    "validation": "list:objects", "open_bookings": "wrapped", "attempts_left": "attempts_remaining",
    "refused_booking": "data",
    "strict": ["search"],
    "search_request": {"providers": ("filters.providers", "list"), "party_size": None},
    "slots_request": {"venue": ("venue.venue_id", "id:venue"), "datetime": ("day", "t:date"), "party_size": "covers",
                      "provider": "source"},
    "create_request": {"email": "customer.email_address", "phone": "customer.mobile", "seating": "area"},
    "otp_request": {"code": "verification_code"},
    "details_request": ("answers", "map"),
    "modify_request": {"datetime": "starts_at", "party_size": "covers", "seating": "area"},
    "cancel_request": {"reason": "cancellation_reason"},
    "connect_request": {"phone": "mobile"}, "verify_request": {"code": "verification_code"},
}

CHANGES["camel"] = {
    "says": "camelCase, numbers for ids, milliseconds since 1970, a second header for the organization, required channel on availability",
    "prefix": "rest/partner", "service": "Bookwell",
    "auth": {"name": "Authorization", "scheme": "ApiKey", "second": {"name": "X-Organization-Id", "value": "20417"}},
    "ids": {"venue": "number", "slot": "number", "booking": "number", "session": "number", "event": "number"},
    "object_name": "Booking",
    "providers": {"A": "TABLEFAST", "B": "SEATLINK", "C": "OPENHALL", "D": "FAREBRIDGE"},
    "status": {"requires_action": "requiresAction"},
    "session_state": {"pending": "codeSent"},
    "answers": {"venues": "result.venueList", "slots": "result.slotList", "sessions": "result.sessionList"},
    "paging": {"venues": {"style": "page", "size": 3, "request": {"cursor": "pageNumber", "size": "pageSize"},
                          "response": {"next": "result.nextPage", "total": "result.totalCount"}},
               "sessions": {"style": "page", "size": 3, "request": {"cursor": "pageNumber", "size": "pageSize"},
                            "response": {"next": "result.nextPage", "total": "result.totalCount"}}},
    "index": {"name": "apiName", "version": "apiVersion", "server_time": ("serverTime", "t:ms"),
              "endpoints": ("partnerEndpoints", "routes:objects")},
    "route_names": {"method": "httpMethod", "path": "uriPath", "summary": "description"},
    "partial_failure": ("result.providersFailed", "failed:names"),
    "venue": {"name": "displayName", "address": [("streetAddress", "street"), ("cityName", "city")],
              "providers": ("primaryProvider", "first_provider"), "timezone": ("timeZone", "tz:iana"),
              "price_level": "priceLevel", "distance_km": "distanceKm", "tags": "categoryTags", "rating": "averageRating"},
    "slots_answer": {"provider": ("result.providerId", "provider")},
    "slot": {"datetime": ("datetime", "t:ms"), "duration_minutes": "durationMinutes", "seating": "seatingArea",
             "party_size": "partySize", "price": [("priceMinor", "m:minor"), ("priceCurrency", "m:currency")],
             "card_terms": ("cardTerms", "doc:card_terms"),
             "cancellation_terms": ("cancellationTerms", "doc:cancellation_terms")},
    "card_terms": {"text": "description", "required": "cardRequired", "per_person": "perPerson",
                   "hold": [("holdAmountMinor", "m:minor"), ("currencyCode", "m:currency")]},
    "cancellation_terms": {"text": "description", "free_until": ("freeUntil", "t:ms"),
                           "fee": [("feeAmountMinor", "m:minor"), ("currencyCode", "m:currency")]},
    "booking": {"expires_at": ("expires_at", "t:ms"), "datetime": ("startTime", "t:ms"), "party_size": "partySize",
                "guest_name": "guestName", "guest_email": "guestEmail", "guest_phone": "guestPhone",
                "venue_id": ("venueId", "id:venue"), "venue_name": "venueName",
                "created_at": ("createdAt", "t:ms"), "updated_at": ("updatedAt", "t:ms"),
                "seating": "seatingPreference", "confirmation_number": "confirmationNumber",
                "price": [("totalMinor", "m:minor"), ("totalCurrency", "m:currency")]},
    "action": {"kind": "actionType", "message": "userMessage", "channel": "deliveryChannel", "sent_to": "maskedDestination",
               "expires_at": ("expiresAt", "t:ms"), "money": [("amountMinor", "m:minor"), ("currencyCode", "m:currency")],
               "psp_request": "pspRequest", "fields": ("requiredFields", "fields:names")},
    "action_words": {"otp": "otpRequired", "payment": "paymentRequired", "details": "detailsRequired"},
    "modification_names": {"at": ("modifiedAt", "t:ms"), "datetime": "startTime", "party_size": "partySize",
                           "seating": "seatingPreference"},
    "session": {"created_at": ("createdAt", "t:ms"), "phone_masked": "maskedPhone", "verified_at": ("verifiedAt", "t:ms")},
    "event": {"id": "eventId", "kind": "eventType", "created_at": ("createdAt", "t:ms")},
    "validation": "list:texts", "open_bookings": "ids", "attempts_left": "remainingAttempts",
    "search_request": {"providers": ("providerIds", "csv"), "party_size": "partySize"},
    "slots_request": {"venue": ("venueId", "id:venue"), "datetime": ("startTime", "t:ms"), "party_size": "partySize",
                      "provider": "providerId", "further": "channel"},
    "slots_further": ["web", "phone", "desk"],
    "slots_required": ["venue", "datetime", "party_size", "further"],
    "create_request": {"email": "customer.emailAddress", "phone": "customer.phoneNumber", "datetime_form": ("datetime", "t:ms"),
                       "seating": "seatingPreference", "notes": "specialRequest"},
    "otp_request": {"code": "otpCode"},
    "details_request": ("actionFields", "list"),
    "modify_request": {"datetime": "newStartTime", "party_size": "newPartySize", "seating": "newSeating"},
    "cancel_request": {"reason": "reasonText"},
    "connect_request": {"phone": "phoneNumber"}, "verify_request": {"code": "smsCode"},
}

CHANGES["plain"] = {
    "says": "flat, bare lists, a text for next_action and for all terms, local times without an offset, the key as the user of Basic",
    "prefix": "b", "service": "PlainBook",
    "auth": {"in": "basic", "name": "Authorization", "scheme": "Basic"},
    "ids": {"venue": "text:V", "slot": "text:S", "booking": "text:B", "session": "text:C", "event": "text:E"},
    "object_name": "reservation",
    "providers": {"A": "alpha", "B": "bravo", "C": "charlie", "D": "delta"},
    "status": {"requires_action": "requires-action", "cancelled": "canceled"},
    "session_state": {"pending": "new"},
    "answers": {"venues": "", "slots": "", "sessions": ""},
    "create_status": {"fresh": 200, "repeated": 200},
    "delete_status": 200,
    "paging": {"venues": {"style": "link", "size": 3, "request": {"cursor": "page", "size": "per_page"},
                          "response": {"next": "header:Link", "total": "header:X-Total-Count"}},
               "sessions": {"style": "link", "size": 3, "request": {"cursor": "page", "size": "per_page"},
                            "response": {"next": "header:Link", "total": "header:X-Total-Count"}}},
    "index": {"name": "api", "version": "v", "server_time": ("now", "t:local_space"), "endpoints": ("paths", "routes:map")},
    "partial_failure": None,
    "venue": {"address": ("place", "one_line"), "providers": ("via", "csv_providers"), "timezone": ("utc_offset", "tz:offset"),
              "price_level": ("price", "dollars"), "distance_km": ("km_away", "text"), "tags": ("keywords", "csv"), "rating": ("stars", "text")},
    "slots_answer": {"provider": "header:X-Provider"},
    "slot": {"datetime": ("datetime", "t:local"), "duration_minutes": ("length", "iso_duration"), "seating": "table",
             "price": ("price", "m:text"), "card_terms": ("card", "terms_text"),
             "cancellation_terms": ("cancelling", "terms_text")},
    "booking": {"expires_at": ("expires_at", "t:local_space"), "datetime": [("date", "t:day"), ("time", "t:clock")],
                "party_size": ("people", "text"), "guest_name": "name", "guest_email": "email", "guest_phone": "phone",
                "venue_id": ("venue", "id:venue"), "venue_name": "venue_title",
                "created_at": ("made", "t:local_space"), "updated_at": ("changed", "t:local_space"),
                "seating": "table", "confirmation_number": "reference", "price": ("total", "m:text")},
    "action_shape": "text",
    "action": {"message": "action_message", "channel": None, "sent_to": "action_sent_to",
               "expires_at": None, "money": ("action_amount", "m:text"), "psp_request": ("action_payload", "json_text"),
               "fields": ("action_fields", "fields:csv")},
    "action_words": {"otp": "code needed", "payment": "payment needed", "details": "details needed"},
    "modification_shape": "text",
    "session": {"created_at": ("opened", "t:local_space")},
    "event": {"id": "number", "kind": "event", "created_at": ("time", "t:local_space")},
    "validation": "names", "open_bookings": "texts", "attempts_left": "tries",
    "search_request": {"providers": ("via", "csv"), "party_size": "people"},
    "slots_request": {"venue": ("venue", "id:venue"), "datetime": ("when", "t:local"), "party_size": "people", "provider": "via"},
    "slots_required": ["venue", "datetime", "party_size"],
    "create_request": {"email": "customer.mail", "phone": "customer.tel", "datetime_form": ("datetime", "t:local"),
                       "seating": "table", "notes": "remark"},
    "otp_request": {"code": "code"},
    "details_request": ("", "map"),
    "psp_response": "text", "psp_abort": "text",
    "modify_request": {"datetime": "when", "party_size": "people", "seating": "table"},
    "cancel_request": {"reason": "why"},
    "connect_request": {"phone": "tel"}, "verify_request": {"code": "pin"},
}

CHANGES["nested"] = {
    "says": "{booking: …}, {session: …}; money always an object; nested requests; the key in the query; terms must be accepted",
    "prefix": "api/bookings-core", "service": "Grand-Tour",
    "auth": {"in": "query", "name": "api_key", "scheme": ""},
    "providers": {"A": "prv.alpha", "B": "prv.beta", "C": "prv.gamma", "D": "prv.delta"},
    "answers": {"index": "api", "venues": "search.found.venues", "slots": "availability.day.slots", "booking": "booking",
                "session": "session", "sessions": "sessions.list", "card": "card"},
    "status": {"cancelled": "Cancelled"},
    "index": {"name": "title", "version": "release.path", "server_time": ("time.epoch", "t:epoch"),
              "endpoints": ("links", "routes:links")},
    "partial_failure": ("search.warnings", "failed:sentences"),
    "venue": {"name": "name.text", "address": ("address", "address_object"), "providers": ("booking.providers", "provider_objects"),
              "timezone": ("clock.zone", "tz:iana"), "price_level": "rank.price", "distance_km": ("distance", "distance_object"),
              "tags": ("tags", "tag_objects"), "rating": "rank.guests"},
    "slots_answer": {"provider": ("availability.provider.id", "provider")},
    "slot": {"duration_minutes": ("length", "length_object"), "seating": "seat.area", "party_size": ("party", "party_object"),
             "price": ("price.total", "m:object"), "card_terms": ("terms.card", "doc:card_terms"),
             "cancellation_terms": ("terms.cancellation", "doc:cancellation_terms")},
    "card_terms": {"text": "wording.en", "required": "guarantee.required", "hold": ("guarantee.hold", "m:object"),
                   "per_person": "guarantee.per_person"},
    "cancellation_terms": {"text": "wording.en", "free_until": ("free.until", "t:utc"), "fee": ("afterwards.fee", "m:object")},
    "booking": {"datetime": ("visit.start", "t:offset"), "party_size": ("visit.party", "party_object"),
                "guest_name": "people.lead.name", "guest_email": "people.lead.contact.email", "guest_phone": "people.lead.contact.phone",
                "venue_id": ("visit.venue.venue_id", "id:venue"), "venue_name": "visit.venue.name.text",
                "created_at": ("history.created.at", "t:utc"), "updated_at": ("history.updated.at", "t:utc"),
                "seating": "visit.seat.area", "confirmation_number": "visit.confirmation.number", "price": ("cost.total", "m:object")},
    "action": {"kind": "action.type", "message": "action.texts.customer", "channel": "action.sent.channel", "sent_to": "action.sent.address",
               "expires_at": ("action.window.ends", "t:utc"), "money": ("action.charge", "m:object"),
               "psp_request": "action.vendor.request", "fields": ("action.form.fields", "fields:objects")},
    "action_words": {"otp": {"sms": "sms_code", "email": "email_code"}, "payment": {"card": "card_payment", "wallet": "wallet_payment"},
                     "details": "form"},
    "modification_shape": "list",
    "modification_names": {"at": ("time", "t:utc"), "datetime": "visit.start", "party_size": "visit.party", "seating": "visit.seat"},
    "session_state": {"pending": "unverified"},
    "session": {"created_at": ("history.created.at", "t:utc"), "phone_masked": "contact.phone"},
    "event": {"id": "event.id", "kind": "event.kind", "created_at": ("event.at", "t:utc")},
    "validation": "problems", "open_bookings": "wrapped", "attempts_left": "attempts.left",
    "end_user": "object",
    "search_request": {"providers": ("options.providers", "objects"), "party_size": "options.party.size"},
    "slots_request": {"venue": ("where.venue_id", "id:venue"), "datetime": ("when.start", "t:offset"), "party_size": "who.party_size",
                      "provider": "where.provider"},
    "slots_required": ["venue", "datetime", "party_size"],
    "create_request": {"email": "customer.contact.email", "phone": "customer.contact.phone", "seating": "visit.seat.area",
                       "notes": "visit.notes", "further": "terms.accepted"},
    "create_required": ["terms"],
    "otp_request": {"code": "action.code"},
    "details_request": ("action.form", "map"),
    "psp_abort": "object",
    "modify_request": {"datetime": "visit.start", "party_size": "visit.party_size", "seating": "visit.seat.area"},
    "cancel_request": {"reason": "cancellation.reason"}, "cancel_required": ["reason"],
    "connect_request": {"phone": "contact.phone"}, "verify_request": {"code": "proof.code"},
}

CHANGES["shouting"] = {
    "says": "UPPER-CASE words for every status and action, cursor paging, the event's id and kind in headers, keys of another look",
    "prefix": "gateway", "service": "ACME",
    "auth": {"name": "X-API-Token", "scheme": "Token", "look": {"live": "LIVE-", "test": "TEST-", "beta": "BETA3-"}},
    "object_name": "BOOKING",
    "providers": {"A": "ALPHA_TABLES", "B": "BETA_SEATS", "C": "GAMMA_HALLS", "D": "DELTA_TRIPS"},
    "status": {"requires_action": "REQUIRES_ACTION", "processing": "PROCESSING", "confirmed": "CONFIRMED",
               "failed": "FAILED", "cancelled": "CANCELLED", "expired": "EXPIRED"},
    "session_state": {"pending": "PENDING_VERIFICATION"},
    "answers": {"venues": "ITEMS", "slots": "ITEMS", "sessions": "ITEMS"},
    "paging": {"venues": {"style": "cursor", "size": 2, "request": {"cursor": "cursor", "size": "limit"},
                          "response": {"next": "NEXT_CURSOR", "total": None}},
               "sessions": {"style": "cursor", "size": 2, "request": {"cursor": "cursor", "size": "limit"},
                            "response": {"next": "NEXT_CURSOR", "total": None}}},
    "index": {"name": "API", "version": "VERSION", "server_time": ("SERVER_TIME", "t:http"), "endpoints": ("ENDPOINTS", "routes:texts")},
    "partial_failure": ("PARTIAL", "failed:objects"),
    "venue": {"timezone": ("tz_offset_minutes", "tz:minutes"), "price_level": ("price_class", "upper_dollars"), "tags": ("tags", "upper_list")},
    "slot": {"seating": ("seating", "upper"), "card_terms": ("CARD", "terms_code"), "cancellation_terms": ("CANCELLATION", "terms_code")},
    "booking": {"confirmation_number": "REF"},
    "action": {"kind": "ACTION"},
    "action_words": {"otp": "ENTER_CODE", "payment": "APPROVE_PAYMENT", "details": "GIVE_DETAILS"},
    "event": {"id": "header:X-Event-Id", "kind": "header:X-Event-Type"},
    "open_bookings": "map", "attempts_left": None,
    "otp_request": {"code": "CODE"},
    "cancel_request": {"reason": None}, "strict": ["cancel"],
}

CHANGES["jsonapi"] = {
    "says": "{data: {type, id, attributes}} everywhere, links for the next page, errors by pointer, ids as texts of digits",
    "prefix": "json", "service": "Resourceful",
    "auth": {"name": "Authorization", "scheme": "Key"},
    "ids": {"venue": "digits", "slot": "digits", "booking": "digits", "session": "digits", "event": "digits"},
    "providers": {"A": "provider-1", "B": "provider-2", "C": "provider-3", "D": "provider-4"},
    "status": {"requires_action": "requires-action"},
    "resource": {"booking": "bookings", "venue": "venues", "slot": "slots", "session": "sessions", "card": "card-checks", "index": "apis"},
    "meta": "jsonapi.request",
    "answers": {"index": "data", "venues": "data", "slots": "data", "booking": "data", "session": "data", "sessions": "data", "card": "data"},
    "delete_status": 204,
    "paging": {"venues": {"style": "page", "size": 2, "request": {"cursor": "page.number", "size": "page.size"},
                          "response": {"next": "links.next", "total": "meta.total"}},
               "sessions": {"style": "page", "size": 2, "request": {"cursor": "page[number]", "size": "page[size]"},
                            "response": {"next": "links.next", "total": "meta.total"}}},
    "index": {"name": "api-name", "version": "api-version", "server_time": ("server-time", "t:utc"), "endpoints": ("endpoints", "routes:links")},
    "partial_failure": ("meta.errors", "failed:objects"),
    "venue": {"name": "display-name", "address": ("postal-address", "address_object"), "providers": ("providers", "provider_objects"),
              "timezone": ("time-zone", "tz:iana"), "price_level": "price-level", "distance_km": "distance-km"},
    "slots_answer": {"provider": ("meta.provider", "provider")},
    "slot": {"duration_minutes": "duration-minutes", "party_size": "party-size", "price": ("price", "m:nested"),
             "card_terms": ("card-terms", "doc:card_terms"), "cancellation_terms": ("cancellation-terms", "doc:cancellation_terms")},
    "card_terms": {"hold": ("hold", "m:nested")},
    "cancellation_terms": {"free_until": ("free-until", "t:utc"), "fee": ("fee", "m:nested")},
    "booking": {"datetime": ("starts-at", "t:utc"), "party_size": "party-size", "guest_name": "guest.name", "guest_email": "guest.email",
                "guest_phone": "guest.phone", "venue_id": ("venue-id", "id:venue"), "venue_name": "venue-name",
                "created_at": ("created-at", "t:utc"), "updated_at": ("updated-at", "t:utc"), "seating": "seating-preference",
                "confirmation_number": "confirmation-number"},
    "action": {"kind": "kind", "sent_to": "sent-to", "expires_at": ("answer-until", "t:utc"), "psp_request": "vendor-request",
               "money": ("amount", "m:nested"), "fields": ("schema", "fields:schema")},
    "action_words": {"otp": "one-time-code", "payment": "vendor-payment", "details": "more-details"},
    "modification_shape": "list",
    "modification_names": {"at": ("at", "t:utc"), "datetime": "starts-at", "party_size": "party-size", "seating": "seating-preference"},
    "session_state": {"pending": "awaiting-code"},
    "session": {"created_at": ("created-at", "t:utc"), "verified_at": ("verified-at", "t:utc")},
    "event": {"id": "meta.event.id", "kind": "meta.event.kind", "created_at": ("meta.event.at", "t:utc")},
    "validation": "pointers", "open_bookings": "resources", "attempts_left": "meta.attempts-left", "refused_booking": "data",
    "search_request": {"providers": ("filter.provider", "csv"), "party_size": "filter.party-size"},
    "slots_request": {"venue": ("filter.venue", "id:venue"), "datetime": ("filter.starts-at", "t:utc"), "party_size": "filter.party-size",
                      "provider": "filter.provider"},
    "create_request": {"email": "customer.email-address", "phone": "customer.phone-number", "datetime_form": ("datetime", "t:utc"),
                       "seating": "seating-preference"},
    "otp_request": {"code": "data.attributes.code"},
    "details_request": ("data.attributes", "map"),
    "modify_request": {"datetime": "data.attributes.starts-at", "party_size": "data.attributes.party-size",
                       "seating": "data.attributes.seating-preference"},
    "cancel_request": {"reason": "data.attributes.reason"},
    "connect_request": {"phone": "data.attributes.phone"}, "verify_request": {"code": "data.attributes.code"},
}

CHANGES["ledger"] = {
    "says": "Title Case statuses with further ones (Queued), seconds since 1970, numbers for providers, a list for next_action, Link paging",
    "prefix": "ledger", "service": "Ledger",
    "auth": {"name": "Api-Key", "scheme": "", "look": {"live": "L.", "test": "T.", "beta": "V3."}},
    "ids": {"booking": "number", "session": "number"},
    "object_name": "Entry",
    "providers": {"A": 11, "B": 12, "C": 13, "D": 14},
    "status": {"requires_action": "Requires Action", "processing": "Processing", "processing_first": "Queued", "confirmed": "Confirmed",
               "failed": "Failed", "cancelled": "Canceled", "expired": "Expired"},
    "session_state": {"pending": "Code Sent", "active": "active"},
    "answers": {"venues": "entries", "slots": "entries", "sessions": "entries", "booking": "entry", "session": "entry", "card": "entry"},
    "paging": {"venues": {"style": "link", "size": 2, "request": {"cursor": "offset", "size": "count"},
                          "response": {"next": "header:Link", "total": "total"}},
               "sessions": {"style": "link", "size": 2, "request": {"cursor": "offset", "size": "count"},
                            "response": {"next": "header:Link", "total": "total"}}},
    "index": {"server_time": ("unix_time", "t:epoch"), "name": "ledger", "endpoints": ("operations", "routes:map")},
    "partial_failure": ("skipped", "failed:names"),
    "venue": {"name": "label", "address": ("address_lines", "lines"), "providers": ("provider_ids", "providers"), "timezone": ("zone", "tz:iana"),
              "price_level": "cost", "distance_km": ("miles", "miles")},
    "slots_answer": {"provider": ("provider_id", "provider")},
    "slot": {"datetime": ("datetime", "t:epoch"), "duration_minutes": ("duration_seconds", "seconds"), "seating": "section",
             "price": ("price_decimal", "m:decimal"), "card_terms": ("guarantee", "terms_list"), "cancellation_terms": ("refund_rules", "terms_list")},
    "booking": {"expires_at": ("expires_at", "t:epoch"), "datetime": ("at", "t:epoch"), "party_size": "seats", "guest_name": "payee.name",
                "guest_email": "payee.email", "guest_phone": "payee.phone", "venue_id": ("venue.venue_id", "id:venue"), "venue_name": "venue.label",
                "created_at": ("posted", "t:epoch"), "updated_at": ("amended", "t:epoch"), "seating": "section",
                "confirmation_number": "voucher", "price": ("value", "m:decimal")},
    "action_shape": "list",
    "action": {"kind": "do", "message": "say", "channel": "by", "sent_to": "to", "expires_at": ("until", "t:epoch"),
               "money": ("value", "m:text"), "psp_request": "hand_over", "fields": ("ask", "fields:objects")},
    "action_words": {"otp": "Enter Code", "payment": "Approve Payment", "details": "Give Details"},
    "modification_names": {"at": ("amended", "t:epoch"), "datetime": "at", "party_size": "seats", "seating": "section"},
    "session": {"created_at": ("posted", "t:epoch")},
    "event": {"id": "sequence", "kind": "entry_kind", "created_at": ("posted", "t:epoch")},
    "validation": "sentence", "open_bookings": "ids", "attempts_left": "left",
    "search_request": {"providers": ("provider_ids", "list"), "party_size": "seats"},
    "slots_request": {"venue": ("for_venue", "id:venue"), "datetime": ("at", "t:epoch"), "party_size": "seats", "provider": "provider_id"},
    "slots_required": ["venue", "datetime", "provider"],
    "create_request": {"email": "customer.email", "phone": "customer.cell", "datetime_form": ("datetime", "t:epoch"), "seating": "section",
                       "notes": "memo"},
    "otp_request": {"code": "entry_code"},
    "details_request": ("answers", "list"),
    "modify_request": {"datetime": "at", "party_size": "seats", "seating": "section"},
    "cancel_request": {"reason": "memo"},
    "connect_request": {"phone": "cell"}, "verify_request": {"code": "entry_code"},
}

CHANGES["hal"] = {
    "says": "_embedded and _links, a required API version header, a window for availability, next_action keyed by its kind, 202 on create",
    "prefix": "hal/v-next", "service": "Halyard",
    "auth": {"name": "Authorization", "scheme": "PartnerKey", "second": {"name": "X-Api-Version", "value": "2026-10-01"}},
    "providers": {"A": "urn:provider:a", "B": "urn:provider:b", "C": "urn:provider:c", "D": "urn:provider:d"},
    "answers": {"venues": "_embedded.venues", "slots": "_embedded.slots", "sessions": "_embedded.sessions", "card": "_embedded.card"},
    "create_status": {"fresh": 202, "repeated": 202},
    "paging": {"venues": {"style": "page", "size": 3, "request": {"cursor": "page", "size": "size"},
                          "response": {"next": "_links.next.href", "total": "page.totalElements"}},
               "sessions": {"style": "page", "size": 3, "request": {"cursor": "page", "size": "size"},
                            "response": {"next": "_links.next.href", "total": "page.totalElements"}}},
    "index": {"name": "title", "version": "_links.self.name", "server_time": ("date", "t:http"), "endpoints": ("_links.operations", "routes:links")},
    "partial_failure": ("_embedded.problems", "failed:objects"),
    "venue": {"address": ("address", "lines"), "providers": ("_links.providers", "provider_links"), "timezone": ("zone.name", "tz:iana")},
    "slots_answer": {"provider": ("_links.provider.name", "provider")},
    "slot": {"price": ("price", "m:decimal_text"), "card_terms": ("policies", "policy:card"), "cancellation_terms": ("policies", "policy:cancellation")},
    "booking": {"datetime": [("interval.start", "t:offset"), ("interval.zone", "zone_of")], "venue_id": ("_embedded.venue.venue_id", "id:venue"),
                "venue_name": "_embedded.venue.name", "guest_name": "_embedded.guest.name", "guest_email": "_embedded.guest.email",
                "guest_phone": "_embedded.guest.phone", "party_size": "guests", "created_at": ("created", "t:http"),
                "updated_at": ("modified", "t:http"), "seating": "_embedded.seat.area", "links": "_links.self.href"},
    "action_shape": "keyed",
    "action": {"kind": None, "message": "title", "channel": "medium", "sent_to": "target", "expires_at": ("validUntil", "t:utc"),
               "money": ("cost", "m:decimal_text"), "psp_request": "_embedded.vendor", "fields": ("_templates.default.properties", "fields:objects")},
    "action_words": {"otp": "submit-code", "payment": "submit-payment", "details": "submit-form"},
    "modification_shape": "before_after",
    "modification_names": {"at": ("when", "t:http"), "datetime": "interval.start", "party_size": "guests", "seating": "area"},
    "session_state": {"pending": "challenge"},
    "session": {"created_at": ("created", "t:http")},
    "event": {"id": "_links.self.href", "kind": "_links.type.name", "created_at": ("created", "t:http")},
    "validation": "list:objects", "open_bookings": "links", "attempts_left": "_embedded.attempts.left",
    "search_request": {"party_size": "guests"},
    "slots_request": {"venue": ("venue_id", "id:venue"), "datetime": None, "window_from": ("window.from", "t:offset"), "window_to": ("window.to", "t:offset"),
                      "party_size": "guests", "further": "currency"},
    "slots_further": ["EUR", "USD", "JPY"],
    "slots_required": ["venue", "window_from", "window_to", "further"],
    "create_request": {"notes": "message", "further": "source"},
    "create_required": ["source"],
    "otp_request": {"code": "challenge.response"},
    "details_request": ("form", "map"),
    "modify_request": {"datetime": "interval.start", "party_size": "guests", "seating": "area"},
    "verify_request": {"code": "challenge.response"}, "connect_request": {"phone": "target"},
}

CHANGES["reservations"] = {
    "says": "the words of a restaurant book (covers, tables, holds); other status words (awaiting_guest, in_progress); date and time apart; has_card in a list",
    "prefix": "reservations", "service": "TableBook-Partner",
    "auth": {"name": "X-Book-Key", "scheme": "Bearer", "look": {"live": "", "test": "", "beta": "beta:"}},
    "ids": {"booking": "text:", "venue": "number"},
    "object_name": "reservation",
    "providers": {"A": "Table Fast", "B": "Seat Link", "C": "Open Hall", "D": "Fare Bridge"},
    "status": {"requires_action": "awaiting_guest", "processing": "in_progress", "processing_first": "received", "confirmed": "confirmed",
               "failed": "failed", "cancelled": "canceled", "expired": "lapsed"},
    "session_state": {"pending": "waiting"},
    "answers": {"venues": "book.restaurants", "slots": "book.tables", "booking": "reservation", "session": "guest_account",
                "sessions": "book.guest_accounts", "card": "checks.0"},
    "index": {"name": "book.name", "version": "book.version", "server_time": ("book.time", "t:offset"), "endpoints": None},
    "partial_failure": ("book.closed", "failed:names"),
    "venue": {"name": "restaurant", "address": ("where", "one_line"), "providers": ("booked_with", "first_provider"),
              "timezone": None, "price_level": ("cost", "dollars"), "distance_km": None, "tags": "kitchen", "rating": None},
    "slots_answer": {"provider": ("book.with", "provider")},
    "slot": {"datetime": ("datetime", "t:local_space"), "duration_minutes": ("ends", "end_time"), "seating": "table", "party_size": "covers",
             "price": ("deposit_from", "m:text"), "card_terms": ("hold", "terms_per_person"), "cancellation_terms": ("release", "terms_text")},
    "booking": {"datetime": [("on", "t:day"), ("from", "t:clock")], "party_size": "covers", "guest_name": "in_the_name_of",
                "guest_email": "reach.0", "guest_phone": "reach.1", "venue_id": ("restaurant.venue_id", "id:venue"), "venue_name": "restaurant.restaurant",
                "created_at": ("written", "t:offset"), "updated_at": ("corrected", "t:offset"), "seating": "table",
                "confirmation_number": "book_number"},
    "action": {"kind": "ask_guest_for", "message": "note", "channel": "through", "sent_to": "reached_at", "expires_at": ("table_held_minutes", "minutes_left"),
               "money": ("sum", "m:decimal_text"), "psp_request": "terminal", "fields": ("questions", "fields:texts")},
    "action_words": {"otp": "the code", "payment": "the payment", "details": "answers"},
    "modification_shape": "text",
    "session": {"created_at": ("written", "t:offset"), "phone_masked": "telephone"},
    "event": {"id": "entry.no", "kind": "entry.what", "created_at": ("entry.written", "t:offset")},
    "validation": "sentence", "open_bookings": "texts", "attempts_left": None,
    "end_user": "object",
    "search_request": {"providers": ("with", "csv"), "party_size": "covers"},
    "slots_request": {"venue": ("restaurant.venue_id", "id:venue"), "datetime": [("on", "t:day"), ("from", "t:clock")], "party_size": "table.covers",
                      "provider": "with"},
    "slots_required": ["venue", "datetime", "party_size"],
    "create_request": {"email": "customer.mail", "phone": "customer.telephone", "datetime_form": ("datetime", "t:local_space"),
                       "seating": "table", "notes": "allergies"},
    "otp_request": {"code": "guest_said"},
    "details_request": ("guest_answers", "list"),
    "modify_request": {"datetime": "to.time", "party_size": "to.covers", "seating": "to.table"},
    "cancel_request": {"reason": "note"},
    "connect_request": {"phone": "guest.telephone"}, "verify_request": {"code": "guest_said"},
}

# Changes to these fields replace what stood there; changes to any other dictionary are laid over it.
WHOLE = {"paging", "answers_replace", "details_request"}


def laid_over(base, change):
    out = copy.deepcopy(base)
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict) and key not in WHOLE:
            out[key] = laid_over(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def names():
    return list(CHANGES)


def load(name):
    if name not in CHANGES:
        raise SystemExit("no variant %r; there are: %s" % (name, ", ".join(CHANGES)))
    variant = laid_over(BASE, CHANGES[name])
    variant["name"] = name
    return variant


# ------------------------------------------------------------------------------------------------ paths

def put(doc, path, value):
    """Sets a value at a path; a part of digits is a place in a list."""
    parts = path.split(".")
    here = doc
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        fresh = value if last else ([] if parts[i + 1].isdigit() else {})
        if part.isdigit() and isinstance(here, list):
            n = int(part)
            while len(here) <= n:
                here.append(None)
            if last:
                here[n] = value
            elif here[n] is None:
                here[n] = fresh
            here = here[n]
        else:
            if last:
                here[part] = value
            elif not isinstance(here.get(part), (dict, list)):
                here[part] = fresh
            here = here[part]
    return doc


def get(doc, path):
    if path == "":
        return doc
    for part in path.split("."):
        if isinstance(doc, list) and part.isdigit() and int(part) < len(doc):
            doc = doc[int(part)]
        elif isinstance(doc, dict) and part in doc:
            doc = doc[part]
        else:
            return None
    return doc


def targets(target):
    """A target of a table as a list of (path, form)."""
    if target is None:
        return []
    if isinstance(target, str):
        return [(target, None)]
    if isinstance(target, tuple):
        return [target]
    return [(t, None) if isinstance(t, str) else tuple(t) for t in target]


# ------------------------------------------------------------------------------------------------ ids

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(n):
    out = ""
    while True:
        n, r = divmod(n, 36)
        out = DIGITS[r] + out
        if not n:
            return out


def id_out(variant, kind, n):
    form = variant["ids"][kind]
    if form == "number":
        return n
    if form == "digits":
        return str(n)
    if form == "uuid":
        salt = zlib.crc32(kind.encode())
        raw = "%08x4000a000%016x" % (salt, n)
        return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
    return form.split(":", 1)[1] + base36(n)


def id_in(variant, kind, token, in_path=False):
    """The number behind an id as it came, or None.  In a body a number must be a number and a text a text."""
    form = variant["ids"][kind]
    if isinstance(token, str) and not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", token):
        return None
    try:
        if form == "number":
            if isinstance(token, bool) or (isinstance(token, str) and not in_path):
                return None
            return int(token)
        if not isinstance(token, str):
            return None
        if form == "digits":
            return int(token)
        if form == "uuid":
            n = int(token.replace("-", "")[16:], 16)
        else:
            prefix = form.split(":", 1)[1]
            if not token.startswith(prefix):
                return None
            n = int(token[len(prefix):], 36)
        return n if n >= 0 and id_out(variant, kind, n) == token else None
    except (ValueError, TypeError):
        return None


# ------------------------------------------------------------------------------------------------ times

def zone(name):
    return ZoneInfo(name or "UTC") if name not in (None, "UTC") else dt.timezone.utc


def time_out(form, t, tz):
    there = dt.datetime.fromtimestamp(t, zone(tz))
    utc = dt.datetime.fromtimestamp(t, dt.timezone.utc)
    if form == "t:utc":
        return utc.strftime("%Y-%m-%dT%H:%M:%SZ")
    if form == "t:offset":
        return there.replace(microsecond=0).isoformat()
    if form == "t:local":
        return there.strftime("%Y-%m-%dT%H:%M:%S")
    if form == "t:local_space":
        return there.strftime("%Y-%m-%d %H:%M")
    if form in ("t:date", "t:day"):
        return there.strftime("%Y-%m-%d")
    if form == "t:clock":
        return there.strftime("%H:%M")
    if form == "t:epoch":
        return int(t)
    if form == "t:ms":
        return int(t) * 1000
    if form == "t:http":
        return formatdate(int(t), usegmt=True)
    raise ValueError(form)


TIME_WORDS = {"t:utc": "RFC 3339 in UTC", "t:offset": "RFC 3339 with an offset", "t:local": "local time of the venue without an offset",
              "t:local_space": "local time, a blank in the middle, no offset", "t:date": "a date alone", "t:day": "a date alone",
              "t:clock": "hours and minutes alone", "t:epoch": "seconds since 1970, a number",
              "t:ms": "milliseconds since 1970, a number", "t:http": "the form of the HTTP Date header"}


def time_in(form, value, tz):
    """The instant behind a time as it came, or None when it is not of that form.  Form None takes every form."""
    t = any_time_in(form, value, tz)
    return t if t is not None and 0 <= t < 4102444800 else None      # 1970 to 2099


def any_time_in(form, value, tz):
    if form is None:
        for f in ("t:offset", "t:local", "t:local_space", "t:ms", "t:epoch", "t:date"):
            t = time_in(f, value, tz)
            if t is not None:
                return t
        return None
    try:
        if form in ("t:epoch", "t:ms"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return None
            ms = value > 1e11
            if (form == "t:ms") != ms:
                return None
            return value / 1000 if ms else value
        if not isinstance(value, str):
            return None
        if form in ("t:date", "t:day"):
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
                return None
            return dt.datetime.fromisoformat(value).replace(tzinfo=zone(tz)).timestamp()
        if not re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", value):
            return None
        read = dt.datetime.fromisoformat(value.replace("Z", "+00:00"))
        if form in ("t:utc", "t:offset"):
            return read.timestamp() if read.tzinfo else None
        if form in ("t:local", "t:local_space"):
            return None if read.tzinfo else read.replace(tzinfo=zone(tz)).timestamp()
    except (ValueError, OverflowError):
        return None
    return None


# ------------------------------------------------------------------------------------------------ forms of values

PLACES = {"JPY": 0}


def decimal(money):
    amount, currency = money
    places = PLACES.get(currency, 2)
    return "%.*f" % (places, amount / 10 ** places)


def form_out(variant, form, value, ctx):
    """A canonical value in the form that a table asks for."""
    tz = ctx.get("tz")
    if form is None:
        return value
    if form.startswith("t:"):
        return time_out(form, value, tz)
    if form.startswith("id:"):
        return id_out(variant, form[3:], value)
    if form == "status":
        return status_out(variant, value, ctx)
    if form == "session_state":
        return variant["session_state"].get(value, value)
    if form == "provider":
        return variant["providers"][value]
    if form == "providers":
        return [variant["providers"][p] for p in value]
    if form == "first_provider":
        return variant["providers"][value[0]] if value else None
    if form == "csv_providers":
        return ", ".join(str(variant["providers"][p]) for p in value)
    if form in ("provider_objects", "provider_links"):
        name = "id" if form == "provider_objects" else "name"
        return [{name: variant["providers"][p]} for p in value]
    if form == "end_user":
        return {"id": value} if variant["end_user"] == "object" else value
    if form == "text":
        return str(value)
    if form == "upper":
        return str(value).upper()
    if form == "upper_list":
        return [str(v).upper() for v in value]
    if form == "csv":
        return ", ".join(value)
    if form == "tag_objects":
        return [{"label": v} for v in value]
    if form == "json_text":
        import json
        return json.dumps(value, sort_keys=True)
    if form.startswith("tz:"):
        off = dt.datetime.fromtimestamp(ctx["now"], zone(value)).utcoffset()
        minutes = int(off.total_seconds() // 60)
        if form == "tz:iana":
            return value
        if form == "tz:minutes":
            return minutes
        return "%s%02d:%02d" % ("-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60)
    if form == "zone_of":
        return tz
    if form in ("street", "city", "one_line", "lines", "address_object"):
        street, city = value.split(", ", 1)
        return {"street": street, "city": city, "one_line": value, "lines": [street, city],
                "address_object": {"street": street, "locality": city}}[form]
    if form in ("dollars", "upper_dollars"):
        return "$" * value if form == "dollars" else "CLASS_%d" % value
    if form == "metres":
        return int(value * 1000)
    if form == "miles":
        return round(value / 1.609, 1)
    if form == "distance_object":
        return {"value": value, "unit": "km"}
    if form == "iso_duration":
        return "PT%dM" % value
    if form == "length_object":
        return {"value": value, "unit": "minutes"}
    if form == "seconds":
        return value * 60
    if form == "end_time":
        return time_out("t:clock", ctx["start"] + value * 60, tz)
    if form == "minutes_left":
        return max(0, int((value - ctx["now"]) // 60))
    if form == "party_object":
        return {"adults": value}
    if form.startswith("m:"):
        amount, currency = value
        return {"m:minor": amount, "m:currency": currency, "m:decimal": float(decimal(value)), "m:decimal_text": decimal(value),
                "m:text": "%s %s" % (currency, decimal(value)), "m:object": {"amount": amount, "currency": currency},
                "m:nested": {"value": decimal(value), "currency_code": currency}}[form]
    if form.startswith("doc:"):
        return encode(variant, form[4:], value, ctx)
    if form == "terms_text":
        return value["text"]
    if form == "terms_code":
        money = value.get("hold") or value.get("fee")
        return "%s %s %s" % ("HOLD" if "hold" in value else "FEE", money[1], decimal(money))
    if form == "terms_list":
        money = value.get("hold") or value.get("fee")
        return [{"rule": "hold" if "hold" in value else "fee", "value": float(decimal(money)), "unit": money[1]},
                {"rule": "text", "value": value["text"]}]
    if form == "terms_per_person":
        return {"each": decimal(value["hold"]), "in": value["hold"][1], "note": value["text"]}
    if form.startswith("policy:"):
        return {"is": form[7:], "text": value["text"], "sum": decimal(value.get("hold") or value.get("fee"))}
    if form.startswith("fields:"):
        return fields_out(form, value)
    if form.startswith("routes:"):
        return routes_out(variant, form, value)
    if form.startswith("failed:"):
        words = [variant["providers"][p] for p in value]
        if form == "failed:names":
            return words
        if form == "failed:objects":
            return [{"name": w, "detail": "the provider did not answer"} for w in words]
        return ["%s did not answer; its venues are missing" % w for w in words]
    raise ValueError(form)


def fields_out(form, value):
    if form == "fields:objects":
        return value
    if form == "fields:map":
        return {f["name"]: {"label": f["label"], "type": f["type"]} for f in value}
    if form == "fields:names":
        return [f["name"] for f in value]
    if form == "fields:csv":
        return ", ".join(f["name"] for f in value)
    if form == "fields:texts":
        return ["%s (%s)" % (f["name"], f["label"]) for f in value]
    if form == "fields:schema":
        return {"type": "object", "required": [f["name"] for f in value],
                "properties": {f["name"]: {"type": f["type"], "title": f["label"]} for f in value}}
    raise ValueError(form)


def routes_out(variant, form, value):
    n = variant["route_names"]
    if form == "routes:objects":
        return [{n["method"]: m, n["path"]: p, n["summary"]: s} for m, p, s in value]
    if form == "routes:texts":
        return ["%s %s" % (m, p) for m, p, s in value]
    if form == "routes:map":
        return {s: "%s %s" % (m, p) for m, p, s in value}
    return [{"rel": s, "href": p, "method": m} for m, p, s in value]


def status_out(variant, status, ctx=None):
    words = variant["status"]
    if status == "processing" and ctx and ctx.get("first") and "processing_first" in words:
        return words["processing_first"]
    return words[status]


def status_read(variant, word):
    for canonical, w in variant["status"].items():
        if w == word:
            return "processing" if canonical == "processing_first" else canonical
    return None


def encode(variant, table, doc, ctx):
    """A canonical document as the variant sends it."""
    out = {}
    for name, target in variant[table].items():
        value = doc.get(name)
        if value is None:
            continue
        for path, form in targets(target):
            if path.startswith("header:"):
                continue
            sent = form_out(variant, form, value, ctx)
            if form and form.startswith("policy:"):
                put(out, path, (get(out, path) or []) + [sent])
            elif sent is not None:
                put(out, path, sent)
    return out


def action_out(variant, action, ctx):
    """next_action, and what stands beside it where it is a text."""
    word = variant["action_words"][action["kind"]]
    if isinstance(word, dict):
        word = word.get(action.get("channel")) or list(word.values())[0]
    shape = variant["action_shape"]
    rest = encode(variant, "action", {k: v for k, v in action.items() if k != "kind"}, ctx)
    if shape == "text":
        return word, rest
    if shape == "keyed":
        return {word: rest}, {}
    doc = put({}, variant["action"]["kind"], word)
    doc = laid_over(doc, rest)
    return ([doc] if shape == "list" else doc), {}


def modification_out(variant, change, ctx):
    names_ = variant["modification_names"]
    form = targets(variant["booking"]["datetime"])[0][1]
    if form in ("t:day", "t:clock"):
        form = "t:local_space"

    def shown(field, value):
        return time_out(form, value, ctx["tz"]) if field == "datetime" and value is not None else value
    at_path, at_form = targets(names_["at"])[0]
    at = time_out(at_form, change["at"], ctx["tz"])
    items = [(names_[f], shown(f, old), shown(f, new)) for f, (old, new) in change["changes"].items()]
    shape = variant["modification_shape"]
    if shape == "text":
        return "; ".join("%s from %s to %s" % i for i in items)
    if shape == "list":
        return [{"field": f, "old": old, "new": new, at_path: at} for f, old, new in items]
    if shape == "before_after":
        doc = put({}, at_path, at)
        doc["before"], doc["after"] = {}, {}
        for f, old, new in items:
            put(doc["before"], f, old)
            put(doc["after"], f, new)
        return doc
    doc = put({}, at_path, at)
    doc["changes"] = {f: {"from": old, "to": new} for f, old, new in items}
    return doc


SUMMARY = ("id", "object", "status", "provider", "error_code", "error_message", "next_action", "last_modification")


def booking_out(variant, booking, ctx, summary=False):
    ctx = dict(ctx, tz=booking["tz"], first=booking.get("first"))
    doc = {k: v for k, v in booking.items() if not summary or k in SUMMARY}
    doc["object"] = variant["object_name"]
    beside = {}
    if doc.get("next_action"):
        doc["next_action"], beside = action_out(variant, doc["next_action"], ctx)
    if doc.get("last_modification"):
        doc["last_modification"] = modification_out(variant, doc["last_modification"], ctx)
    out = encode(variant, "booking", doc, ctx)
    return out if summary else laid_over(out, beside)


def resource(variant, kind, doc, ident):
    """The document of JSON:API, where the variant speaks it."""
    if not variant["resource"]:
        return doc
    doc = dict(doc)
    doc.pop("id", None)
    return {"type": variant["resource"][kind], "id": str(ident), "attributes": doc}


# ------------------------------------------------------------------------------------------------ what a variant does

FORM_WORDS = {
    "id:venue": "", "id:slot": "", "id:booking": "", "id:session": "", "status": "", "session_state": "", "provider": "", "end_user": "",
    "m:minor": "minor units", "m:currency": "the currency", "m:decimal": "a decimal number without a currency", "m:decimal_text": "a decimal as a text, no currency",
    "m:text": "a text of currency and decimal", "m:object": "an object {amount in minor units, currency}",
    "m:nested": "an object {value, a decimal as a text, currency_code}",
    "tz:iana": "an IANA name", "tz:offset": "a text like +09:00", "tz:minutes": "minutes from UTC", "zone_of": "the IANA name of the zone",
    "street": "the street", "city": "the city", "one_line": "one line", "lines": "a list of lines", "address_object": "an object {street, locality}",
    "providers": "a list", "first_provider": "one", "csv_providers": "a text with commas", "provider_objects": "a list of {id}", "provider_links": "a list of {name}",
    "metres": "metres", "miles": "miles", "distance_object": "an object {value, unit}", "dollars": "a text of $ signs", "upper_dollars": "CLASS_1 to CLASS_4",
    "text": "a text", "upper": "capitals", "upper_list": "a list in capitals", "csv": "a text with commas", "tag_objects": "a list of {label}",
    "list": "a list of texts", "objects": "a list of {id}", "iso_duration": "a text like PT90M", "length_object": "an object {value, unit}",
    "seconds": "seconds", "end_time": "the time of day at the end", "party_object": "an object {adults}", "minutes_left": "the minutes that are left",
    "json_text": "JSON in a text", "fields:objects": "a list of {name, label, type, required}", "fields:map": "an object {name: {label, type}}",
    "fields:names": "a list of names", "fields:csv": "a text of names", "fields:texts": "a list of texts, name (label)", "fields:schema": "a JSON schema",
    "routes:objects": "a list of objects", "routes:texts": "a list of texts, method and path", "routes:map": "an object {what it does: method and path}",
    "routes:links": "a list of {rel, href, method}", "failed:names": "a list of providers", "failed:objects": "a list of {name, detail}",
    "failed:sentences": "a list of sentences",
}


def told(target, none="none"):
    parts = []
    for path, form in targets(target):
        text = "`%s`" % path
        words = form and (TIME_WORDS.get(form) or FORM_WORDS[form])
        if words:
            text += " as %s" % words
        parts.append(text)
    return ", ".join(parts) or none


def ids_told(form):
    return {"number": "a number", "digits": "a text of digits", "uuid": "a text like a UUID"}.get(form) or "a text %s…" % form.split(":")[1]


def place_told(path):
    return "`%s`" % path if path else "bare"


def paging_told(p, which):
    if not p:
        return "none"
    if which == "request":
        return "%s: `%s`, size `%s` (%d a page)" % (p["style"], p["request"]["cursor"], p["request"]["size"], p["size"])
    return "next `%s`, total %s" % (p["response"]["next"], "`%s`" % p["response"]["total"] if p["response"]["total"] else "not given")


def kinds_told(v, kind):
    word = v["action_words"][kind]
    return " or ".join(word.values()) if isinstance(word, dict) else word


def one_top_level(target):
    """Whether a target is one name at the top."""
    t = targets(target)
    return len(t) == 1 and "." not in t[0][0] and ":" not in t[0][0] and t[0][0] != ""


def list_place(path):
    """Whether a list stands where it is looked for today: under one top-level name, or bare."""
    return "." not in path


AUTH_WORDS = {"header": "in the header %s", "query": "in the query as %s, no header", "basic": "as the user of Basic in %s"}

# number → (what it says, does it differ from what it is taken for today)
# The second is left out where "differs from the reference" is the right question.
POINTS = {
    1: (lambda v: AUTH_WORDS[v["auth"]["in"]] % v["auth"]["name"], lambda v: v["auth"]["in"] != "header" or bool(v["auth"]["second"])),
    2: (lambda v: {"basic": "Basic, base64 of `key:`", "query": "no word"}.get(v["auth"]["in"]) or v["auth"]["scheme"] or "no word",
        lambda v: v["auth"]["in"] != "header" or not v["auth"]["scheme"]),
    3: (lambda v: ("the second header %(name)s: %(value)s is required" % v["auth"]["second"]) if v["auth"]["second"] else
        {"query": "the key stands in the query", "basic": "the key is the user of Basic, the password is empty"}.get(v["auth"]["in"], "none")),
    4: (lambda v: "live %(live)s…, test %(test)s…, beta %(beta)s…" % v["auth"]["look"]),
    5: (lambda v: ("every answer also has `%s`; " % v["meta"] if v["meta"] else "") + ", ".join(
        "%s %s" % (k, place_told(v["answers"][k])) for k in ("index", "booking", "session", "card")) + (
        "; {type, id, attributes}" if v["resource"] else "")),
    6: (lambda v: told(v["index"]["name"])),
    7: (lambda v: told(v["index"]["version"])),
    8: (lambda v: told(v["index"]["server_time"])),
    9: (lambda v: told(v["index"]["endpoints"]) + (" of " + ", ".join(v["route_names"].values()) if "routes:objects" in str(v["index"]["endpoints"]) else "")),
    10: (lambda v: told(v["search_request"]["providers"])),
    11: (lambda v: told(v["search_request"]["party_size"], "no such field; it is refused")),
    12: (lambda v: paging_told(v["paging"]["venues"], "request")),
    13: (lambda v: place_told(v["answers"]["venues"]) + (", each {type, id, attributes}" if v["resource"] else ""),
         lambda v: not list_place(v["answers"]["venues"]) or bool(v["resource"])),
    14: (lambda v: paging_told(v["paging"]["venues"], "response")),
    15: (lambda v: told(v["partial_failure"], "not said")),
    16: (lambda v: ids_told(v["ids"]["venue"]), lambda v: v["ids"]["venue"] == "number"),
    17: (lambda v: told(v["venue"]["name"])),
    18: (lambda v: told(v["venue"]["address"])),
    19: (lambda v: told(v["venue"]["providers"])),
    20: (lambda v: told(v["venue"]["timezone"])),
    21: (lambda v: "price %s, distance %s, tags %s, rating %s" % tuple(told(v["venue"][k]) for k in ("price_level", "distance_km", "tags", "rating"))),
    22: (lambda v: told(v["slots_request"]["venue"]), lambda v: not one_top_level(v["slots_request"]["venue"])),
    23: (lambda v: told([(p, None) for p, _ in targets(v["slots_request"]["datetime"])], "no single time: %s to %s" % (
        told([(p, None) for p, _ in targets(v["slots_request"]["window_from"])]), told([(p, None) for p, _ in targets(v["slots_request"]["window_to"])]))),
        lambda v: not one_top_level(v["slots_request"]["datetime"])),
    24: (lambda v: ", ".join(TIME_WORDS[f] for _, f in targets(v["slots_request"]["datetime"])) or "a window, both ends " +
         ", ".join(TIME_WORDS[f] for _, f in targets(v["slots_request"]["window_from"]))),
    25: (lambda v: told(v["slots_request"]["party_size"]), lambda v: not one_top_level(v["slots_request"]["party_size"])),
    26: (lambda v: told(v["slots_request"]["provider"]) + (", required" if "provider" in v["slots_required"] else "")),
    27: (lambda v: ("`%s`, required, one of %s" % (v["slots_request"]["further"], ", ".join(v["slots_further"]))
                    if v["slots_request"]["further"] else "none") + (
        "; party size is required" if "party_size" in v["slots_required"] else ""),
        lambda v: bool(v["slots_request"]["further"])),
    28: (lambda v: place_told(v["answers"]["slots"]) + (", each {type, id, attributes}" if v["resource"] else ""),
         lambda v: not list_place(v["answers"]["slots"]) or bool(v["resource"])),
    29: (lambda v: told(v["slots_answer"]["provider"])),
    30: (lambda v: ids_told(v["ids"]["slot"]), lambda v: v["ids"]["slot"] == "number"),
    31: (lambda v: TIME_WORDS[v["slot"]["datetime"][1]]),
    32: (lambda v: "length %s, seating %s, party %s" % tuple(told(v["slot"][k]) for k in ("duration_minutes", "seating", "party_size"))),
    33: (lambda v: told(v["slot"]["price"])),
    34: (lambda v: told([(p, None) for p, _ in targets(v["slot"]["card_terms"])]) + shared_with(v)),
    35: (lambda v: told_terms(v, "card_terms", ("text", "required", "hold", "per_person"))),
    36: (lambda v: told([(p, None) for p, _ in targets(v["slot"]["cancellation_terms"])]) + shared_with(v)),
    37: (lambda v: told_terms(v, "cancellation_terms", ("text", "free_until", "fee"))),
    38: (lambda v: "%s, %s" % (told(v["create_request"]["email"]), told(v["create_request"]["phone"]))),
    39: (lambda v: "an object {id}" if v["end_user"] == "object" else "a text"),
    40: (lambda v: TIME_WORDS[v["create_request"]["datetime_form"][1]]),
    41: (lambda v: "seating %s, notes %s" % (told(v["create_request"]["seating"]), told(v["create_request"]["notes"])) + (
        {"terms": "; `%s` true is required where the slot has card terms", "source": "; `%s` (a text) is required"}[v["create_required"][0]]
        % v["create_request"]["further"] if v["create_required"] else "")),
    42: (lambda v: "fresh %(fresh)d, repeated %(repeated)d" % v["create_status"]),
    43: (lambda v: place_told(v["answers"]["booking"]) + (", {type, id, attributes}" if v["resource"] else "")),
    44: (lambda v: ids_told(v["ids"]["booking"]), lambda v: v["ids"]["booking"] == "number"),
    45: (lambda v: ", ".join(v["status"].values())),
    46: (lambda v: told(v["booking"]["datetime"])),
    47: (lambda v: told(v["booking"]["party_size"])),
    48: (lambda v: ", ".join(told(v["booking"][k]) for k in ("guest_name", "guest_email", "guest_phone"))),
    49: (lambda v: "%s, %s" % (told(v["booking"]["venue_id"]), told(v["booking"]["venue_name"]))),
    50: (lambda v: "%s, %s" % (told(v["booking"]["created_at"]), told(v["booking"]["updated_at"]))),
    51: (lambda v: "seating %s, confirmation number %s, price %s" % tuple(told(v["booking"][k]) for k in ("seating", "confirmation_number", "price"))),
    52: (lambda v: TIME_WORDS[v["booking"]["expires_at"][1]]),
    53: (lambda v: {"object": "an object", "list": "a list of objects", "text": "a text; the rest stands beside it in the booking",
                    "keyed": "an object whose only name is the kind"}[v["action_shape"]]),
    54: (lambda v: {"text": "the text itself", "keyed": "the name of the object"}.get(v["action_shape"]) or told(v["action"]["kind"]),
         lambda v: v["action_shape"] in ("text", "keyed", "list") or not one_top_level(v["action"]["kind"])),
    55: (lambda v: kinds_told(v, "otp"), lambda v: isinstance(v["action_words"]["otp"], dict)),
    56: (lambda v: kinds_told(v, "payment"), lambda v: isinstance(v["action_words"]["payment"], dict)),
    57: (lambda v: ", ".join(told(v["action"][k]) for k in ("message", "channel", "sent_to"))),
    58: (lambda v: told(v["action"]["expires_at"])),
    59: (lambda v: told(v["action"]["money"])),
    60: (lambda v: told(v["action"]["psp_request"])),
    61: (lambda v: told(v["action"]["fields"])),
    62: (lambda v: {"changes": "%s, `changes`.X.{from, to}", "text": "a text", "list": "a list of {field, old, new, %s}",
                    "before_after": "%s, `before`, `after`"}[v["modification_shape"]].replace("%s", told(v["modification_names"]["at"]))),
    63: (lambda v: told(v["otp_request"]["code"]), lambda v: not one_top_level(v["otp_request"]["code"])),
    64: (lambda v: "%s, %s" % (place_told(v["details_request"][0]) if v["details_request"][0] else "at the top",
                               "by name" if v["details_request"][1] == "map" else "a list of {name, value}")),
    65: (lambda v: "an object" if v["psp_response"] == "object" else "a text"),
    66: (lambda v: {"true": "true", "text": "a text, the reason", "object": "an object {reason}"}[v["psp_abort"]]),
    67: (lambda v: told(v["modify_request"]["datetime"]), lambda v: not one_top_level(v["modify_request"]["datetime"])),
    68: (lambda v: told(v["modify_request"]["party_size"]), lambda v: not one_top_level(v["modify_request"]["party_size"])),
    69: (lambda v: told(v["modify_request"]["seating"]), lambda v: not one_top_level(v["modify_request"]["seating"])),
    70: (lambda v: told(v["cancel_request"]["reason"], "not taken; it is refused") + (", required" if v["cancel_required"] else ""),
         lambda v: not one_top_level(v["cancel_request"]["reason"])),
    71: (lambda v: told(v["connect_request"]["phone"]), lambda v: not one_top_level(v["connect_request"]["phone"])),
    72: (lambda v: told(v["verify_request"]["code"]), lambda v: not one_top_level(v["verify_request"]["code"])),
    73: (lambda v: place_told(v["answers"]["session"]) + (", {type, id, attributes}" if v["resource"] else "")),
    74: (lambda v: ", ".join(v["session_state"].values())),
    75: (lambda v: "created %s, phone %s, verified %s" % tuple(told(v["session"][k]) for k in ("created_at", "phone_masked", "verified_at"))),
    76: (lambda v: place_told(v["answers"]["sessions"]) + (", each {type, id, attributes}" if v["resource"] else ""),
         lambda v: not list_place(v["answers"]["sessions"]) or bool(v["resource"])),
    77: (lambda v: paging_told(v["paging"]["sessions"], "request") + "; " + paging_told(v["paging"]["sessions"], "response")),
    78: (lambda v: place_told(v["answers"]["card"]) + (", {type, id, attributes}" if v["resource"] else "")),
    79: (lambda v: {"fields:map": "`fields` {name: text}", "list:objects": "`errors` [{field, message}]", "list:texts": "`details` [text]",
                    "pointers": "`errors` [{source: {pointer}, detail}]", "names": "`invalid` [name]", "problems": "`problems`.`by_field`.name [text]",
                    "sentence": "only in the sentence of `error`"}[v["validation"]]),
    80: (lambda v: {"objects": "objects with id and status", "ids": "ids alone", "map": "one object {id: status}", "wrapped": "objects {booking: …}",
                    "links": "links to the bookings", "texts": "sentences that name id and status",
                    "resources": "{type, id, attributes}"}[v["open_bookings"]]),
    81: (lambda v: told(v["attempts_left"], "not said")),
    82: (lambda v: "%s%s" % (v["providers"]["A"], ", a number" if isinstance(v["providers"]["A"], int) else ""),
         lambda v: isinstance(v["providers"]["A"], int) or " " in v["providers"]["A"]),
    83: (lambda v: "%s%s" % (v["providers"]["B"], ", a number" if isinstance(v["providers"]["B"], int) else ""),
         lambda v: isinstance(v["providers"]["B"], int) or " " in v["providers"]["B"]),
    84: (lambda v: "%s-Signature" % v["service"]),
    85: (lambda v: told(v["event"]["id"]), lambda v: not one_top_level(v["event"]["id"])),
    86: (lambda v: told(v["event"]["kind"]), lambda v: not one_top_level(v["event"]["kind"])),
}


def shared_with(v):
    return ", a list that card and cancellation terms share" if v["slot"]["card_terms"][0] == v["slot"]["cancellation_terms"][0] else ""


def told_terms(v, name, parts):
    form = targets(v["slot"][name])[0][1]
    if form.startswith("doc:"):
        return "an object: " + ", ".join("%s %s" % (k, told(v[name][k])) for k in parts)
    return {"terms_text": "a text", "terms_code": "a text of words in capitals", "terms_list": "a list of {rule, value, unit}",
            "terms_per_person": "an object {each, in, note}: an amount per person", "policy:card": "an element {is, text, sum} of a list that all terms share",
            "policy:cancellation": "an element {is, text, sum} of a list that all terms share"}[form]


def entry(n):
    found = POINTS[n]
    return found if isinstance(found, tuple) else (found, None)


def says(variant, n):
    return entry(n)[0](variant)


def differs(variant, n):
    """Whether the variant differs at this point from what the list says it is taken for today."""
    question = entry(n)[1]
    if question:
        return question(variant)
    return says(variant, n) != says(load("assumed"), n)


# What can be found out without writing: the index, both searches, the list of sessions, and what a refusal of these names.
LEARNABLE = list(range(1, 4)) + list(range(5, 38)) + [74, 75, 76, 77, 79, 80]
# Only when a booking is there already: the record of the booking.
WITH_A_BOOKING = [43, 44, 45] + list(range(46, 63))


def describe(name):
    v = load(name)
    return {"variant": name, "says": v["says"], "points": {str(n): says(v, n) for n in POINTS},
            "differs": [n for n in POINTS if differs(v, n)], "read_only_learnable": LEARNABLE,
            "learnable_with_a_booking": WITH_A_BOOKING, "tables": {k: x for k, x in v.items() if k not in ("says", "name")}}


def table():
    """The table of the README: the point, what the reference does, and who differs."""
    loaded = {n: load(n) for n in names() if n != "assumed"}
    lines = ["| # | the reference | who differs, and how |", "|---|---|---|"]
    for n in POINTS:
        told_by = {}
        for name, v in loaded.items():
            if differs(v, n):
                told_by.setdefault(says(v, n), []).append(name)
        lines.append("| %d | %s | %s |" % (n, says(load("assumed"), n), "; ".join("**%s** %s" % (", ".join(w), t) for t, w in told_by.items())))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
