"""Takes webhook deliveries and verifies each with Stripe's own verifier, which knows this form of signature.

    receiver.py SECRET [--busy-once KIND]

The first line on standard output is {"url": …}. Once standard input ends, the next is {"deliveries": […]}: of each
delivery whether the verifier accepted it, and which forgeries made from it were accepted, too. --busy-once answers
503 to the first attempt of every event of that kind, so that it is delivered again.
"""

import argparse
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stripe import SignatureVerificationError, WebhookSignature

# Seconds that a signature's time may lie from now: the verifier's default for events. It looks at the past alone.
TOLERANCE = 300


def accepted(body, header, secret):
    """Whether the verifier takes the body for signed under that header, now."""
    try:
        return WebhookSignature.verify_header(body, header, secret, TOLERANCE)
    except (SignatureVerificationError, UnicodeDecodeError):
        return False


def forgeries(body, header, secret):
    """Every way in which a delivery is changed: (what was done, body, header, secret)."""
    for at, byte in enumerate(body):
        # The lowest bit, so that text stays text.
        yield f"byte {at} changed", body[:at] + bytes([byte ^ 1]) + body[at + 1 :], header, secret
    yield "last byte missing", body[:-1], header, secret
    yield "byte added", body + b" ", header, secret
    yield "another secret", body, header, secret + "x"
    parts = dict(part.split("=", 1) for part in header.split(","))
    later = int(parts["t"]) + 1
    yield "another time", body, f"t={later},v1={parts['v1']}", secret
    digit = "0" if parts["v1"][0] != "0" else "1"
    yield "another signature", body, f"t={parts['t']},v1={digit}{parts['v1'][1:]}", secret
    yield "no signature", body, f"t={parts['t']}", secret


def judge(body, header, secret):
    """What the verifier says of a delivery and of every forgery made from it."""
    event = json.loads(body)
    signed_at = int(header.split(",")[0].removeprefix("t="))
    tried = list(forgeries(body, header, secret))
    return {
        "event_id": event["id"],
        "type": event["type"],
        "ascii": body.isascii(),
        "accepted": accepted(body, header, secret),
        "signed_now": abs(time.time() - signed_at) < TOLERANCE,
        "forgeries": len(tried),
        "forgeries_accepted": [what for what, *forged in tried if accepted(*forged)],
    }


class Receiver(ThreadingHTTPServer):
    def __init__(self, secret, busy_once):
        super().__init__(("127.0.0.1", 0), Handler)
        self.secret = secret
        self.busy_once = busy_once
        self.lock = threading.Lock()
        self.deliveries = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver = self.server
        delivery = judge(body, self.headers["Booking-Signature"], receiver.secret)
        delivery["attempt"] = int(self.headers["Booking-Delivery-Attempt"])
        busy = delivery["type"] == receiver.busy_once and delivery["attempt"] == 1
        delivery["answer"] = 503 if busy else 204 if delivery["accepted"] else 400
        with receiver.lock:
            receiver.deliveries.append(delivery)
        self.send_response(delivery["answer"])
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("secret")
    arguments.add_argument("--busy-once", metavar="KIND")
    given = arguments.parse_args()
    receiver = Receiver(given.secret, given.busy_once)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{receiver.server_port}/webhooks"}), flush=True)
    sys.stdin.read()
    receiver.shutdown()
    print(json.dumps({"deliveries": receiver.deliveries}))


if __name__ == "__main__":
    main()
