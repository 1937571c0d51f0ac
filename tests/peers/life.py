"""The whole life cycle through clients that openapi-python-client generated: life.py BASE_URL.

`booking_service` is made from docs/openapi.json, `sandbox_controls` from docs/sandbox-openapi.json. The last line on
standard output is the number of calls whose answers had the class that the document promises.
"""

import datetime
import sys
from typing import TypeVar

from booking_service import AuthenticatedClient
from booking_service.api.bookings import cancel_booking, continue_booking, create_booking, get_booking, modify_booking
from booking_service.api.index import get_api_index
from booking_service.api.sessions import (
    connect_session,
    disconnect_session,
    get_person_card,
    get_session,
    get_session_card,
    list_sessions,
    verify_session,
)
from booking_service.api.venues import search_availability, search_venues
from booking_service.models import (
    ApiIndex,
    Booking,
    BookingNotFoundError,
    CancelBookingRequest,
    CardStatus,
    ConnectSessionRequest,
    CreateBookingRequest,
    CustomerRequest,
    DeletedSession,
    DetailsAnswer,
    InsufficientScopeError,
    InvalidOtpError,
    ModifyBookingRequest,
    ModifyUnsupportedError,
    OtpAnswer,
    PaymentApproval,
    PaymentCollection,
    PspResponse,
    RateLimitError,
    SearchAvailabilityRequest,
    SearchVenuesRequest,
    Session,
    SessionList,
    SlotList,
    UnauthorizedError,
    ValidationError,
    VenueList,
    VerifySessionRequest,
    Vertical,
)
from booking_service.types import UNSET, Unset
from sandbox_controls import Client
from sandbox_controls.api.clock import change_clock, get_clock
from sandbox_controls.api.faults import add_fault, clear_faults
from sandbox_controls.api.state import list_messages
from sandbox_controls.models import AddFaultRequest, ChangeClockRequest, Clock, FaultKind, FaultList, MessageList
from sandbox_controls.models import Fault as SandboxFault

T = TypeVar("T")
calls = 0


def expect(kind: type[T], answer: object) -> T:
    """The answer, which has to be of the class that the document promises."""
    global calls
    calls += 1
    assert isinstance(answer, kind), f"{type(answer).__name__} instead of {kind.__name__}: {str(answer)[:300]}"
    return answer


base_url = sys.argv[1]
service = AuthenticatedClient(base_url=base_url, token="sk_live_sandbox")
sandbox = Client(base_url=base_url)


def present(value: T | Unset | None) -> T:
    """The value of an optional field, which is there."""
    assert value is not None and not isinstance(value, Unset)
    return value


def code() -> str:
    messages = expect(MessageList, list_messages.sync(client=sandbox))
    return messages.messages[0].code


now = expect(Clock, get_clock.sync(client=sandbox)).now
evening = (now + datetime.timedelta(days=1)).replace(hour=19, minute=30, second=0, microsecond=0)


def order(venue_id: str, party_size: int = 2, payment: PaymentCollection | Unset = UNSET) -> CreateBookingRequest:
    customer = CustomerRequest(name="Ada Lovelace", phone="+44 20 7946 0123")
    return CreateBookingRequest(
        venue_id=venue_id, datetime_=evening, party_size=party_size, customer=customer, payment_collection=payment
    )


def book(venue_id: str, payment: PaymentCollection | Unset = UNSET) -> Booking:
    return expect(Booking, create_booking.sync(client=service, body=order(venue_id, payment=payment)))


# From the search to the booking.
assert expect(ApiIndex, get_api_index.sync(client=service)).sandbox is True
search = SearchVenuesRequest(vertical=Vertical.DINING, datetime_=evening, location="Sandbox", party_size=2)
venues = expect(VenueList, search_venues.sync(client=service, body=search)).venues
assert any(it.venue_id == "ven_confirms" and it.provider == "provider_a" for it in present(venues))
wanted = SearchAvailabilityRequest(venue_id="ven_confirms", datetime_=evening, party_size=2)
slots = expect(SlotList, search_availability.sync(client=service, body=wanted)).slots
assert any(it.datetime_ == evening for it in present(slots))
first = expect(Booking, create_booking.sync(client=service, body=order("ven_confirms"), idempotency_key="a key"))
again = expect(Booking, create_booking.sync(client=service, body=order("ven_confirms"), idempotency_key="a key"))
assert first.id == again.id and first.status == "confirmed"

# A change, and the end.
larger = ModifyBookingRequest(party_size=3)
changed = expect(Booking, modify_booking.sync(first.id, client=service, body=larger))
changes = present(present(changed.last_modification).changes)
assert changes["party_size"].to == 3
reason = CancelBookingRequest(reason="The guest is ill.")
cancelled = expect(Booking, cancel_booking.sync(first.id, client=service, body=reason))
assert cancelled.status == "cancelled"
other = book("ven_confirms_b")
expect(ModifyUnsupportedError, modify_booking.sync(other.id, client=service, body=larger))

# A one-time code.
waiting = book("ven_otp")
assert present(waiting.next_action).type_ == "otp"
wrong = expect(InvalidOtpError, continue_booking.sync(waiting.id, client=service, body=OtpAnswer(otp="000000")))
assert wrong.attempts_left == 4 and wrong.error_code == "invalid_otp"
answered = expect(Booking, continue_booking.sync(waiting.id, client=service, body=OtpAnswer(otp=code())))
assert answered.status == "confirmed"

# Details, and a payment.
waiting = book("ven_confirm_details")
details = DetailsAnswer.from_dict({it: "as asked" for it in present(present(waiting.next_action).fields)})
answered = expect(Booking, continue_booking.sync(waiting.id, client=service, body=details))
assert answered.status == "confirmed"
waiting = book("ven_payment", PaymentCollection.VENDOR_EXTERNAL)
request = present(present(waiting.next_action).psp_request)
approval = PspResponse(approval_id=present(request.approval_id), status="approved")
paid = continue_booking.sync(waiting.id, client=service, body=PaymentApproval(psp_response=approval))
assert expect(Booking, paid).status == "confirmed"

# What no list has is read all the same, and answered.
unforeseen = book("ven_unforeseen")
assert unforeseen.status == "waitlisted" and unforeseen.error_code == "provider_timeout"
assert "loyalty_tier" in unforeseen.additional_properties
details = DetailsAnswer.from_dict({it: "by the window" for it in present(present(unforeseen.next_action).fields)})
assert expect(Booking, continue_booking.sync(unforeseen.id, client=service, body=details)).status == "confirmed"

# Time, and a failure.
late = book("ven_otp")
expect(Clock, change_clock.sync(client=sandbox, body=ChangeClockRequest(advance="21m")))
assert expect(Booking, get_booking.sync(late.id, client=service)).status == "expired"
failed = book("ven_provider_fails")
assert failed.status == "failed" and failed.error_code == "provider_error"
fault = AddFaultRequest(on="GET /v1/", kind=FaultKind.STATUS, status=503, times=2)
assert expect(SandboxFault, add_fault.sync(client=sandbox, body=fault)).times == 2
assert get_api_index.sync_detailed(client=service).status_code == 503
assert expect(FaultList, clear_faults.sync(client=sandbox)).faults == []

# Refusals.
nobody = AuthenticatedClient(base_url=base_url, token="sk_live_nobody")
expect(UnauthorizedError, get_api_index.sync(client=nobody))
reader = AuthenticatedClient(base_url=base_url, token="sk_live_readonly")
refused = expect(InsufficientScopeError, create_booking.sync(client=reader, body=order("ven_confirms")))
assert refused.required_scope == "bookings:create"
invalid = expect(ValidationError, create_booking.sync(client=service, body=order("ven_confirms", party_size=99)))
assert "party_size" in invalid.fields
unknown = expect(BookingNotFoundError, get_booking.sync("bk_0000000000000", client=service))
assert unknown.error == "booking not found"

# A session.
person = ConnectSessionRequest(end_user="ada", phone="+44 20 7946 0123")
session = expect(Session, connect_session.sync(client=service, body=person))
verified = expect(Session, verify_session.sync(session.id, client=service, body=VerifySessionRequest(code=code())))
assert verified.state == "active"
expect(Session, get_session.sync(session.id, client=service))
assert [it.id for it in present(expect(SessionList, list_sessions.sync(client=service, end_user="ada")).sessions)] == [session.id]
expect(CardStatus, get_session_card.sync(session.id, client=service))
expect(CardStatus, get_person_card.sync(client=service, end_user="ada"))
assert expect(DeletedSession, disconnect_session.sync(session.id, client=service)).deleted

# The limit of a search.
for _ in range(26):
    limited = search_venues.sync(client=service, body=search)
assert expect(RateLimitError, limited).limit == 25

print(calls)
