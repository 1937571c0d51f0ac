"""What the fuzzer cannot learn from the interface's description: real times, guests and codes, and
which refusals of a well-formed request are rightful because no schema can state their reason."""

import random
import re
import uuid
from datetime import datetime, timedelta, timezone

import requests
import schemathesis
from hypothesis import strategies as st

# --- Answers -----------------------------------------------------------------------------------


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Closes the schemas of the answers: a field that is sent and not described is a defect too."""
    seen = set()

    def close(node):
        if isinstance(node, list):
            for item in node:
                close(item)
        elif isinstance(node, dict):
            reference = node.get("$ref", "")
            if reference.startswith("#/components/") and reference not in seen:
                seen.add(reference)
                _, _, kind, name = reference.split("/")
                close(raw_schema["components"][kind][name])
            # A closed base would forbid the fields that are added to it.
            for part in node.pop("allOf", []):
                base = part.get("$ref", "").split("/")[-1]
                part = raw_schema["components"]["schemas"].get(base, part)
                node.setdefault("properties", {}).update(part["properties"])
                node.setdefault("required", []).extend(part["required"])
            if "properties" in node:
                node.setdefault("additionalProperties", False)
            for item in list(node.values()):
                close(item)

    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                close({key: value for key, value in response.items() if key != "links"})


# --- Times -------------------------------------------------------------------------------------

TODAY = datetime.now(timezone.utc).replace(hour=17, minute=0, second=0, microsecond=0)


def evening(day, half_hour):
    """A slot of the scenario venues: every half hour from 17:00 to 22:00 UTC."""
    return (TODAY + timedelta(days=day, minutes=30 * half_hour)).strftime("%Y-%m-%dT%H:%M:%SZ")


EVENINGS = st.builds(evening, st.integers(1, 300), st.integers(0, 10))
ANY_TIME = st.builds(
    "{}T{:02}:{:02}:{:02}{}{}".format,
    st.dates().map(str),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.sampled_from(["", ".5", ".123456789", ".000000000000000000001"]),
    st.sampled_from(["Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+05:45"]),
)
schemathesis.openapi.format("date-time", st.one_of(EVENINGS, EVENINGS, ANY_TIME))

# --- Values that lead on -------------------------------------------------------------------------

VENUES = """
    confirms confirms_b confirms_c otp otp_b otp_c confirm_details processing processing_b payment payment_declines
    payment_setup_fails payment_replay_fails payment_outcome_unknown vault_unavailable provider_fails modify_refused
    availability_fails no_slots multi_provider last_table
""".split()
PLACES = ["Sandbox", "London", "Soho, London", "NYC", "東京", "Outage", "Partial Outage"]
GUESTS = ["Ada Lovelace", "Grace Hopper", "李 小龙", "Test User", "Ada"]
PERSONS = ["ada", "grace"]
# The status of a booking that a call can do something with.
READY_FOR = {"continueBooking": "requires_action", "modifyBooking": "confirmed", "cancelBooking": "confirmed"}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts what the sandbox knows into most of the well-formed requests; the others go as drawn."""
    operation = case.operation.definition.raw["operationId"]
    if operation == "createBooking":
        renew_key(case)
    pick = random.Random(repr((operation, case.body, case.query)))
    is_valid = case.meta is None or case.meta.generation.mode.is_positive
    if not is_valid or pick.random() < 0.2:
        return
    if operation == "getPersonCard":
        case.query = {"end_user": pick.choice(PERSONS)}
    if operation in READY_FOR:
        lead_to_booking(case, READY_FOR[operation], pick)
    if isinstance(case.body, dict):
        case.body = familiar(case.body, pick)
        if operation == "continueBooking" and pick.random() < 0.6:
            case.body = answer(case) or case.body
        if operation == "verifySession":
            case.body = {**case.body, "code": texted(case, "session_id", case.path_parameters["id"])}


def renew_key(case):
    """A key that was used before would be answered with what it stands for, whatever the body."""
    under_test = getattr(case.meta and case.meta.phase.data, "parameter", None)
    if under_test != "Authorization" and "Idempotency-Key" in (case.headers or {}) and random.random() < 0.95:
        case.headers["Idempotency-Key"] = str(uuid.uuid4())


def lead_to_booking(case, status, pick):
    """Names a booking that is ready for the call. In a chain of calls it is the chain's that matters."""
    if case.meta and case.meta.phase.name.value == "stateful":
        return
    ready = [it["id"] for it in sandbox(case, "bookings")["bookings"] if it["status"] == status]
    if ready and pick.random() < 0.7:
        case.path_parameters = {**case.path_parameters, "booking_id": pick.choice(ready)}


def familiar(body, pick):
    body = dict(body)
    if isinstance(body.get("venue_id"), str) and not str(body.get("availability_id")).startswith("slot_"):
        venue = pick.choice(VENUES)
        body["venue_id"] = f"ven_{venue}"
        body["provider"] = {"_b": "provider_b", "_c": "provider_c"}.get(venue[-2:], "provider_a")
        body.pop("availability_id", None)
    if isinstance(body.get("location"), str) and body["location"].strip():
        body["location"] = pick.choice(PLACES)
    if isinstance(body.get("customer"), dict):
        body["customer"] = {**body["customer"], "name": pick.choice(GUESTS)}
    if isinstance(body.get("end_user"), str):
        body["end_user"] = pick.choice(PERSONS)
    return body


def sandbox(case, what):
    base = case.operation.base_url.rstrip("/")
    return requests.get(f"{base}/sandbox/{what}", timeout=5).json()


def texted(case, about, id):
    """The code that was texted about a booking or a session."""
    messages = sandbox(case, "inbox")["messages"]
    return next((it["code"] for it in messages if it.get(about) == id), "000000")


def answer(case):
    """What a booking waits for, if it is one that does."""
    id = case.path_parameters["booking_id"]
    if not re.fullmatch(r"bk_\w{13}", str(id)):
        return None
    asked = next((it.get("next_action") for it in sandbox(case, "bookings")["bookings"] if it["id"] == id), None)
    if asked is None:
        return None
    if asked["type"] == "otp":
        return {"otp": texted(case, "booking_id", id)}
    if asked["type"] == "payment_approval":
        return {"psp_response": {"approval_id": asked["psp_request"]["approval_id"], "status": "approved"}}
    return {field: "as usual" for field in asked["fields"]}


# --- Rightful refusals ---------------------------------------------------------------------------

# What a 400 may depend on besides the request's shape: the clock, the place names, the venue, the
# guest's name, and what the booking or the session waits for.
CODES = {"placeholder_customer", "missing_last_name", "slot_not_offered", "no_search_provider", "invalid_otp", "invalid_code"}
SENTENCES = ("the location could not be resolved", "the venue is served by several providers")
COMPLAINTS = {
    "datetime": "must be in the future",
    "provider": "does not serve this venue",
    "availability_id": "was never offered at this venue",
}


def is_rightful(operation, body):
    if body.get("error_code") in CODES or body["error"].startswith(SENTENCES):
        return True
    complaints = body.get("fields", {})
    if operation == "continueBooking":
        # Another answer than the one that the booking waits for, or another approval.
        return "field" not in body and all("is required" in it for it in complaints.values())
    return bool(complaints) and all(COMPLAINTS.get(field) == it for field, it in complaints.items())


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps every failure but those that the service is right in."""
    kind, operation = type(failure).__name__, case.operation.definition.raw["operationId"]
    if kind == "RejectedPositiveData" and response.status_code == 400:
        return not is_rightful(operation, response.json())
    # A known idempotency key is answered whatever the body.
    replays = kind == "AcceptedNegativeData" and operation == "createBooking"
    return not (replays and response.status_code == 200)
