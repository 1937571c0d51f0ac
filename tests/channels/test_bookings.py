"""A team's tests with the wheel: 20 of them, which may run in any order and at the same time."""

import datetime
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from bookctl import Organization, Sandbox, SandboxError, program

OUTCOMES = {
    "ven_confirms": "confirmed",
    "ven_confirms_b": "confirmed",
    "ven_confirms_c": "confirmed",
    "ven_otp": "requires_action",
    "ven_confirm_details": "requires_action",
    "ven_processing": "processing",
    "ven_provider_fails": "failed",
}


@pytest.mark.parametrize(("venue", "status"), OUTCOMES.items())
def test_the_venue_decides_the_outcome(sandbox: Organization, venue: str, status: str) -> None:
    assert sandbox.book(venue)["status"] == status


@pytest.mark.parametrize("party", [1, 2, 3, 4, 5])
def test_each_test_has_bookings_of_its_own(sandbox: Organization, party: int) -> None:
    sandbox.book(party_size=party)
    assert [it["party_size"] for it in sandbox.bookings()] == [party]


def test_a_one_time_code_confirms(sandbox: Organization) -> None:
    booking = sandbox.book("ven_otp", customer={"name": "Grace Hopper", "phone": "+44 20 7946 0123"})
    code = sandbox.code(booking["id"])
    assert [it["code"] for it in sandbox.inbox()] == [code]
    booking = sandbox.call("POST", f"/v1/bookings/{booking['id']}/continue", {"otp": code})
    assert booking["status"] == "confirmed"


def test_a_code_that_is_not_given_expires(sandbox: Organization) -> None:
    booking = sandbox.book("ven_otp")
    before = sandbox.clock.now()
    assert sandbox.clock.advance(datetime.timedelta(minutes=21)) >= before + datetime.timedelta(minutes=21)
    assert sandbox.call("GET", f"/v1/bookings/{booking['id']}")["status"] == "expired"


@pytest.mark.sandbox_clock("2035-05-20T12:00:00Z")
def test_a_mark_sets_and_freezes_the_clock(sandbox: Organization) -> None:
    noon = datetime.datetime(2035, 5, 20, 12, tzinfo=datetime.timezone.utc)
    assert sandbox.clock.now() == noon == sandbox.clock.now()


@pytest.mark.sandbox_fixtures("venues.toml")
def test_a_mark_loads_fixtures(sandbox: Organization) -> None:
    assert sandbox.call("GET", f"/v1/bookings/{sandbox.bookings()[0]['id']}")["venue_id"]
    with pytest.raises(SandboxError, match="cannot read"):
        sandbox.load(Path(__file__).parent / "missing.toml")


def test_a_fault_meets_the_next_request(sandbox: Organization) -> None:
    sandbox.faults.add("POST /v1/bookings", "status", status=503)
    with pytest.raises(SandboxError) as error:
        sandbox.book()
    assert error.value.status == 503
    assert sandbox.book()["status"] == "confirmed"
    sandbox.faults.preset("down")
    sandbox.faults.clear()
    assert sandbox.faults.list() == []


def test_a_rejected_request_has_status_and_body(sandbox: Organization) -> None:
    with pytest.raises(SandboxError, match="401") as error:
        sandbox.call("GET", "/v1/", key="sk_live_unknown")
    assert error.value.status == 401 and error.value.body["error"]


def test_the_environment_points_to_the_test_alone(sandbox: Organization, sandbox_server: Sandbox) -> None:
    assert os.environ["BOOKCTL_API_KEY"] == sandbox.key != sandbox_server.organization().key
    tomorrow = sandbox.clock.now() + datetime.timedelta(days=1)
    book = ["book", "ven_confirms", "--at", f"{tomorrow:%Y-%m-%d} 19:30", "--party", "2", "--name", "Ada Lovelace"]
    assert subprocess.run([program(), *book], capture_output=True).returncode == 0
    assert len(sandbox.bookings()) == 1
    assert sandbox.run("bookings", "--json").returncode == 0


def test_a_webhook_is_signed(sandbox: Organization, tmp_path: Path) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers["Booking-Signature"], body))
            self.send_response(204)
            self.end_headers()
            arrived.set()

    received: list[tuple[str, bytes]] = []
    arrived = threading.Event()
    with HTTPServer(("127.0.0.1", 0), Handler) as app:
        threading.Thread(target=app.serve_forever, daemon=True).start()
        sandbox.update(webhook_url=f"http://127.0.0.1:{app.server_port}/")
        sandbox.book()
        assert arrived.wait(30)
        app.shutdown()
    signature, body = received[0]
    (tmp_path / "body").write_bytes(body)
    verified: Any = sandbox.run("webhook", "verify", "--signature", signature, str(tmp_path / "body"))
    assert verified.returncode == 0, verified.stderr
    assert sandbox.deliveries()[0]["attempts"]
