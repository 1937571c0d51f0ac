#!/usr/bin/env python3
"""A handler of booking webhooks: small, complete, with Python's standard library alone.

    WEBHOOK_SECRET=whsec_… python3 handler.py [--port 8080] [--database handler.db]

It receives deliveries at /webhooks. /state reports what it did with them, for `bookctl webhook drill --state-url`.
With BOOKING_BASE_URL and BOOKING_API_KEY it reads a booking's status from the service. Without them it stores no
status: events may come out of order, so theirs is only a hint. While a secret is replaced, WEBHOOK_SECRET holds both,
separated by a space.
"""

import argparse
import hashlib
import hmac
import json
import os
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HEADER = "Booking-Signature"
TOLERANCE = 300  # seconds, either way: clocks differ, and old deliveries must not be replayed
LARGEST = 4 * 1024 * 1024  # bytes; the service's own bodies are smaller than 1 MB
KINDS = {"created", "requires_action", "processing", "confirmed", "failed", "cancelled", "modified"}


def is_authentic(header, body, secrets, now):
    """Whether a v1 of the header signs the raw body with one of the secrets, at about the current time."""
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value.encode() for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit() or len(times[0]) > 12:
        return False
    if abs(now - int(times[0])) > TOLERANCE:
        return False
    signed = times[0].encode() + b"." + body
    digests = [hmac.new(secret, signed, hashlib.sha256).hexdigest().encode() for secret in secrets]
    return any(hmac.compare_digest(digest, it) for digest in digests for it in signatures)


class Ledger:
    """The handled events. An event and its effect are stored in one transaction: both, or neither."""

    def __init__(self, file):
        self.lock = threading.Lock()
        self.db = sqlite3.connect(file, check_same_thread=False)
        self.db.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, times INTEGER NOT NULL)")
        self.db.execute("CREATE TABLE IF NOT EXISTS bookings (id TEXT PRIMARY KEY, status TEXT)")

    def knows(self, event_id):
        with self.lock:
            return self.db.execute("SELECT 1 FROM events WHERE id = ?", [event_id]).fetchone() is not None

    def handle(self, event_id, booking_id, status):
        with self.lock, self.db:
            new = self.db.execute("INSERT OR IGNORE INTO events VALUES (?, 0)", [event_id]).rowcount
            if not new:
                return  # another thread handled it at the same time
            # Act on the event here: mail the guest, write a calendar entry.
            self.db.execute("UPDATE events SET times = times + 1 WHERE id = ?", [event_id])
            self.db.execute("INSERT OR REPLACE INTO bookings VALUES (?, ?)", [booking_id, status])

    def state(self):
        with self.lock:
            return {
                "events": dict(self.db.execute("SELECT id, times FROM events")),
                "bookings": dict(self.db.execute("SELECT id, status FROM bookings WHERE status IS NOT NULL")),
            }


def status_of(booking):
    """The booking's status, read from the service: the last event to arrive may be an old one."""
    base = os.environ.get("BOOKING_BASE_URL")
    if not base:
        return None
    request = urllib.request.Request(f"{base}/v1/bookings/{booking['id']}")
    request.add_header("Authorization", f"Bearer {os.environ['BOOKING_API_KEY']}")
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response)["status"]
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


class Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST:
            return self.respond(413)
        body = self.rfile.read(int(length))
        header = self.headers.get(HEADER, "")
        if not is_authentic(header, body, self.server.secrets, time.time()):
            return self.respond(401)
        event = json.loads(body)
        booking = event["data"]["object"]
        if self.server.ledger.knows(event["id"]):
            return self.respond(204)
        if event["type"].removeprefix("booking.") not in KINDS:
            return self.respond(204)
        try:
            self.server.ledger.handle(event["id"], booking["id"], status_of(booking))
        except OSError:
            return self.respond(503)  # the service was not reached: it will deliver again
        self.respond(204)

    def do_GET(self):
        if self.path != "/state":
            return self.respond(404)
        self.respond(200, json.dumps(self.server.ledger.state()).encode())

    def respond(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # connections that may wait
    daemon_threads = True

    def __init__(self, port, secrets, ledger):
        super().__init__(("127.0.0.1", port), Handler)
        self.secrets = secrets
        self.ledger = ledger


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port", type=int, default=8080)
    arguments.add_argument("--database", default=":memory:")
    given = arguments.parse_args()
    secrets = os.environ.get("WEBHOOK_SECRET", "").encode().split()
    if not secrets:
        raise SystemExit("WEBHOOK_SECRET is not set: anyone could sign")
    server = Server(given.port, secrets, Ledger(given.database))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
