#!/usr/bin/env python3
"""A booking service that follows the specification, with the names and forms of a chosen variant.

The life cycle is here, in canonical documents; what a variant changes is data, in variants.py.
Serves on 127.0.0.1 with the standard library only.  See README.md.
"""
import argparse
import base64
import datetime as dt
import hashlib
import hmac
import json
import os
import random
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import variants as V

MAX_BODY = 1024 * 1024
WINDOW = 300                              # seconds of a rate window
EXPIRY = 20 * 60                          # a booking that waits for an action
PAYMENT_TIME = 10 * 60                    # the time to answer a payment
RETRIES = (30, 120, 600)                  # after the first, second and third failed attempt
TICK = 30                                 # the webhook worker

LIMITS = {"venues": 25, "availability": 60, "create": 10, "continue": 20, "read": 300, "cancel": 30, "sessions": 20, "card": 30}

ROUTES = [
    ("GET", "/v1/", "index"), ("POST", "/v1/venues/search", "search venues"),
    ("POST", "/v1/availability/search", "search availability"), ("POST", "/v1/bookings", "create a booking"),
    ("GET", "/v1/bookings/{booking_id}", "read a booking"), ("POST", "/v1/bookings/{booking_id}/continue", "continue a booking"),
    ("POST", "/v1/bookings/{booking_id}/modify", "modify a booking"), ("POST", "/v1/bookings/{booking_id}/cancel", "cancel a booking"),
    ("POST", "/v1/sessions", "connect an account"), ("POST", "/v1/sessions/{id}/verify", "verify a session"),
    ("GET", "/v1/sessions", "list sessions"), ("GET", "/v1/sessions/{id}", "read a session"),
    ("DELETE", "/v1/sessions/{id}", "disconnect a session"), ("GET", "/v1/sessions/{id}/card", "check the card of a session"),
    ("GET", "/v1/sessions/card", "check the card of a person"),
]

REYKJAVIK = ("Reykjavik", "Atlantic/Reykjavik", 64.146, -21.942, "EUR")
NEW_YORK = ("New York", "America/New_York", 40.713, -74.006, "USD")
TOKYO = ("Tokyo", "Asia/Tokyo", 35.677, 139.650, "JPY")


def venue(n, name, vertical, provider, city, steps, street, **more):
    more.setdefault("mapped", True)
    more.setdefault("terms", False)
    more.setdefault("vendor", False)
    return dict(more, venue_id=n, name=name, vertical=vertical, provider=provider, city=city[0], timezone=city[1],
                lat=city[2], lon=city[3], currency=city[4], steps=steps, address="%s, %s" % (street, city[0]))


# What a venue does with a booking is a list of steps; the booking stops at a step that waits for somebody.
VENUES = [
    venue(4101, "Harbour Table", "dining", "A", REYKJAVIK, ["confirm"], "1 Quay Street"),
    venue(4102, "Lantern House", "dining", "A", NEW_YORK, ["process", "confirm"], "20 Mercer Row", terms=True),
    venue(4103, "Corner Oyster", "dining", "B", NEW_YORK, ["otp", "process", "confirm"], "7 Pearl Corner", terms=True),
    venue(4104, "Sakura Counter", "dining", "A", TOKYO, ["otp", "confirm"], "3 Hanami Lane", terms=True),
    venue(4105, "Long Supper Club", "dining", "B", NEW_YORK, ["otp", "details", "payment", "process", "confirm"], "99 Canal Way", vendor=True, terms=True),
    venue(4106, "Stubborn Fork", "dining", "A", NEW_YORK, ["confirm"], "5 Refusal Road", refuses_changes=True),
    venue(4107, "Full House Grill", "dining", "C", REYKJAVIK, ["fail:no_table_left"], "12 Hill Street"),
    venue(4108, "Unmapped Kitchen", "dining", "C", REYKJAVIK, ["confirm"], "13 Hill Street", mapped=False),
    venue(4201, "Iron Yard", "fitness", "C", REYKJAVIK, ["details", "confirm"], "2 Foundry Lane"),
    venue(4202, "Deep Water Pool", "fitness", "C", NEW_YORK, ["process", "confirm"], "40 River Drive"),
    venue(4301, "Velvet Room", "entertainment", "C", NEW_YORK, ["payment", "process", "confirm"], "11 Curtain Street", vendor=True),
    venue(4302, "Paper Moon Theatre", "entertainment", "C", TOKYO, ["payment", "confirm"], "8 Stage Lane", vendor=True, declines_card=True),
    venue(4303, "Broken Till", "entertainment", "C", NEW_YORK, ["payment", "confirm"], "14 Curtain Street", vendor=True, setup_fails=True),
    venue(4304, "Doubtful Door", "entertainment", "C", NEW_YORK, ["payment", "confirm"], "15 Curtain Street", vendor=True, late_unknown=True),
    venue(4305, "Twice Told Cinema", "entertainment", "C", REYKJAVIK, ["payment", "confirm"], "16 Curtain Street", vendor=True, replay_fails=True),
    venue(4401, "Night Ferry", "travel", "D", REYKJAVIK, ["process", "fail:provider_unreachable"], "Old Harbour"),
    venue(4402, "Morning Coach", "travel", "D", TOKYO, ["confirm"], "Station Square", vendor=True),
    venue(4403, "Silent Line", "travel", "D", NEW_YORK, ["confirm"], "Pier 3", slots_fail=True),
]
BY_ID = {v["venue_id"]: v for v in VENUES}
PLACES = {"reykjavik": "Reykjavik", "new york": "New York", "nyc": "New York", "tokyo": "Tokyo"}
PLACEHOLDERS = {"guest", "test", "customer", "placeholder", "n/a", "na", "none", "unknown", "tbd", "john doe", "jane doe",
                "first last", "name", "test user", "test test", "test guest", "test customer", "guest user", "your name", "anonymous", "xxx"}
ASKED = [{"name": "membership_number", "label": "Membership number", "type": "string", "required": True},
         {"name": "waiver_accepted", "label": "The waiver is accepted", "type": "boolean", "required": True}]
WAITS = ("otp", "payment", "details")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a):
        return None                          # any answer but 2xx is a failed attempt


WEBHOOKS = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


class Refusal(Exception):
    def __init__(self, status, **body):
        self.status, self.body = status, body


class Service:
    def __init__(self, options):
        self.o = options
        self.v = V.load(options.variant)
        self.rng = random.Random(options.seed)
        self.lock = threading.RLock()
        self.sending = threading.Lock()      # one worker at a time
        self.skew = 0.0
        self.bookings, self.sessions, self.by_key = {}, {}, {}
        self.seen = set(BY_ID) if options.know_venues else set()
        self.windows, self.codes, self.requests, self.deliveries = {}, [], [], []
        self.confirmed_test = 0
        self.next_id = {"booking": 700100 + self.rng.randrange(800), "session": 51000 + self.rng.randrange(800), "event": 910000 + self.rng.randrange(900)}
        self.next_tick = self.now() + TICK
        self.vendor_off = False
        self.search_down, self.billing_down, self.no_search = set(), "", False
        self.faults = []
        self.url = options.webhook_url
        self.secret = options.webhook_secret
        self.keys = self.make_keys(options)
        self.prefix = "/" + self.v["prefix"].strip("/")
        self.stop = False

    # ---- keys, clock

    def make_keys(self, o):
        look = self.v["auth"]["look"]
        kind = o.key_kind
        if not kind:
            kind = "live" if o.key.startswith("sk_live_") else "beta" if o.key.startswith("sk_v3_") else "test"
        every = {"bookings:create", "bookings:read", "bookings:write", "search", "sessions"}
        keys = {o.key: {"kind": kind, "scopes": every, "name": "given"}}
        for name, k, extra in (("test", "test", {}), ("live", "live", {}), ("beta", "beta", {}), ("live_without_billing", "live", {"billing": False}),
                               ("suspended", "live", {"suspended": "unpaid invoices"}), ("read_only", "live", {"scopes": every - {"bookings:create"}})):
            keys["%s%s%012x" % (look[k], {"live_without_billing": "nb", "suspended": "su", "read_only": "ro"}.get(name, ""),
                                self.rng.getrandbits(48))] = dict({"kind": k, "scopes": every, "name": name}, **extra)
        return keys

    def now(self):
        return time.time() + self.skew

    def advance(self, seconds):
        """Moves the clock; the webhook worker runs at each of its times on the way."""
        goal = self.now() + seconds
        while True:
            with self.lock:
                step = min(goal, self.next_tick)
                if step > self.now():
                    self.skew += step - self.now()
                due = self.now() >= self.next_tick
            if due:
                self.tick()
                with self.lock:
                    if not self.waiting():       # nothing to do until the goal: do not stop at every half minute
                        if goal - self.next_tick > TICK:
                            self.next_tick += TICK * int((goal - self.next_tick) // TICK)
            if self.now() >= goal - 0.001:
                return

    def waiting(self):
        return any(b["status"] in ("requires_action", "processing") for b in self.bookings.values()) or any(
            d["state"] == "pending" for d in self.deliveries)

    # ---- events

    def event(self, kind, b):
        if not self.url or not self.secret:
            return
        self.next_id["event"] += 1
        n = self.next_id["event"]
        ident = V.id_out(self.v, "event", n)
        table = self.v["event"]
        ctx = self.ctx()
        headers, body = {}, {}
        for name, value in (("id", ident), ("kind", kind)):
            path = table[name]
            if path.startswith("header:"):
                headers[path[7:]] = str(value)
            else:
                V.put(body, path, value)
        path, form = V.targets(table["created_at"])[0]
        V.put(body, path, V.form_out(self.v, form, self.now(), ctx))
        V.put(body, "data.object", V.booking_out(self.v, self.view(b), ctx, summary=True))
        self.deliveries.append({"event": str(ident), "kind": kind, "booking": V.id_out(self.v, "booking", b["id"]), "body": json.dumps(body).encode(), "headers": headers,
                                "attempts": [], "due": 0, "state": "pending"})

    def tick(self):
        """The webhook worker; it also lets bookings that nobody reads go on."""
        with self.lock:
            now = self.now()
            while self.next_tick <= now:
                self.next_tick += TICK
            for b in list(self.bookings.values()):
                self.lapse(b)
                if b["status"] == "processing" and now - b["since"] >= TICK:
                    self.go_on(b)
        with self.sending:
            self.send_due()

    def send_due(self):
        with self.lock:
            due = [d for d in self.deliveries if d["state"] == "pending" and d["due"] <= self.now() + 1]
        for d in due:
            status = self.deliver(d)
            with self.lock:
                d["attempts"].append({"at": int(self.now()), "status": status})
                if isinstance(status, int) and 200 <= status < 300:
                    d["state"] = "delivered"
                elif len(d["attempts"]) > len(RETRIES):
                    d["state"] = "abandoned"
                else:
                    d["due"] = self.now() + RETRIES[len(d["attempts"]) - 1]

    def deliver(self, d):
        t = str(int(time.time()))            # the receiver's clock is the true one
        sign = hmac.new(self.secret.encode(), t.encode() + b"." + d["body"], hashlib.sha256).hexdigest()
        headers = dict(d["headers"], **{"Content-Type": "application/json", "%s-Signature" % self.v["service"]: "t=%s,v1=%s" % (t, sign)})
        request = urllib.request.Request(self.url, data=d["body"], headers=headers, method="POST")
        try:
            with WEBHOOKS.open(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as e:
            return e.code
        except Exception as e:
            return type(e).__name__

    def work(self):
        while not self.stop:
            time.sleep(0.25)
            if self.now() >= self.next_tick:
                self.tick()

    # ---- the life of a booking

    def move(self, b, status, code=None, message=None, silent=False):
        b["status"], b["since"], b["updated_at"] = status, self.now(), self.now()
        b["error_code"], b["error_message"] = code, message
        if status != "requires_action":
            b["action"] = None
            b["expires_at"] = None
        if status == "confirmed" and b["test"]:
            self.confirmed_test += 1
        if not silent:
            self.event("booking." + status, b)

    def go_on(self, b):
        """Takes the next step of the venue."""
        ven = BY_ID[b["venue"]]
        step = b["steps"].pop(0)
        if step == "process":
            b["reads_left"], b["first"] = 2, True
            self.move(b, "processing")
        elif step == "confirm":
            b["confirmation_number"] = "%s%05d" % ("KZRTM"[b["id"] % 5], b["id"] * 7 % 100000)
            self.move(b, "confirmed")
        elif step.startswith("fail:"):
            code = step[5:]
            self.move(b, "failed", code, {"no_table_left": "The venue has no table left at this time."}.get(code, "The provider did not complete the booking (%s)." % code))
        else:
            self.pause(b, ven, step)

    def pause(self, b, ven, kind):
        now = self.now()
        b["action"] = {"kind": kind, "tries": 3, "until": now + (PAYMENT_TIME if kind == "payment" else EXPIRY)}
        if kind == "otp":
            code = "%06d" % self.rng.randrange(1000000)
            b["action"].update(code=code, channel="sms" if b["guest_phone"] or not b["guest_email"] else "email",
                               to=b["guest_phone"] or b["guest_email"] or "+10000000000")
            self.codes.append({"for": "booking", "id": V.id_out(self.v, "booking", b["id"]), "to": b["action"]["to"], "code": code, "at": int(now)})
        if kind == "payment":
            if ven.get("setup_fails"):
                return self.move(b, "failed", "payment_setup_failed", "The payment could not be prepared for this venue.")
            b["action"].update(request="vpr_%08x" % self.rng.getrandbits(32), nonce="%016x" % self.rng.getrandbits(64), channel="card")
            b["expires_at"] = b["action"]["until"]
        self.move(b, "requires_action")

    def lapse(self, b):
        if b["status"] != "requires_action":
            return
        if b["action"]["kind"] == "payment":
            if self.now() > b["action"]["until"]:
                self.move(b, "failed", "payment_approval_expired", "The payment was not answered in time.")
        elif self.now() - b["since"] > EXPIRY:
            self.move(b, "expired", silent=True)

    def approval(self, b, outcome="approved"):
        a = b["action"]
        sign = hmac.new(a["nonce"].encode(), (a["request"] + outcome).encode(), hashlib.sha256).hexdigest()[:24]
        return {"request_id": a["request"], "outcome": outcome, "approval": sign}

    # ---- documents

    def ctx(self, tz=None, **more):
        return dict(more, tz=tz, now=self.now())

    def view(self, b):
        """The canonical document of a booking."""
        ven = BY_ID[b["venue"]]
        doc = {k: b.get(k) for k in ("id", "status", "provider", "error_code", "error_message", "last_modification", "expires_at", "datetime",
                                     "party_size", "guest_name", "guest_email", "guest_phone", "created_at", "updated_at", "seating",
                                     "confirmation_number", "first")}
        doc.update(venue_id=ven["venue_id"], venue_name=ven["name"], tz=ven["timezone"], price=self.price(ven, b["party_size"]),
                   links="%s/v1/bookings/%s" % (self.prefix, V.id_out(self.v, "booking", b["id"])))
        a = b.get("action")
        if a:
            kind = a["kind"]
            act = {"kind": kind, "expires_at": a["until"], "message": {
                "otp": "Enter the code that was sent to you.", "payment": "Approve the payment with the vendor.",
                "details": "The venue needs two more things."}[kind]}
            if kind == "otp":
                to = a["to"]
                act.update(channel=a["channel"], sent_to=to[:2] + "•" * max(0, len(to) - 4) + to[-2:])
            elif kind == "payment":
                act.update(money=self.price(ven, b["party_size"]), channel="card",
                           psp_request={"request_id": a["request"], "nonce": a["nonce"], "merchant": ven["name"]})
            else:
                act["fields"] = ASKED
            doc["next_action"] = act
        return doc

    def price(self, ven, party):
        return ({"JPY": 5400}.get(ven["currency"], 3650) * (party or 1), ven["currency"])

    def booking_doc(self, b):
        doc = V.booking_out(self.v, self.view(b), self.ctx())
        return V.resource(self.v, "booking", doc, V.id_out(self.v, "booking", b["id"]))

    def session_doc(self, s):
        phone = s["phone"]
        doc = V.encode(self.v, "session", dict(s, phone_masked=phone[:2] + "•" * max(0, len(phone) - 4) + phone[-2:]), self.ctx())
        return V.resource(self.v, "session", doc, V.id_out(self.v, "session", s["id"]))

    def placed(self, kind, doc):
        """The document where the variant puts it."""
        place = self.v["answers"][kind]
        body = V.put({}, place, doc) if place else doc
        if self.v["meta"] and isinstance(body, dict):
            V.put(body, self.v["meta"], "req_%08x" % self.rng.getrandbits(32))
        return body

    # ---- requests

    def refuse_fields(self, problems, words="validation failed"):
        """The refusal that names each field."""
        form = self.v["validation"]
        body = {"error": words}
        if form == "fields:map":
            body["fields"] = problems
        elif form == "list:objects":
            body["errors"] = [{"field": f, "message": m} for f, m in problems.items()]
        elif form == "list:texts":
            body["details"] = ["%s %s" % i for i in problems.items()]
        elif form == "pointers":
            body["errors"] = [{"source": {"pointer": "/" + f.replace(".", "/")}, "detail": m} for f, m in problems.items()]
        elif form == "names":
            body["invalid"] = list(problems)
        elif form == "problems":
            body["problems"] = {"by_field": {f: [m] for f, m in problems.items()}}
        else:
            body["error"] = "%s: %s" % (words, "; ".join("%s %s" % i for i in problems.items()))
        raise Refusal(400, **body)

    def wrong_type(self, field, detail):
        raise Refusal(400, error="invalid request body", field=field, detail=detail)

    def whole(self, body, path, required=False, low=1):
        value = V.get(body, path) if path else None
        if value is None:
            if required:
                self.refuse_fields({path: "is required"})
            return None
        if isinstance(value, str) and self.v["name"] == "plain" and value.isdigit():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong_type(path, "a whole number was expected")
        if value < low or value > 40:
            self.refuse_fields({path: "must be from %d to 40" % low})
        return value

    def text(self, body, path, required=False):
        value = V.get(body, path) if path else None
        if value is None or value == "":
            if required:
                self.refuse_fields({path: "is required"})
            return None
        if not isinstance(value, str):
            self.wrong_type(path, "a text was expected")
        return value

    def provider(self, token, path, unknown_ok=False):
        if token is None:
            return None
        for letter, word in self.v["providers"].items():
            if word == token and type(word) is type(token):
                return letter
            if isinstance(word, int) and isinstance(token, str) and token == str(word) and path == "query":
                return letter
        if unknown_ok:
            return "?"
        if isinstance(token, (dict, list, bool, float)) or isinstance(token, int) != isinstance(self.v["providers"]["A"], int):
            self.wrong_type(path, "a provider was expected")
        self.refuse_fields({path: "is not a provider"})

    def known_fields(self, body, operation, taken):
        if operation not in self.v["strict"]:
            return
        for name in body:
            if name not in taken:
                self.wrong_type(name, "unknown field")

    def search(self, r):
        body = r.body
        need = [n for n in ("vertical", "datetime") if body.get(n) in (None, "")]
        has_point = body.get("latitude") is not None and body.get("longitude") is not None
        if not body.get("location") and not has_point:
            need.append("location")
        if need:
            raise Refusal(400, error="missing required fields", missing=need)
        if body["vertical"] not in ("dining", "fitness", "entertainment", "travel"):
            self.refuse_fields({"vertical": "must be one of dining, fitness, entertainment, travel"})
        target = self.v["search_request"]["providers"]
        path, form = V.targets(target)[0]
        paging = self.v["paging"]["venues"]
        pages = [p.split(".")[0] for p in paging["request"].values()] if paging else []
        size_path = self.v["search_request"]["party_size"]
        self.known_fields(body, "search", {"vertical", "datetime", "location", "latitude", "longitude", path.split(".")[0]} | set(pages) |
                          ({size_path.split(".")[0]} if size_path else set()))
        self.whole(body, size_path)
        asked = V.get(body, path)
        named = None
        if asked is not None:
            if form == "csv":
                if not isinstance(asked, str):
                    self.wrong_type(path, "a text with commas was expected")
                asked = [x.strip() for x in asked.split(",") if x.strip()]
            elif not isinstance(asked, list):
                self.wrong_type(path, "a list was expected")
            if form == "objects":
                if not all(isinstance(x, dict) and "id" in x for x in asked):
                    self.wrong_type(path, "a list of objects with id was expected")
                asked = [x["id"] for x in asked]
            named = [self.provider(x, path, unknown_ok=True) for x in asked]
            if named and all(p == "?" for p in named):
                raise Refusal(400, error="no search-capable provider among those named", error_code="no_search_provider")
        if self.no_search:
            raise Refusal(400 if named else 503, error="no search-capable provider is configured", error_code="no_search_provider")
        if has_point:
            for n in ("latitude", "longitude"):
                if isinstance(body[n], bool) or not isinstance(body[n], (int, float)):
                    self.wrong_type(n, "a number was expected")
            city = min(VENUES, key=lambda x: abs(x["lat"] - body["latitude"]) + abs(x["lon"] - body["longitude"]))["city"]
        else:
            if not isinstance(body["location"], str):
                self.wrong_type("location", "a text was expected")
            city = next((c for w, c in PLACES.items() if w in body["location"].lower()), None)
            if not city:
                raise Refusal(400, error="the location could not be resolved; send a more specific location or latitude and longitude")
        tz = next(x["timezone"] for x in VENUES if x["city"] == city)
        when = V.time_in(None, body["datetime"], tz)
        if when is None:
            self.wrong_type("datetime", "a date and time was expected")
        if when < self.now() and not self.same_day(when, tz):
            self.refuse_fields({"datetime": "must be in the future"})
        wanted = [p for p in self.v["providers"] if named is None or p in named]
        failed = [p for p in wanted if p in self.search_down]
        if failed and len(failed) == len(wanted):
            raise Refusal(502, error="every provider failed", error_code="search_failed", providers_failed=[self.v["providers"][p] for p in failed])
        found = [x for x in VENUES if x["vertical"] == body["vertical"] and x["city"] == city and x["provider"] in wanted and x["provider"] not in failed]
        docs = []
        for x in found:
            self.seen.add(x["venue_id"])
            doc = dict(x, providers=[x["provider"]] if x["mapped"] else None, price_level=1 + x["venue_id"] % 4, distance_km=round(0.4 + x["venue_id"] % 10 * 0.7, 1),
                       tags=["evening", x["vertical"]], rating=round(3.5 + x["venue_id"] % 5 * 0.3, 1))
            out = V.encode(self.v, "venue", doc, self.ctx(x["timezone"]))
            docs.append(V.resource(self.v, "venue", out, V.id_out(self.v, "venue", x["venue_id"])))
        answer = self.page(r, "venues", docs)
        if failed and self.v["partial_failure"]:
            path, form = V.targets(self.v["partial_failure"])[0]
            V.put(answer, path, V.form_out(self.v, form, failed, self.ctx()))
        return 200, answer

    def same_day(self, t, tz):
        day = V.time_out("t:date", t, tz)
        return day == V.time_out("t:date", self.now(), tz)

    def page(self, r, kind, docs):
        """One page of a list, where the variant has pages."""
        paging = self.v["paging"][kind]
        if not paging:
            return self.placed(kind, docs)

        def asked(name, default):
            path = paging["request"][name]
            value = V.get(r.body, path) if kind == "venues" and isinstance(r.body, dict) else None
            if value is None:
                value = r.query.get(path)
            if value is None:
                return default
            return value
        style = paging["style"]
        try:
            size = max(1, min(100, int(asked("size", paging["size"]))))
        except (TypeError, ValueError):
            self.wrong_type(paging["request"]["size"], "a number was expected")
        cursor = asked("cursor", None)
        start = 0
        by_offset = paging["request"]["cursor"] == "offset"
        try:
            if cursor is None:
                pass
            elif style == "cursor":
                start = int(base64.urlsafe_b64decode(str(cursor)).decode().split(":")[1])
            elif by_offset:
                start = int(cursor)
            else:
                start = (int(cursor) - 1) * size
        except Exception:
            self.refuse_fields({paging["request"]["cursor"]: "is not a place in this list"})
        shown, more = docs[start:start + size], start + size < len(docs)
        after = (base64.urlsafe_b64encode(("at:%d" % (start + size)).encode()).decode() if style == "cursor" else
                 start + size if by_offset else start // size + 2)
        answer = self.placed(kind, shown)
        query = dict(r.query, **{paging["request"]["cursor"]: after, paging["request"]["size"]: size})
        link = "%s%s?%s" % (r.base, r.path, urllib.parse.urlencode(query))
        target, total = paging["response"]["next"], paging["response"]["total"]
        if more:
            if target == "header:Link":
                r.headers_out["Link"] = '<%s>; rel="next"' % link
            else:
                V.put(answer, target, link if "links" in target else after)
        elif "header:" not in target and "links" not in target:
            V.put(answer, target, None)
        if total:
            if total.startswith("header:"):
                r.headers_out[total[7:]] = str(len(docs))
            else:
                V.put(answer, total, len(docs))
        return answer

    def venue_in(self, token, path):
        n = V.id_in(self.v, "venue", token)
        if n is None:
            form = self.v["ids"]["venue"]
            if (form == "number") != (isinstance(token, int) and not isinstance(token, bool)):
                self.wrong_type(path, "%s was expected" % V.ids_told(form))
        return BY_ID.get(n)

    def slots(self, r):
        body, table = r.body, self.v["slots_request"]
        problems = {}
        for name in self.v["slots_required"]:
            for path, _ in V.targets(table[name]):
                if V.get(body, path) in (None, ""):
                    problems[path] = "is required"
        further = table["further"]
        if further and V.get(body, further) is not None and V.get(body, further) not in self.v["slots_further"]:
            problems[further] = "must be one of " + ", ".join(self.v["slots_further"])
        if problems:
            self.refuse_fields(problems)
        path = V.targets(table["venue"])[0][0]
        ven = self.venue_in(V.get(body, path), path)
        if not ven or ven["venue_id"] not in self.seen:
            raise Refusal(404, error="venue not found; run venue search first")
        tz = ven["timezone"]
        if table["datetime"] is None:
            first = self.time(body, table["window_from"], tz)
            last = self.time(body, table["window_to"], tz)
            if last < first:
                self.refuse_fields({V.targets(table["window_to"])[0][0]: "must not be before the start"})
        else:
            at = self.time(body, table["datetime"], tz)
            day = dt.datetime.fromtimestamp(at, V.zone(tz)).replace(hour=0, minute=0, second=0, microsecond=0)
            first, last = day.timestamp(), (day + dt.timedelta(hours=23, minutes=59)).timestamp()
        party = self.whole(body, table["party_size"]) or 2
        p_path = table["provider"]
        provider = self.provider(V.get(body, p_path) if p_path else None, p_path)
        if ven.get("slots_fail") or ven["provider"] in self.search_down:
            raise Refusal(502, error="the provider failed", error_code="availability_failed", provider=self.v["providers"][ven["provider"]])
        docs = []
        if provider in (None, ven["provider"]):
            docs = [self.slot(ven, t, party) for t in self.offered(ven, first, last)]
        answer = self.placed("slots", docs)
        for path, form in V.targets(self.v["slots_answer"]["provider"]):
            word = self.v["providers"][ven["provider"]]
            if path.startswith("header:"):
                r.headers_out[path[7:]] = str(word)
            else:
                V.put(answer, path, word)
        return 200, answer

    def offered(self, ven, first, last):
        """Every half hour from 10:00 to 22:00 of the venue's day, for 90 days."""
        t = (int(max(first, self.now() + 60)) + 1799) // 1800 * 1800
        last = min(last, self.now() + 90 * 86400)
        while t <= last and (t - first) < 8 * 86400:
            local = dt.datetime.fromtimestamp(t, V.zone(ven["timezone"]))
            if 10 * 60 <= local.hour * 60 + local.minute <= 22 * 60:
                yield t
            t += 1800

    def slot(self, ven, t, party):
        n = ven["venue_id"] * 100000000 + t // 1800
        currency = ven["currency"]
        unit = 1 if currency == "JPY" else 100
        doc = {"availability_id": n, "datetime": t, "duration_minutes": 90, "seating": ("inside", "terrace", "counter")[t // 1800 % 3], "party_size": party,
               "price": self.price(ven, party)}
        if ven["terms"]:
            hold, fee = (2500 if currency == "JPY" else 25) * unit, (1500 if currency == "JPY" else 15) * unit
            free = t - 24 * 3600
            doc["card_terms"] = {"text": "A card holds the table; %s per person is kept if nobody comes." % V.form_out(self.v, "m:text", (hold, currency), {}),
                                 "required": True, "hold": (hold, currency), "per_person": True}
            doc["cancellation_terms"] = {"text": "Free until 24 hours before, then %s." % V.form_out(self.v, "m:text", (fee, currency), {}),
                                         "free_until": free, "fee": (fee, currency)}
        out = V.encode(self.v, "slot", doc, self.ctx(ven["timezone"], start=t))
        return V.resource(self.v, "slot", out, V.id_out(self.v, "slot", n))

    def time(self, body, target, tz, any_form=False):
        """The instant of a request: one field, or a day and a clock time apart."""
        parts = V.targets(target)
        if len(parts) == 2:
            day, clock = (V.get(body, p) for p, _ in parts)
            for (path, _), value, pattern in ((parts[0], day, r"\d{4}-\d\d-\d\d"), (parts[1], clock, r"\d\d:\d\d")):
                if not isinstance(value, str) or not re.fullmatch(pattern, value):
                    self.wrong_type(path, "%s was expected" % ("YYYY-MM-DD" if path == parts[0][0] else "HH:MM"))
            at = V.time_in("t:local", "%sT%s" % (day, clock), tz)
            path = parts[0][0]
        else:
            path, form = parts[0]
            value = V.get(body, path)
            at = V.time_in(None if any_form else form, value, tz)
        if at is None:
            self.wrong_type(path, "a time was expected" if any_form else "%s was expected" % V.TIME_WORDS[form])
        return at

    def create(self, r):
        idem = r.headers.get("Idempotency-Key")
        if idem and idem in self.by_key:
            return self.v["create_status"]["repeated"], self.placed("booking", self.booking_doc(self.by_key[idem]))
        body, table = r.body, self.v["create_request"]
        missing = {n: "is required" for n in ("venue_id", "datetime", "party_size") if body.get(n) in (None, "")}
        customer = body.get("customer")
        if customer is None:
            missing["customer"] = "is required"
        if missing:
            self.refuse_fields(missing)
        if not isinstance(customer, dict):
            self.wrong_type("customer", "an object was expected")
        name = self.text(body, "customer.name", required=True)
        if " ".join(name.lower().split()) in PLACEHOLDERS:
            raise Refusal(400, error="the guest must be the real guest, not a placeholder", error_code="placeholder_customer")
        party = self.whole(body, "party_size")
        named = self.provider(body.get("provider"), "provider")
        ven = self.venue_in(body["venue_id"], "venue_id")
        if (not ven or ven["venue_id"] not in self.seen or not ven["mapped"]) and not named:
            raise Refusal(400, error="no provider is known for this venue_id; run venue search first or send provider")
        if not ven:
            raise Refusal(404, error="venue not found; run venue search first")
        if named and named != ven["provider"]:
            self.refuse_fields({"provider": "does not book this venue"})
        tz = ven["timezone"]
        slot_token = body.get("availability_id")
        if slot_token is None:
            at = self.time(body, table["datetime_form"], tz)
        else:
            at = self.time(body, table["datetime_form"], tz, any_form=True)
            n = V.id_in(self.v, "slot", slot_token)
            if n is None and isinstance(slot_token, int) != (self.v["ids"]["slot"] == "number"):
                self.wrong_type("availability_id", "%s was expected" % V.ids_told(self.v["ids"]["slot"]))
            if n is None or n // 100000000 != ven["venue_id"]:
                self.refuse_fields({"availability_id": "is not a slot of this venue"})
            if n % 100000000 * 1800 != int(at):
                raise Refusal(400, error="the slot was offered at another time", error_code="slot_not_offered")
        if at <= self.now():
            self.refuse_fields({"datetime": "must be in the future"})
        email, phone = self.text(body, table["email"]), self.text(body, table["phone"])
        seating = self.text(body, table["seating"])
        self.text(body, "webhook_url")
        rule = (self.v["create_required"] or [None])[0]
        if rule == "terms" and ven["terms"] and V.get(body, table["further"]) is not True:
            self.refuse_fields({table["further"]: "must be true at a venue with card terms"})
        if rule == "source":
            self.text(body, table["further"], required=True)
        if ven["provider"] == "A" and len(name.split()) < 2:
            raise Refusal(400, error="this provider needs first and last name", error_code="missing_last_name")
        person = body.get("end_user")
        if person is not None:
            person = self.person(person, "end_user")
            if not any(s["end_user"] == person and s["provider"] == ven["provider"] and s["state"] == "active" for s in self.sessions.values()):
                raise Refusal(409, error="the person has no active session with this provider", error_code="reconnect_required")
        collection = body.get("payment_collection")
        if collection not in (None, "vendor_external"):
            self.refuse_fields({"payment_collection": "must be vendor_external"})
        if collection:
            if self.vendor_off:
                raise Refusal(503, error="vendor payments are off", error_code="vendor_disabled")
            if not ven["vendor"]:
                raise Refusal(409, error="this venue cannot be paid through the vendor", error_code="vault_unavailable")
        steps = list(ven["steps"])
        if collection and "payment" not in steps:
            steps.insert(0, "payment")
        if not collection and "payment" in steps:
            at_pay = steps.index("payment")
            steps[at_pay:] = ["fail:payment_required"]
        self.next_id["booking"] += self.rng.randrange(1, 9)
        now = self.now()
        b = {"id": self.next_id["booking"], "status": "processing", "since": now, "provider": ven["provider"], "venue": ven["venue_id"], "datetime": int(at), "party_size": party,
             "guest_name": name, "guest_email": email, "guest_phone": phone, "seating": seating, "created_at": now, "updated_at": now, "steps": steps,
             "test": r.key["kind"] == "test", "reads_left": 0, "action": None, "end_user": person, "webhook_url": body.get("webhook_url"), "idempotency_key": idem}
        self.bookings[b["id"]] = b
        if idem:
            self.by_key[idem] = b
        self.event("booking.created", b)
        self.go_on(b)
        return self.v["create_status"]["fresh"], self.placed("booking", self.booking_doc(b))

    def person(self, value, path):
        if self.v["end_user"] == "object":
            if not isinstance(value, dict) or not isinstance(value.get("id"), str):
                self.wrong_type(path, "an object with id was expected")
            return value["id"]
        if not isinstance(value, str):
            self.wrong_type(path, "a text was expected")
        return value

    def find(self, token):
        b = self.bookings.get(V.id_in(self.v, "booking", token, in_path=True))
        if b:
            self.lapse(b)
            return b
        elements = []
        for x in self.bookings.values():
            self.lapse(x)
            if x["status"] in ("requires_action", "processing") and self.now() - x["created_at"] < 86400:
                elements.append(x)
        form = self.v["open_bookings"]
        ids = [(V.id_out(self.v, "booking", x["id"]), V.status_out(self.v, x["status"], {"first": x.get("first")})) for x in elements]
        shown = {"objects": lambda: [{"id": i, "status": s} for i, s in ids], "ids": lambda: [i for i, _ in ids], "map": lambda: {str(i): s for i, s in ids},
                 "wrapped": lambda: [{"booking": {"id": i, "status": s}} for i, s in ids],
                 "links": lambda: [{"href": "%s/v1/bookings/%s" % (self.prefix, i)} for i, _ in ids],
                 "texts": lambda: ["%s is %s" % p for p in ids],
                 "resources": lambda: [{"type": "bookings", "id": str(i), "attributes": {"status": s}} for i, s in ids]}[form]()
        raise Refusal(404, error="booking not found", open_bookings=shown)

    def answer(self, b, status=200):
        return status, self.placed("booking", self.booking_doc(b))

    def read(self, r):
        b = self.find(r.id)
        if b["status"] == "processing":
            if b["reads_left"] > 0:
                b["reads_left"] -= 1
                answer = self.answer(b)
                b["first"] = False
                return answer
            self.go_on(b)
        return self.answer(b)

    def continue_(self, r):
        b, body = self.find(r.id), r.body
        late = "psp_response" in body and b["status"] == "failed" and b.get("error_code") in ("payment_approval_expired", "payment_outcome_unknown")
        if late:
            if BY_ID[b["venue"]].get("late_unknown"):
                b["error_code"], b["error_message"] = "payment_outcome_unknown", "The card may have reached the venue."
            raise Refusal(400, error="the answer came after the deadline")
        if b["status"] != "requires_action":
            raise Refusal(409, error="the booking is not waiting for an action; it is %s" % V.status_out(self.v, b["status"]))
        a, ven = b["action"], BY_ID[b["venue"]]
        if a["kind"] == "payment":
            if "psp_abort" in body:
                value = body["psp_abort"]
                good = {"true": value is True, "text": isinstance(value, str) and value != "", "object": isinstance(value, dict) and isinstance(value.get("reason"), str)}
                if not good[self.v["psp_abort"]]:
                    self.wrong_type("psp_abort", "%s was expected" % {"true": "true", "text": "a text", "object": "an object with reason"}[self.v["psp_abort"]])
                self.move(b, "failed", "payment_declined", "The payment was abandoned.")
                return self.answer(b)
            given = body.get("psp_response")
            if self.v["psp_response"] == "text":
                parts = given.split(".") if isinstance(given, str) else []
                given = dict(zip(("request_id", "outcome", "approval"), parts)) if len(parts) == 3 else None
            if not isinstance(given, dict) or given != self.approval(b, str(given.get("outcome"))):
                raise Refusal(400, error="psp_response is malformed; correct the body and try again before the deadline")
            if ven.get("declines_card") or given["outcome"] == "declined":
                self.move(b, "failed", "card_declined", "The processor declined the card.")
            elif ven.get("replay_fails"):
                self.move(b, "failed", "payment_replay_failed", "The processor may hold the card.")
            else:
                self.go_on(b)
            return self.answer(b)
        if a["kind"] == "otp":
            path = self.v["otp_request"]["code"]
            code = self.text(body, path, required=True)
            if code != a["code"]:
                a["tries"] -= 1
                if a["tries"] <= 0:
                    self.move(b, "failed", "code_attempts_used_up", "The code was wrong three times.")
                    return self.answer(b)
                out = {"error": "the code is wrong", "error_code": "invalid_code"}
                if self.v["attempts_left"]:
                    V.put(out, self.v["attempts_left"], a["tries"])
                raise Refusal(400, **out)
            self.go_on(b)
            return self.answer(b)
        place, form = self.v["details_request"]
        given = V.get(body, place)
        if form == "list":
            if not isinstance(given, list) or not all(isinstance(x, dict) and isinstance(x.get("name"), str) and "value" in x for x in given):
                self.refuse_fields({place: "a list of {name, value} is required"})
            given = {x["name"]: x["value"] for x in given}
        if not isinstance(given, dict):
            self.refuse_fields({place: "is required"})
        before = place + "." if place else ""
        problems = {}
        for f in ASKED:
            value = given.get(f["name"])
            if value in (None, ""):
                problems[before + f["name"]] = "is required"
            elif f["type"] == "boolean" and value is not True and value != "true":
                problems[before + f["name"]] = "must be true"
        if problems:
            self.refuse_fields(problems)
        b["details"] = {f["name"]: given[f["name"]] for f in ASKED}
        self.go_on(b)
        return self.answer(b)

    def modify(self, r):
        b, body, table = self.find(r.id), r.body, self.v["modify_request"]
        if b["status"] != "confirmed":
            raise Refusal(409, error="only a confirmed booking can be modified; it is %s" % V.status_out(self.v, b["status"]))
        if b["provider"] != "A":
            raise Refusal(422, error="the provider cannot modify a booking", error_code="modify_unsupported")
        ven = BY_ID[b["venue"]]
        new = {}
        if V.get(body, table["datetime"]) is not None:
            new["datetime"] = int(self.time(body, (table["datetime"], None), ven["timezone"], any_form=True))
            if new["datetime"] <= self.now():
                self.refuse_fields({table["datetime"]: "must be in the future"})
        party = self.whole(body, table["party_size"])
        if party is not None:
            new["party_size"] = party
        seating = self.text(body, table["seating"])
        if seating is not None:
            new["seating"] = seating
        if not new:
            self.refuse_fields({p: "at least one of these is required" for p in table.values()})
        if ven.get("refuses_changes") or new.get("party_size", 0) > 12:
            out = {"error": "the venue refused the change", "error_code": "venue_refused_change"}
            V.put(out, self.v["refused_booking"], self.booking_doc(b))
            raise Refusal(422, **out)
        changes = {k: (b.get(k), x) for k, x in new.items() if b.get(k) != x}
        b.update(new)
        b["updated_at"] = self.now()
        b["last_modification"] = {"at": self.now(), "changes": changes}
        self.event("booking.modified", b)
        return self.answer(b)

    def cancel(self, r):
        b = self.find(r.id)
        path = self.v["cancel_request"]["reason"]
        self.known_fields(r.body, "cancel", {path} if path else set())
        reason = self.text(r.body, path, required="reason" in self.v["cancel_required"])
        if b["status"] == "cancelled":
            return self.answer(b)
        if b["status"] != "confirmed":
            raise Refusal(409, error="only a confirmed booking can be cancelled; it is %s" % V.status_out(self.v, b["status"]))
        if b["provider"] != "A":
            b["error_code"], b["error_message"] = "cancellation_unsupported", "The provider cannot cancel; ask the venue."
            b["updated_at"] = self.now()
            return self.answer(b)
        b["cancel_reason"] = reason
        self.move(b, "cancelled")
        return self.answer(b)

    # ---- sessions

    def need_live(self, r):
        if self.o.sessions_need_live and r.key["kind"] != "live":
            raise Refusal(403, error="connecting an account needs a live key", error_code="live_key_required")

    def connect(self, r):
        self.need_live(r)
        body, path = r.body, self.v["connect_request"]["phone"]
        missing = {p: "is required" for p in ("end_user", path) if V.get(body, p) in (None, "")}
        if missing:
            self.refuse_fields(missing)
        person = self.person(body["end_user"], "end_user")
        phone = self.text(body, path)
        if not re.fullmatch(r"\+?[0-9 ()-]{6,20}", phone):
            self.refuse_fields({path: "must be a phone number"})
        provider = self.provider(body.get("provider"), "provider") or "B"
        if provider != "B":
            self.refuse_fields({"provider": "does not support sessions"})
        self.next_id["session"] += self.rng.randrange(1, 9)
        s = {"id": self.next_id["session"], "provider": provider, "state": "pending", "end_user": person, "phone": phone, "created_at": self.now(),
             "code": "%06d" % self.rng.randrange(1000000), "tries": 3}
        self.sessions[s["id"]] = s
        self.send_code(s)
        return 201, self.placed("session", self.session_doc(s))

    def send_code(self, s):
        self.codes.append({"for": "session", "id": V.id_out(self.v, "session", s["id"]), "to": s["phone"], "code": s["code"], "at": int(self.now())})

    def find_session(self, token):
        s = self.sessions.get(V.id_in(self.v, "session", token, in_path=True))
        if not s:
            raise Refusal(404, error="session not found")
        return s

    def verify(self, r):
        self.need_live(r)
        s = self.find_session(r.id)
        code = self.text(r.body, self.v["verify_request"]["code"], required=True)
        if s["state"] != "active":
            if s["tries"] <= 0:
                raise Refusal(409, error="too many wrong codes; connect again", error_code="reconnect_required")
            if code != s["code"]:
                s["tries"] -= 1
                out = {"error": "the code is wrong", "error_code": "invalid_code"}
                if self.v["attempts_left"]:
                    V.put(out, self.v["attempts_left"], s["tries"])
                raise Refusal(400, **out)
            s["state"], s["verified_at"] = "active", self.now()
        return 200, self.placed("session", self.session_doc(s))

    def list_sessions(self, r):
        found = list(self.sessions.values())
        q = r.query
        if q.get("end_user"):
            found = [s for s in found if s["end_user"] == q["end_user"]]
        if q.get("provider"):
            p = self.provider(q["provider"], "query", unknown_ok=True)
            found = [s for s in found if s["provider"] == p]
        if q.get("state"):
            found = [s for s in found if self.v["session_state"].get(s["state"]) == q["state"] or s["state"] == q["state"] == "active"]
        return 200, self.page(r, "sessions", [self.session_doc(s) for s in found])

    def read_session(self, r):
        return 200, self.placed("session", self.session_doc(self.find_session(r.id)))

    def disconnect(self, r):
        s = self.find_session(r.id)
        del self.sessions[s["id"]]
        if self.v["delete_status"] == 204:
            return 204, None
        return 200, {"disconnected": True}

    def card_of(self, s):
        if s["state"] != "active":
            raise Refusal(409, error="the session is not active; connect again", error_code="reconnect_required")
        digits = [c for c in s["phone"] if c.isdigit()]
        doc = {"has_card": int(digits[-1]) % 2 == 0}
        if self.v["resource"]:
            doc = V.resource(self.v, "card", doc, V.id_out(self.v, "session", s["id"]))
        return 200, self.placed("card", doc)

    def card(self, r):
        return self.card_of(self.find_session(r.id))

    def card_by_person(self, r):
        person = r.query.get("end_user")
        if not person:
            self.refuse_fields({"end_user": "is required"})
        provider = self.provider(r.query["provider"], "query", unknown_ok=True) if r.query.get("provider") else "B"
        mine = [s for s in self.sessions.values() if s["end_user"] == person and s["provider"] == provider]
        if not mine:
            raise Refusal(404, error="session not found")
        return self.card_of(max(mine, key=lambda s: (s["state"] == "active", s["id"])))

    def index(self, r):
        out = V.encode(self.v, "index", {"name": "%s booking service" % self.v["service"], "version": "v1", "server_time": self.now(),
                                         "endpoints": [(m, p, s) for m, p, s in ROUTES]}, self.ctx("Atlantic/Reykjavik"))
        return 200, self.placed("index", V.resource(self.v, "index", out, "v1"))

    # ---- from a request to an answer

    PATHS = [
        ("GET", r"/v1/?", "index", None), ("POST", r"/v1/venues/search", "search", "venues"), ("POST", r"/v1/availability/search", "slots", "availability"),
        ("POST", r"/v1/bookings", "create", "create"), ("GET", r"/v1/bookings/([^/]+)", "read", "read"), ("POST", r"/v1/bookings/([^/]+)/continue", "continue_", "continue"),
        ("POST", r"/v1/bookings/([^/]+)/modify", "modify", None), ("POST", r"/v1/bookings/([^/]+)/cancel", "cancel", "cancel"),
        ("POST", r"/v1/sessions", "connect", "sessions"), ("GET", r"/v1/sessions", "list_sessions", None), ("GET", r"/v1/sessions/card", "card_by_person", "card"),
        ("POST", r"/v1/sessions/([^/]+)/verify", "verify", "sessions"), ("GET", r"/v1/sessions/([^/]+)/card", "card", "card"),
        ("GET", r"/v1/sessions/([^/]+)", "read_session", None), ("DELETE", r"/v1/sessions/([^/]+)", "disconnect", None),
    ]

    def key_of(self, r):
        auth = self.v["auth"]
        if auth["in"] == "query":
            given = r.query.pop(auth["name"], None)
        else:
            given = r.headers.get(auth["name"])
            word = auth["scheme"]
            if given and word:
                first, _, given = given.partition(" ")
                given = given if first.lower() == word.lower() else None
            if given and auth["in"] == "basic":
                try:
                    given = base64.b64decode(given).decode().partition(":")[0]
                except Exception:
                    given = None
        key = self.keys.get(given)
        second = auth["second"]
        if not key or (second and r.headers.get(second["name"]) != second["value"]):
            raise Refusal(401, error="unauthorized")
        return key

    def fault(self, r):
        """The trouble that a test asked for at this call, if any."""
        with self.lock:
            for f in self.faults:
                if f["times"] > 0 and f["method"] == r.method and f["path"].fullmatch(r.path):
                    f["times"] -= 1
                    r.fault = f
                    return f

    def handle(self, r):
        with self.lock:
            try:
                r.key = self.key_of(r)
                return self.route(r)
            except Refusal as refusal:
                return refusal.status, refusal.body
            finally:
                if r.key and self.url and self.o.eager:
                    threading.Thread(target=self.tick, daemon=True).start()

    def route(self, r):
        key = r.key
        if key["kind"] == "beta":
            raise Refusal(403, error="a beta key cannot be used on /v1", error_code="wrong_key_environment")
        if key.get("suspended"):
            raise Refusal(403, error="the organization is suspended", error_code="org_suspended", reason=key["suspended"])
        if key.get("billing") is False:
            raise Refusal(402, error="billing_required", message="Set up billing to use a live key.")
        if self.billing_down and key["kind"] == "live":
            raise Refusal(503, error="billing could not be checked; try again shortly", error_code=self.billing_down)
        methods = []
        for method, pattern, name, bucket in self.PATHS:
            m = re.fullmatch(pattern, r.path)
            if not m:
                continue
            if method != r.method:
                methods.append(method)
                continue
            if m.groups():
                r.id = urllib.parse.unquote(m.group(1))
            if name == "create" and "bookings:create" not in key["scopes"]:
                raise Refusal(403, error="insufficient_scope", required_scope="bookings:create")
            self.meter(r, bucket)
            if name in ("search", "slots", "create") and key["kind"] == "test" and self.confirmed_test >= self.o.allowance:
                idem = r.headers.get("Idempotency-Key")
                if not (name == "create" and idem in self.by_key):
                    raise Refusal(402, error="free_tier_exhausted", limit=self.o.allowance, message="The free test bookings are used up.")
            if r.too_large:
                raise Refusal(413, error="the body is larger than 1 MB")
            if method == "POST":
                self.parse(r)
            return getattr(self, name)(r)
        if methods:
            r.headers_out["Allow"] = ", ".join(methods)
            raise Refusal(405, error="method not allowed")
        raise Refusal(404, error="not found")

    def parse(self, r):
        if not r.raw.strip():
            r.body = {}
            return
        try:
            r.body = json.loads(r.raw, parse_constant=self.no_constant)
        except ValueError as e:
            self.wrong_type("", "not valid JSON: %s" % e)
        if not isinstance(r.body, dict):
            self.wrong_type("", "an object was expected")

    def no_constant(self, word):
        raise ValueError("%s is not JSON" % word)

    def meter(self, r, bucket):
        if not bucket or self.o.no_limits:
            return
        now = int(self.now())
        window, left = now // WINDOW, WINDOW - now % WINDOW
        used = self.windows.get((bucket, window), 0)
        limit = LIMITS[bucket]
        r.headers_out.update({"RateLimit-Limit": str(limit), "RateLimit-Remaining": str(max(0, limit - used - 1)), "RateLimit-Reset": str(left)})
        if used >= limit:
            r.headers_out["Retry-After"] = str(left)
            raise Refusal(429, error="rate_limited", message="Too many requests.", limit=limit, retry_after_seconds=left)
        self.windows[(bucket, window)] = used + 1

    # ---- the control surface of the tests

    def control(self, method, path, query, body):
        if (method, path) == ("GET", "/__test__/state"):
            with self.lock:
                for b in self.bookings.values():
                    self.lapse(b)
                return 200, {"variant": self.v["name"], "now": int(self.now()), "confirmed_test": self.confirmed_test,
                             "bookings": [self.true_state(b) for b in self.bookings.values()],
                             "sessions": [dict(s, id=V.id_out(self.v, "session", s["id"])) for s in self.sessions.values()],
                             "events": [{k: d[k] for k in ("event", "kind", "booking", "state", "attempts")} for d in self.deliveries]}
        if (method, path) == ("POST", "/__test__/clock"):
            self.advance(float(body.get("advance_seconds", 0)))
            return 200, {"now": int(self.now())}
        if (method, path) == ("GET", "/__test__/codes"):
            return 200, {"codes": self.codes}
        if (method, path) == ("GET", "/__test__/requests"):
            return 200, {"requests": self.requests}
        if (method, path) == ("GET", "/__test__/keys"):
            return 200, {"keys": {k["name"]: token for token, k in self.keys.items()}, "signing_secret": self.secret}
        if (method, path) == ("GET", "/__test__/venues"):
            return 200, {"venues": [dict(x, venue_id=V.id_out(self.v, "venue", x["venue_id"]), provider=self.v["providers"][x["provider"]]) for x in VENUES]}
        if (method, path) == ("POST", "/__test__/deliver"):
            self.tick()
            return 200, {"events": len(self.deliveries)}
        if (method, path) == ("POST", "/__test__/reset_limits"):
            with self.lock:
                self.windows.clear()
                self.confirmed_test = 0
            return 200, {}
        if (method, path) == ("POST", "/__test__/switch"):
            with self.lock:
                self.vendor_off = bool(body.get("vendor_disabled", self.vendor_off))
                down = body.get("billing_down", self.billing_down)
                self.billing_down = "billing_check_unavailable" if down is True else down or ""
                self.no_search = bool(body.get("no_search_provider", self.no_search))
                if "providers_down" in body:
                    self.search_down = set(body["providers_down"])
                if "webhook_url" in body:
                    self.url = body["webhook_url"]
                if "webhook_secret" in body:
                    self.secret = body["webhook_secret"]
            return 200, {}
        if (method, path) == ("POST", "/__test__/fault"):
            with self.lock:
                self.faults.append({"method": body.get("method", "POST"), "path": re.compile(body.get("path", ".*")), "status": body.get("status", 503),
                                    "act": body.get("act", True), "times": body.get("times", 1), "delay": body.get("delay", 0)})
            return 200, {}
        m = re.fullmatch(r"/__test__/approve/([^/]+)", path)
        if method == "POST" and m:
            b = self.bookings.get(V.id_in(self.v, "booking", urllib.parse.unquote(m.group(1)), in_path=True))
            if not b or not b.get("action") or b["action"]["kind"] != "payment":
                return 404, {"error": "no payment is waited for"}
            a = self.approval(b, query.get("outcome") or body.get("outcome") or "approved")
            return 200, {"psp_response": "%(request_id)s.%(outcome)s.%(approval)s" % a if self.v["psp_response"] == "text" else a,
                         "psp_abort": {"true": True, "text": "customer_left", "object": {"reason": "customer_left"}}[self.v["psp_abort"]]}
        return 404, {"error": "no such control"}

    def true_state(self, b):
        return {"id": V.id_out(self.v, "booking", b["id"]), "status": b["status"], "provider": b["provider"], "venue": BY_ID[b["venue"]]["name"],
                "venue_id": V.id_out(self.v, "venue", b["venue"]), "datetime": b["datetime"],
                "party_size": b["party_size"], "guest": b["guest_name"], "guest_email": b["guest_email"], "guest_phone": b["guest_phone"],
                "seating": b["seating"], "waits_for": (b["action"] or {}).get("kind"), "error_code": b.get("error_code"),
                "end_user": b["end_user"], "idempotency_key": b["idempotency_key"], "details": b.get("details"), "cancel_reason": b.get("cancel_reason"),
                "created_at": int(b["created_at"]), "modified": bool(b.get("last_modification")), "sent": self.booking_doc(b)}


class Request:
    def __init__(self):
        self.key = self.id = None
        self.headers_out, self.body, self.too_large, self.fault = {}, {}, False, None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service = None
    log_lock = threading.Lock()
    log_file = None

    def log_message(self, *a):
        pass

    def serve(self):
        s = self.service
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        length = int(self.headers.get("Content-Length") or 0)
        too_large = length > MAX_BODY
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = self.chunks()
            too_large = len(raw) > MAX_BODY
        elif too_large:
            left, raw = min(length, 64 * MAX_BODY), b""
            while left > 0:                      # read it away, so that the refusal arrives
                got = self.rfile.read(min(left, 65536))
                if not got:
                    break
                left -= len(got)
            self.close_connection = True
        else:
            raw = self.rfile.read(length) if length else b""
        if parts.path.startswith("/__test__/"):
            try:
                body = json.loads(raw) if raw.strip() else {}
                status, answer = s.control(self.command, parts.path, query, body if isinstance(body, dict) else {})
            except ValueError as e:
                status, answer = 400, {"error": str(e)}
            return self.send(status, answer, {})
        r = Request()
        r.method, r.headers, r.query, r.raw, r.too_large = self.command, self.headers, query, raw, too_large
        r.base = "http://%s%s" % (self.headers.get("Host", "127.0.0.1"), s.prefix)
        if parts.path == s.prefix or parts.path.startswith(s.prefix + "/"):
            r.path = parts.path[len(s.prefix):]
            fault = s.fault(r)
            try:
                status, answer = s.handle(r) if not fault or fault["act"] else (0, None)
            except Exception as e:
                import traceback
                traceback.print_exc()
                status, answer = 500, {"error": "internal error: %s" % type(e).__name__}
        else:
            r.path, status, answer = parts.path, 404, {"error": "not found"}
        if r.fault:
            time.sleep(r.fault["delay"])
            if r.fault["status"] == "drop":
                self.note(r, 0, query)
                self.close_connection = True
                return
            if r.fault["status"] != "as it is" or not status:
                status, answer = r.fault["status"], {"error": "a fault that was asked for"}
        self.note(r, status, query)
        self.send(status, answer, r.headers_out)

    def chunks(self):
        out = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
            if not size:
                while self.rfile.readline().strip():
                    pass
                return out
            out += self.rfile.read(size)
            self.rfile.readline()

    def note(self, r, status, query):
        auth = self.service.v["auth"]
        hidden = {"authorization", auth["name"].lower()}
        query = {k: x for k, x in query.items() if not (auth["in"] == "query" and k == auth["name"])}
        try:
            body = json.loads(r.raw) if r.raw else None
        except ValueError:
            body = r.raw.decode("utf-8", "replace")
        line = {"at": round(self.service.now(), 3), "method": r.method, "path": r.path, "query": query,
                "headers": {k: x for k, x in r.headers.items() if k.lower() not in hidden}, "body": body, "status": status, "authorized": bool(r.key)}
        with self.log_lock:
            self.service.requests.append(line)
            if self.log_file:
                self.log_file.write(json.dumps(line) + "\n")
                self.log_file.flush()

    def send(self, status, answer, headers):
        raw = b"" if status == 204 else json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = serve


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def options(argv=None):
    p = argparse.ArgumentParser(description="A booking service that follows the specification, in a chosen variant.")
    p.add_argument("--variant", default="assumed")
    p.add_argument("--list-variants", action="store_true")
    p.add_argument("--describe", metavar="NAME")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--ready-file")
    p.add_argument("--key", default="sk_test_0123456789")
    p.add_argument("--key-kind", choices=("test", "live", "beta"), help="what the given key is; else it is read from its prefix")
    p.add_argument("--webhook-url")
    p.add_argument("--webhook-secret", default="whsec_0123456789")
    p.add_argument("--log")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--allowance", type=int, default=3, help="confirmed test bookings that are free")
    p.add_argument("--know-venues", action="store_true", help="every venue counts as found by a search before")
    p.add_argument("--sessions-need-live", action="store_true", help="connect and verify are refused to test keys")
    p.add_argument("--no-limits", action="store_true", help="no rate limits")
    p.add_argument("--eager", action="store_true", help="deliver events at once and not at the next half minute")
    return p.parse_args(argv)


def start(o):
    """A running server and its base address."""
    service = Service(o)
    log = open(o.log, "a", encoding="utf-8") if o.log else None
    handler = type("BoundHandler", (Handler,), {"service": service, "log_file": log, "log_lock": threading.Lock()})
    server = Server(("127.0.0.1", o.port), handler)
    server.service = service
    base = "http://127.0.0.1:%d%s" % (server.server_address[1], service.prefix)
    threading.Thread(target=service.work, daemon=True).start()
    return server, base


def main():
    o = options()
    if o.list_variants:
        print("\n".join(V.names()))
        return
    if o.describe:
        print(json.dumps(V.describe(o.describe), indent=1, ensure_ascii=False))
        return
    server, base = start(o)
    if o.ready_file:
        with open(o.ready_file + ".part", "w") as f:
            f.write(base)
        os.replace(o.ready_file + ".part", o.ready_file)
    else:
        print(base, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
