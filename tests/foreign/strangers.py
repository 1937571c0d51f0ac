#!/usr/bin/env python3
"""Five booking services, each built from the public specification alone, as five companies might have built it.

What the specification fixes is the same in all (`Service`); what it leaves open each settles in its own way:
Tavolo wraps every answer in {data, meta}, Gastwerk speaks JSON:API, Fjord HAL, Minutely counts seconds since
1970, and Ohm says as little as it may. `strangers.py NAME PORT` serves one of them; its /_control is no part
of the service: it stands for the dashboard (webhook URL), the guest's phone (codes) and bad luck on the wire.
"""
import base64
import hashlib
import hmac
import json
import math
import re
import secrets
import sys
import threading
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

LIMITS = {"search": 25, "slots": 60, "create": 10, "continue": 20, "read": 300, "cancel": 30, "session": 20, "card": 30}
ROUTES = [  # method, path, operation, limit, scope
    ("GET", "/v1/", "index", None, None),
    ("POST", "/v1/venues/search", "search", "search", "venues:read"),
    ("POST", "/v1/availability/search", "slots", "slots", "venues:read"),
    ("POST", "/v1/bookings", "create", "create", "bookings:create"),
    ("GET", "/v1/bookings/(?P<id>[^/]+)", "show", "read", "bookings:read"),
    ("POST", "/v1/bookings/(?P<id>[^/]+)/continue", "continue_", "continue", "bookings:create"),
    ("POST", "/v1/bookings/(?P<id>[^/]+)/modify", "modify", None, "bookings:create"),
    ("POST", "/v1/bookings/(?P<id>[^/]+)/cancel", "cancel", "cancel", "bookings:create"),
    ("POST", "/v1/sessions", "connect", "session", "sessions"),
    ("GET", "/v1/sessions", "sessions", None, "sessions"),
    ("GET", "/v1/sessions/card", "card_of_person", "card", "sessions"),
    ("POST", "/v1/sessions/(?P<id>[^/]+)/verify", "verify", "session", "sessions"),
    ("GET", "/v1/sessions/(?P<id>[^/]+)/card", "card", "card", "sessions"),
    ("GET", "/v1/sessions/(?P<id>[^/]+)", "session", None, "sessions"),
    ("DELETE", "/v1/sessions/(?P<id>[^/]+)", "disconnect", None, "sessions"),
]


class Refusal(Exception):
    def __init__(self, status, error, code=None, headers=None, **more):
        super().__init__(error)
        self.status, self.headers = status, headers or {}
        self.body = {"error": error, **({"error_code": code} if code else {}), **more}


class Service:
    """What the specification fixes. Records are plain dicts; a subclass reads and writes them its own way."""

    A, B, C = "seatwell", "fitkey", "openplace"  # provider A, provider B and any other
    CITY, ZONE, MONEY = "Lisbon", "Europe/Lisbon", ("EUR", 2500)
    OTP, TEXTED = "135790", "424242"  # what the guest's phone shows for a booking, for a session
    FIRST, SETTLES = "processing", 0  # a new booking's status for so many seconds; 0: it is confirmed at once
    PENDING = "pending"  # a session before its code came
    PAGE = 2
    FIELDS, UNKNOWN_REFUSED = {}, False
    TYPE = "application/json"
    CREATED = 201

    def __init__(self):
        self.zone, self.lock = ZoneInfo(self.ZONE), threading.RLock()
        self.bookings, self.sessions_, self.slots_, self.by_key = {}, {}, {}, {}
        self.requests, self.events, self.spent, self.window = [], [], {}, [300, 0.0]
        self.held, self.drop, self.skew, self.hook, self.secret = None, 0, 0, None, "whsec_" + secrets.token_hex(12)
        every = ["venues:read", "bookings:read", "bookings:create", "sessions"]
        self.keys = {f"{self.PREFIX}_live_{'4f9c2b7a' * 3}": ("live", every), f"{self.PREFIX}_test_{'4f9c2b7a' * 3}": ("test", every),
                     f"{self.PREFIX}_live_{'00aa11bb' * 3}": ("live", every[:2]), f"{self.PREFIX}_v3_{'4f9c2b7a' * 3}": ("beta", every)}
        self.key = next(iter(self.keys))
        rows = [("Casa Alta", "dining", self.A, None), ("Porta Nova", "dining", self.A, "code"), ("Mar e Sal", "dining", self.C, None),
                ("Sempre Cheia", "dining", self.A, "full"), ("Studio Norte", "fitness", self.B, None),
                ("Cinema Ideal", "entertainment", self.C, None), ("Hotel do Rio", "travel", self.C, None)]
        self.venues = {v["id"]: v for v in ({"id": self.venue_id(n, i), "name": n, "vertical": k, "provider": p, "way": w}
                                            for i, (n, k, p, w) in enumerate(rows, 1))}

    # -- what a company settles itself ------------------------------------------------------------------------------
    def venue_id(self, name, number):
        return f"ven_{number}{hashlib.sha256(name.encode()).hexdigest()[:6]}"

    def new_id(self, kind):
        return f"{kind}_{secrets.token_hex(6)}"

    def time(self, moment):
        return moment.astimezone(self.zone).isoformat(timespec="seconds")

    def read_time(self, value):
        if not isinstance(value, str):
            raise ValueError("must be a string in ISO 8601")
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("must carry an offset, such as +01:00")
        return moment

    def invalid(self, why):  # why: {field: sentence}
        return Refusal(400, "validation failed", fields=why)

    def refused(self, refusal):
        return refusal.body

    def caller(self, headers):
        raise NotImplementedError

    def answer(self, kind, thing, page=None):
        raise NotImplementedError

    def check_psp(self, answer):
        if not (isinstance(answer, dict) and isinstance(answer.get("token"), str)):
            raise Refusal(400, "psp_response must be an object with a token")

    def check_continue(self, body, action):
        pass

    # -- reading a body ---------------------------------------------------------------------------------------------
    def parse(self, kind, value):
        if kind == "time":
            return self.read_time(value)
        if kind == "day":
            return datetime.strptime(value, "%Y-%m-%d").date() if isinstance(value, str) else int("x")
        wanted, said = {"int": (int, "a whole number"), "text": (str, "a string"), "object": (dict, "an object"),
                        "list": (list, "a list"), "number": ((int, float), "a number"), "any": (object, "")}[kind]
        if not isinstance(value, wanted) or (kind == "int" and isinstance(value, bool)):
            raise ValueError(f"must be {said}")
        return value

    def take(self, op, body):
        out, missing, fields = {}, [], self.FIELDS[op]
        for wire, (inner, kind, needed) in fields.items():
            if body.get(wire) is None:
                missing += [wire] if needed else []
                continue
            try:
                out[inner] = self.parse(kind, body[wire])
            except (ValueError, TypeError) as why:
                raise Refusal(400, "invalid request body", field=wire, detail=str(why)) from why
        if missing and op == "search":
            raise Refusal(400, "missing required fields", missing=missing)
        if missing:
            raise self.invalid({name: "is required" for name in missing})
        if self.UNKNOWN_REFUSED and set(body) - set(fields):
            raise self.invalid({name: "is not a field of this request" for name in sorted(set(body) - set(fields))})
        return out

    # -- the operations ---------------------------------------------------------------------------------------------
    def now(self):
        return datetime.now(timezone.utc) + timedelta(seconds=self.skew)

    def index(self, _):
        return 200, self.answer("index", {"name": type(self).__name__, "now": self.now()})

    def search(self, req):
        ask = self.take("search", req["body"])
        if ask["vertical"] not in ("dining", "fitness", "entertainment", "travel"):
            raise self.invalid({"vertical": "must be one of dining, fitness, entertainment, travel"})
        if not ask.get("location") and ask.get("latitude") is None:
            raise Refusal(400, "missing required fields", missing=["location"])
        if ask.get("location") == "Atlantis":
            raise Refusal(400, "location could not be resolved; send a more specific location or latitude and longitude")
        found = [v for v in self.venues.values() if v["vertical"] == ask["vertical"] and v["provider"] in ask.get("providers", [v["provider"]])]
        return 200, self.answer("venues", found)

    def day_of(self, ask):
        return datetime(ask["day"].year, ask["day"].month, ask["day"].day, tzinfo=self.zone), timedelta(days=1)

    def slots(self, req):
        ask = self.take("slots", req["body"])
        venue = self.venue(ask["venue"])
        start, span = self.day_of(ask)
        day = start.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        found = []
        for offset in range((span.days or 1) + 1):
            for hour, minute in ((18, 0), (19, 30), (20, 0), (21, 30)):
                at = (day + timedelta(days=offset)).replace(hour=hour, minute=minute)
                if start <= at < start + span and at > self.now():
                    name = "slt_" + hashlib.sha256(f"{venue['id']}{at}{ask.get('party')}".encode()).hexdigest()[:10]
                    self.slots_[name] = {"id": name, "venue": venue, "at": at, "party": ask.get("party"), "card": hour == 20}
                    found.append(self.slots_[name])
        return 200, self.answer("slots", found)

    def venue(self, name):
        if name not in self.venues:
            raise Refusal(404, "venue not found; run venue search first")
        return self.venues[name]

    def create(self, req):
        key = req["headers"].get("Idempotency-Key")
        if key in self.by_key:
            return self.replayed(self.by_key[key])
        ask = self.take("create", req["body"])
        venue, name = self.venue(ask["venue"]), (ask["customer"].get("name") or "").strip()
        provider, slot = ask.get("provider", venue["provider"]), self.slots_.get(ask.get("slot"))
        if not name:
            raise self.invalid({"customer.name": "is required"})
        if name.lower() in ("test", "guest", "john doe", "jane doe", "test user", "test guest"):
            raise Refusal(400, "the guest must be a real person", "placeholder_customer")
        if provider != venue["provider"]:
            raise self.invalid({"provider": f"this venue is booked through {venue['provider']}"})
        if provider == self.A and len(name.split()) < 2:
            raise Refusal(400, "first and last name are needed", "missing_last_name")
        if ask["at"] <= self.now():
            raise self.invalid({"datetime": "must be in the future"})
        if ask["party"] < 1:
            raise self.invalid({"party_size": "must be at least 1"})
        if ask.get("slot") and (not slot or slot["at"] != ask["at"] or slot["venue"] is not venue):
            raise Refusal(400, "the slot was offered at another time", "slot_not_offered")
        paid = ask.get("payment") == "vendor_external"
        if paid and provider != self.A:
            raise Refusal(409, "this venue cannot be paid through the vendor", "vault_unavailable")
        signed = [s for s in self.sessions_.values() if s["end_user"] == ask.get("end_user") and s["state"] == "active"]
        if ask.get("end_user") and not signed:
            raise Refusal(409, "no connected session for this person", "reconnect_required")
        b = {"id": self.new_id("bkg"), "provider": provider, "venue": venue, "at": ask["at"], "party": ask["party"], "name": name,
             "end_user": ask.get("end_user"), "made": self.now(), "settled": self.now() + timedelta(seconds=self.SETTLES), "seating": None,
             "status": self.FIRST if self.SETTLES else "confirmed", "key": key, "kind": req["kind"]}
        self.bookings[b["id"]] = b
        if key:
            self.by_key[key] = b
        self.event("created", b)
        if paid:
            b.update(status="requires_action", action="payment", expires=self.now() + timedelta(minutes=5))
        elif venue["way"] == "code":
            b.update(status="requires_action", action="code", tries=0)
        elif venue["way"] == "full":
            b.update(status="failed", error_code="venue_full", error_message="The venue has no table left.")
        self.event(b["status"], b)
        return self.CREATED, self.answer("booking", b)

    def replayed(self, b):
        return 200, self.answer("booking", self.settle(b))

    def settle(self, b):
        """What time has done to a booking."""
        if b["status"] == self.FIRST and self.now() >= b["settled"]:
            self.become(b, "confirmed")
        if b["status"] == "requires_action" and b.get("expires") and self.now() >= b["expires"]:
            self.become(b, "failed", "payment_approval_expired", "No payment answer came in time.")
        elif b["status"] == "requires_action" and self.now() >= b["made"] + timedelta(minutes=20):
            b.update(status="expired", action=None)
        return b

    def become(self, b, status, code=None, message=None):
        b.update(status=status, error_code=code, error_message=message, action=None, expires=None)
        self.event(status, b)

    def booking(self, name):
        if name not in self.bookings:
            open_ = [b for b in map(self.settle, self.bookings.values()) if b["status"] in ("requires_action", self.FIRST)]
            raise Refusal(404, "booking not found", open_bookings=[self.summary(b) for b in open_])
        return self.settle(self.bookings[name])

    def show(self, req):
        return 200, self.answer("booking", self.booking(req["id"]))

    def continue_(self, req):
        b, body = self.bookings.get(req["id"]) or self.booking(req["id"]), req["body"]
        late = b.get("expires") and self.now() >= b["expires"]
        self.settle(b)
        if late:
            raise Refusal(400, "the payment answer came too late")
        if b["status"] != "requires_action":
            raise Refusal(409, f"the booking is {b['status']}; it waits for nothing")
        if b["action"] == "payment":
            if body.get("psp_abort"):
                self.become(b, "failed", "payment_declined", "The payment was abandoned.")
            elif "psp_response" in body:
                self.check_psp(body["psp_response"])
                self.go_on(b)
            else:
                raise self.invalid({"psp_response": "or psp_abort is required"})
        else:
            self.check_continue(body, b["action"])
            if self.take("continue", body)["code"] != self.OTP:
                return self.wrong_code(b)
            self.go_on(b)
        return 200, self.answer("booking", b)

    def wrong_code(self, b):
        raise Refusal(422, "the code is not the one that was sent", "invalid_code")

    def go_on(self, b):
        b["settled"] = self.now() + timedelta(seconds=self.SETTLES)
        self.become(b, self.FIRST if self.SETTLES else "confirmed")

    def modify(self, req):
        b, ask = self.booking(req["id"]), self.take("modify", req["body"])
        if b["status"] != "confirmed":
            raise Refusal(409, f"only a confirmed booking can be changed; this one is {b['status']}")
        if b["provider"] != self.A:
            raise Refusal(422, "this provider cannot change bookings", "modify_unsupported")
        if not ask:
            return self.nothing_to_change(b)
        at, party = ask.get("at", b["at"]), ask.get("party", b["party"])
        if at <= self.now():
            raise self.invalid({"datetime": "must be in the future"})
        if party > 8 or at.astimezone(self.zone).hour >= 22:
            raise Refusal(422, "the venue refused the change", "no_table", **self.beside_refusal(b))
        b["changed"] = {"at": self.now(), "from": (b["at"], b["party"], b["seating"])}
        b.update(at=at, party=party, seating=ask.get("seating", b["seating"]))
        self.event("modified", b)
        return 200, self.answer("booking", b)

    def nothing_to_change(self, b):
        raise self.invalid({name: "or another field to change is required" for name in list(self.FIELDS["modify"])[:1]})

    def beside_refusal(self, b):
        return {"booking": self.summary(b)}

    def cancel(self, req):
        b = self.booking(req["id"])
        self.take("cancel", req["body"])
        if b["status"] == "cancelled":
            return 200, self.answer("booking", b)
        if b["status"] != "confirmed":
            raise Refusal(409, f"only a confirmed booking can be cancelled; this one is {b['status']}")
        if b["provider"] != self.A:
            return self.cannot_cancel(b)
        self.become(b, "cancelled")
        return 200, self.answer("booking", b)

    def cannot_cancel(self, b):
        b.update(error_code="cancellation_unsupported", error_message="Cancel with the venue itself.")
        return 200, self.answer("booking", b)

    def connect(self, req):
        ask = self.take("connect", req["body"])
        if ask.get("provider", self.B) != self.B:
            raise self.invalid({"provider": f"only {self.B} has personal accounts"})
        s = {"id": self.new_id("ses"), "provider": self.B, "state": self.PENDING, "end_user": ask["end_user"], "phone": ask.get("phone"), "made": self.now()}
        self.sessions_[s["id"]] = s
        return self.CREATED, self.answer("session", s)

    def one_session(self, name):
        if name not in self.sessions_:
            raise Refusal(404, "session not found")
        return self.sessions_[name]

    def verify(self, req):
        s, ask = self.one_session(req["id"]), self.take("verify", req["body"])
        if ask["code"] != self.TEXTED:
            raise Refusal(422, "the code is wrong", "invalid_code")
        s["state"] = "active"
        return 200, self.answer("session", s)

    def sessions(self, req):
        ask = req["query"]
        found = [s for s in self.sessions_.values() if all(s[k] == ask[k] for k in ("end_user", "provider", "state") if k in ask)]
        return 200, self.listed(found, ask, req["path"])

    def listed(self, found, ask, path):
        raise NotImplementedError

    def session(self, req):
        return 200, self.answer("session", self.one_session(req["id"]))

    def disconnect(self, req):
        self.sessions_.pop(self.one_session(req["id"])["id"])
        return 204, None

    def card(self, req):
        s = self.one_session(req["id"])
        if s["state"] != "active":
            raise Refusal(409, "the session is not active", "reconnect_required")
        return 200, self.answer("card", True)

    def card_of_person(self, req):
        ask = req["query"]
        if "end_user" not in ask:
            raise self.invalid({"end_user": "is required"})
        live = any(s["end_user"] == ask["end_user"] and s["state"] == "active" for s in self.sessions_.values())
        if not live:
            raise Refusal(404, "this person has no connected session", "reconnect_required")
        return 200, self.answer("card", True)

    # -- events -----------------------------------------------------------------------------------------------------
    def summary(self, b):
        out = {"id": b["id"], "object": "booking", "status": b["status"], "provider": b["provider"]}
        shown = {"error_code": b.get("error_code"), "error_message": b.get("error_message"), "next_action": b.get("action") and self.action(b),
                 "last_modification": b.get("changed") and self.modification(b)}
        return {**out, **{k: v for k, v in shown.items() if v}}

    def expires(self, b):
        return {"expires_at": self.time(b["expires"])} if b.get("expires") else {}

    def delivery(self, kind, summary):
        raise NotImplementedError

    def event(self, kind, b):
        if kind in ("created", "requires_action", "processing", "confirmed", "failed", "cancelled", "modified"):
            body = json.dumps(self.delivery(f"booking.{kind}", self.summary(b))).encode()
            self.events.append(body)
            if self.hook:
                threading.Thread(target=self.deliver, args=(self.hook, body), daemon=True).start()

    def deliver(self, hook, body):
        for wait in (0, 1, 4, 20, None):  # the worker's half minute, 2 and 10 minutes, thirty times as fast
            t = int(time.time())
            sign = hmac.new(self.secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
            head = {"Content-Type": "application/json", f"{type(self).__name__}-Signature": f"t={t},v1={sign}"}
            try:
                with urllib.request.urlopen(urllib.request.Request(hook, body, head), timeout=10):
                    return
            except OSError:
                if wait is None:
                    return
                time.sleep(wait)

    # -- the wire ---------------------------------------------------------------------------------------------------
    def handle(self, method, target, headers, raw):
        with self.lock:
            parts = urlsplit(target)
            meter = {}
            try:
                kind, scopes = self.keys.get(self.caller(headers) or "", (None, []))
                if not kind:
                    raise Refusal(401, "unauthorized", headers=self.challenge())
                if kind == "beta":
                    raise Refusal(403, "this key is for v3", "wrong_key_environment")
                matches = [(m, r, re.fullmatch(r[1], parts.path)) for m, r in ((r[0], r) for r in ROUTES)]
                here = [(r, hit) for m, r, hit in matches if hit and m == method]
                if not here:
                    raise Refusal(405 if any(hit for *_, hit in matches) else 404, "no such endpoint")
                (_, _, op, limit, scope), hit = here[0]
                if len(raw) > 1 << 20:
                    raise Refusal(413, "body too large")
                if scope and scope not in scopes:
                    raise Refusal(403, "insufficient_scope", required_scope=scope)
                meter = self.metered(limit) if limit else {}
                if kind == "test" and scope == "sessions":
                    raise Refusal(403, "session operations need a live key", "live_key_required")
                used = sum(b["kind"] == "test" and b["status"] == "confirmed" for b in self.bookings.values())
                if kind == "test" and op in ("search", "slots", "create") and used >= 3:
                    raise Refusal(402, "free_tier_exhausted", limit=3, message="The 3 free test bookings are used up.")
                body = json.loads(raw) if raw.strip() else {}
                if not isinstance(body, dict):
                    raise Refusal(400, "invalid request body", field="", detail="must be an object")
                query = {k: v[0] for k, v in parse_qs(parts.query).items()}
                status, answer = getattr(self, op)({**hit.groupdict(), "body": body, "query": query, "headers": headers, "path": parts.path, "kind": kind})
                self.requests.append([method, target, status])
                if op == "create" and self.drop:
                    self.drop -= 1
                    return None
                return status, meter, answer
            except json.JSONDecodeError as why:
                refusal = Refusal(400, "invalid request body", field="", detail=str(why))
            except Refusal as caught:
                refusal = caught
            self.requests.append([method, target, refusal.status])
            return refusal.status, {**meter, **refusal.headers}, self.refused(refusal)

    def challenge(self):
        return {}

    def retry_after(self, seconds):
        return str(seconds)

    def metered(self, limit):
        if self.held == limit:
            self.held, self.window[1] = None, time.time()
        elif not self.held and time.time() >= self.window[1] + self.window[0]:
            self.window[1], self.spent = time.time(), {}
        self.spent[limit] = self.spent.get(limit, 0) + 1
        left, reset = LIMITS[limit] - self.spent[limit], max(1, math.ceil(self.window[1] + self.window[0] - time.time()))
        heads = {"RateLimit-Limit": str(LIMITS[limit]), "RateLimit-Remaining": str(max(left, 0)), "RateLimit-Reset": str(reset)}
        if left < 0:
            raise Refusal(429, "rate_limited", headers={**heads, "Retry-After": self.retry_after(reset)}, message="Too many requests.",
                          limit=LIMITS[limit], retry_after_seconds=reset)
        return heads

    def control(self, method, raw):
        with self.lock:
            ask = json.loads(raw) if raw.strip() else {}
            if ask.get("window"):
                self.window = [ask["window"], time.time()]
            if ask.get("spend"):  # the window begins with the first request that finds it spent, however late that comes
                self.held = ask["spend"]
                self.spent[self.held] = LIMITS[self.held]
            if ask.get("fresh"):
                self.spent = {}
            self.drop, self.skew = ask.get("drop", self.drop), self.skew + ask.get("advance", 0)
            self.hook = ask.get("hook", self.hook)
            shown = [{"id": b["id"], "status": b["status"], "venue": b["venue"]["id"], "at": b["at"].isoformat(), "utc": b["at"].timestamp(), "party": b["party"],
                      "name": b["name"], "key": b["key"], "error_code": b.get("error_code")} for b in map(self.settle, self.bookings.values())]
            return {"key": self.key, "secret": self.secret, "otp": self.OTP, "texted": self.TEXTED, "bookings": shown, "requests": self.requests,
                    "sessions": [{k: s[k] for k in ("id", "state", "end_user")} for s in self.sessions_.values()], "events": [e.decode() for e in self.events],
                    "signature": f"{type(self).__name__}-Signature", "psp": self.PSP, "providers": [self.A, self.B, self.C]}


def page_of(found, ask, name, size, start=0):
    first = int(ask.get(name, start) or start)
    return found[first:first + size], (first + size if first + size < len(found) else None)


class Tavolo(Service):
    """{data, meta} around everything; times with the venue's offset; money in minor units; bookings settle in a second."""

    PREFIX, PENDING, SETTLES, PSP = "tav", "pending_code", 1, {"token": "tok_visa"}
    FIELDS = {
        "search": {"vertical": ("vertical", "text", True), "datetime": ("at", "time", True), "location": ("location", "text", False),
                   "latitude": ("latitude", "number", False), "longitude": ("longitude", "number", False), "providers": ("providers", "list", False)},
        "slots": {"venue_id": ("venue", "text", True), "date": ("day", "day", True), "party_size": ("party", "int", True)},
        "create": {"venue_id": ("venue", "text", True), "datetime": ("at", "time", True), "party_size": ("party", "int", True),
                   "customer": ("customer", "object", True), "provider": ("provider", "text", False), "availability_id": ("slot", "text", False),
                   "end_user": ("end_user", "text", False), "webhook_url": ("hook", "text", False), "payment_collection": ("payment", "text", False)},
        "continue": {"code": ("code", "text", True)},
        "modify": {"datetime": ("at", "time", False), "party_size": ("party", "int", False), "seating": ("seating", "text", False)},
        "cancel": {"reason": ("reason", "text", False)},
        "connect": {"end_user": ("end_user", "text", True), "provider": ("provider", "text", False), "phone": ("phone", "text", True)},
        "verify": {"code": ("code", "text", True)},
    }

    def caller(self, headers):
        return headers.get("X-Api-Key")

    def refused(self, refusal):
        return {"data": None, **refusal.body, "meta": {"request_id": self.new_id("req")}}

    def action(self, b):
        if b["action"] == "code":
            return {"type": "otp", "channel": "sms", "message": "Enter the code that was texted to the guest."}
        return {"type": "payment_approval", "amount": {"amount": self.MONEY[1], "currency": self.MONEY[0]}, "psp_request": {"intent": "pi_" + b["id"]}}

    def modification(self, b):
        at, party, _ = b["changed"]["from"]
        return {"modified_at": self.time(b["changed"]["at"]), "previous": {"datetime": self.time(at), "party_size": party}}

    def answer(self, kind, thing, page=None):
        meta = {"request_id": self.new_id("req"), **(page or {})}
        return {"data": getattr(self, "show_" + kind)(thing), "meta": meta}

    def show_index(self, i):
        return {"name": i["name"], "version": "v1", "server_time": self.time(i["now"]), "endpoints": [f"{r[0]} {r[1]}" for r in ROUTES[1:4]]}

    def show_venues(self, found):
        return [{"venue_id": v["id"], "name": v["name"], "vertical": v["vertical"], "provider": v["provider"],
                 "address": {"city": self.CITY}, "timezone": self.ZONE} for v in found]

    def show_slots(self, found):
        money = {"amount": self.MONEY[1], "currency": self.MONEY[0]}
        dining = lambda s: {"card_terms": {"required": s["card"], "hold_per_person": money if s["card"] else None},
                            "cancellation_terms": {"free_until": self.time(s["at"] - timedelta(hours=24)), "fee": money}}
        return [{"availability_id": s["id"], "datetime": self.time(s["at"]), **(dining(s) if s["venue"]["vertical"] == "dining" else {})} for s in found]

    def show_booking(self, b):
        return {**self.summary(b), "venue": {"venue_id": b["venue"]["id"], "name": b["venue"]["name"]}, "datetime": self.time(b["at"]),
                "party_size": b["party"], "customer": {"name": b["name"]}, "created_at": self.time(b["made"]), **self.expires(b)}

    def show_session(self, s):
        return {"id": s["id"], "provider": s["provider"], "state": s["state"], "end_user": s["end_user"], "created_at": self.time(s["made"])}

    def show_card(self, has):
        return {"has_card": has}

    def listed(self, found, ask, path):
        part, following = page_of(found, ask, "cursor", self.PAGE)
        meta = {"total": len(found), "next_cursor": following and str(following)}
        return {"data": [self.show_session(s) for s in part], "meta": meta}

    def delivery(self, kind, summary):
        return {"id": self.new_id("evt"), "type": kind, "created_at": self.time(self.now()), "data": {"object": summary}}


class Gastwerk(Service):
    """JSON:API: resources with attributes and relationships, errors with pointers; UTC; money as decimal text."""

    PREFIX, PENDING, TYPE, PSP = "gw", "awaiting_verification", "application/vnd.api+json", {"id": "psp_1", "result": "approved"}
    CITY, ZONE, MONEY = "Berlin", "Europe/Berlin", ("EUR", "25.00")
    A, B, C = "tischlein", "turnhalle", "kassenhaus"
    UNKNOWN_REFUSED = True
    FIELDS = {
        **Tavolo.FIELDS,
        "slots": {"venue_id": ("venue", "text", True), "starts_after": ("from", "time", True), "starts_before": ("to", "time", True), "party_size": ("party", "int", False)},
        "continue": {"otp": ("code", "text", True)},
        "modify": {"datetime": ("at", "time", False), "party_size": ("party", "int", False), "seating_preference": ("seating", "text", False)},
        "cancel": {},
        "connect": {"end_user": ("end_user", "text", True), "provider": ("provider", "text", True), "phone_number": ("phone", "text", True)},
        "verify": {"verification_code": ("code", "text", True)},
    }

    def venue_id(self, name, number):
        return str(4100 + number)

    def new_id(self, kind):
        return "-".join(secrets.token_hex(n) for n in (4, 2, 2, 6))

    def time(self, moment):
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def day_of(self, ask):
        if ask["to"] <= ask["from"]:
            raise self.invalid({"starts_before": "must be later than starts_after"})
        return ask["from"], min(ask["to"] - ask["from"], timedelta(days=7))

    def caller(self, headers):
        word, _, key = headers.get("Authorization", "").partition(" ")
        return key if word.lower() == "bearer" else None

    def challenge(self):
        return {"WWW-Authenticate": "Bearer"}

    def invalid(self, why):
        return Refusal(400, "validation failed", errors=[{"status": "400", "title": "Invalid attribute", "detail": f"{name} {text}",
                                                         "source": {"pointer": "/" + name.replace(".", "/")}} for name, text in why.items()])

    def refused(self, refusal):
        body = dict(refusal.body)
        first = {"status": str(refusal.status), "title": body["error"], **({"code": body["error_code"]} if "error_code" in body else {})}
        return {"errors": body.pop("errors", [first]), **body}

    def action(self, b):
        if b["action"] == "code":
            return {"kind": "one_time_password", "sentTo": "+49 *** 89"}
        return {"kind": "vendor_payment", "price": {"value": self.MONEY[1], "currency": self.MONEY[0]}, "vendorSession": "vs-" + b["id"][:8]}

    def check_psp(self, answer):
        if not (isinstance(answer, dict) and answer.get("id") and answer.get("result")):
            raise Refusal(400, "psp_response must be the vendor's answer with id and result")

    def modification(self, b):
        return {"changedAt": self.time(b["changed"]["at"]), "datetime": self.time(b["at"]), "partySize": b["party"]}

    def resource(self, kind, thing):
        if kind == "booking":
            attributes = {k: v for k, v in self.summary(thing).items() if k != "id"}
            attributes |= {"datetime": self.time(thing["at"]), "party_size": thing["party"], "guestName": thing["name"], **self.expires(thing)}
            return {"type": "bookings", "id": thing["id"], "attributes": attributes, "links": {"self": f"/v1/bookings/{thing['id']}"},
                    "relationships": {"venue": {"data": {"type": "venues", "id": thing["venue"]["id"]}}}}
        if kind == "venue":
            return {"type": "venues", "id": thing["id"], "attributes": {"venue_id": thing["id"], "title": thing["name"], "vertical": thing["vertical"],
                                                                        "provider": thing["provider"], "city": self.CITY}}
        if kind == "slot":
            price = {"value": self.MONEY[1], "currency": self.MONEY[0]}
            terms = {"cardTerms": {"kind": "guarantee", "perGuest": price} if thing["card"] else {"kind": "none"},
                     "cancellationTerms": {"deadline": self.time(thing["at"] - timedelta(hours=6)), "charge": price}}
            return {"type": "slots", "id": thing["id"], "attributes": {"availability_id": thing["id"], "datetime": self.time(thing["at"]),
                                                                       **(terms if thing["venue"]["vertical"] == "dining" else {})}}
        return {"type": "sessions", "id": thing["id"], "attributes": {k: thing[k] for k in ("provider", "state", "end_user")}}

    def answer(self, kind, thing, page=None):
        if kind == "index":
            return {"jsonapi": {"version": "1.1"}, "meta": {"name": thing["name"], "version": "v1", "time": self.time(thing["now"])},
                    "links": {"bookings": "/v1/bookings", "venues": "/v1/venues/search", "sessions": "/v1/sessions"}}
        if kind == "card":
            return {"data": {"type": "card-checks", "id": self.new_id("c"), "attributes": {"has_card": thing}}}
        if isinstance(thing, list):
            return {"data": [self.resource(kind[:-1], t) for t in thing], "meta": {"total": len(thing)}}
        return {"data": self.resource(kind, thing)}

    def listed(self, found, ask, path):
        part, following = page_of(found, {k: v for k, v in ask.items()}, "page[offset]", self.PAGE)
        return {"data": [self.resource("session", s) for s in part], "links": {"next": following and f"{path}?page%5Boffset%5D={following}"}}

    def cannot_cancel(self, b):
        raise Refusal(422, "this provider's bookings are cancelled at the venue", "cancellation_unsupported")

    def beside_refusal(self, b):
        return {"data": self.resource("booking", b)}

    def delivery(self, kind, summary):
        return {"event_id": self.new_id("e"), "event": kind, "occurredAt": self.time(self.now()), "data": {"object": summary}}


class Fjord(Service):
    """HAL: links and embedded things beside flat fields; the venue's local time without an offset; a state the specification does not name."""

    PREFIX, PENDING, TYPE, PSP = "fj", "unconfirmed", "application/hal+json", "approved:8842"
    CITY, ZONE = "Oslo", "Europe/Oslo"
    A, B, C = "bordet", "treningen", "billetten"
    FIRST, SETTLES = "accepted", 1
    FIELDS = {
        **Tavolo.FIELDS,
        "search": {**Tavolo.FIELDS["search"], "provider": ("providers", "list", False)},
        "slots": {"venue_id": ("venue", "text", True), "day": ("day", "day", True), "guests": ("party", "int", True)},
        "continue": {"action": ("action", "text", True), "otp": ("code", "text", True)},
        "modify": {"new_datetime": ("at", "time", False), "new_party_size": ("party", "int", False), "new_seating": ("seating", "text", False)},
        "connect": {"end_user": ("end_user", "text", True), "provider": ("provider", "text", False), "mobile": ("phone", "text", True)},
        "verify": {"pin": ("code", "text", True)},
    }

    def new_id(self, kind):
        return {"bkg": "B", "ses": "S", "evt": "E"}.get(kind, "X") + "".join(secrets.choice("ABCDEFGHJKMNPQRSTVWXYZ23456789") for _ in range(8))

    def time(self, moment):
        return moment.astimezone(self.zone).strftime("%Y-%m-%dT%H:%M")

    def read_time(self, value):
        if not isinstance(value, str):
            raise ValueError("must be a string such as 2026-12-01T19:30")
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=self.zone)

    def caller(self, headers):
        word, _, rest = headers.get("Authorization", "").partition(" ")
        try:
            return base64.b64decode(rest).decode().split(":")[0] if word.lower() == "basic" else None
        except ValueError:
            return None

    def challenge(self):
        return {"WWW-Authenticate": 'Basic realm="Fjord", charset="UTF-8"'}

    def retry_after(self, seconds):
        return formatdate(time.time() + seconds, usegmt=True)

    def invalid(self, why):
        return Refusal(400, "validation failed", violations=[{"property": name, "message": text} for name, text in why.items()])

    def refused(self, refusal):
        return {**refusal.body, "_links": {"help": {"href": "/v1/"}}}

    def action(self, b):
        if b["action"] == "code":
            return {"name": "submit_otp", "title": "Enter the code from the text message", "href": f"/v1/bookings/{b['id']}/continue",
                    "properties": [{"name": "action", "value": "submit_otp"}, {"name": "otp", "required": True}]}
        return {"name": "approve_payment", "title": "Pay NOK 250.00", "href": f"/v1/bookings/{b['id']}/continue", "reference": "F-" + b["id"]}

    def check_continue(self, body, action):
        if body.get("action") not in (None, "submit_otp"):
            raise self.invalid({"action": "must be submit_otp"})

    def check_psp(self, answer):
        if not (isinstance(answer, str) and answer.startswith("approved:")):
            raise Refusal(400, "psp_response is not the text that the vendor returned")

    def wrong_code(self, b):
        b["tries"] += 1
        if b["tries"] >= 3:
            self.become(b, "failed", "too_many_codes", "Three wrong codes.")
            return 200, self.answer("booking", b)
        raise Refusal(400, "wrong code", "otp_mismatch", attempts_left=3 - b["tries"])

    def modification(self, b):
        return {"accepted": self.time(b["changed"]["at"]), "was": {"datetime": self.time(b["changed"]["from"][0]), "party_size": b["changed"]["from"][1]}}

    def show_booking(self, b):
        here = f"/v1/bookings/{b['id']}"
        links = {"self": {"href": here}, **({"cancel": {"href": here + "/cancel"}} if b["status"] == "confirmed" else {})}
        return {**self.summary(b), "datetime": self.time(b["at"]), "timezone": self.ZONE, "party_size": b["party"], **self.expires(b), "_links": links,
                "_embedded": {"venue": {"venue_id": b["venue"]["id"], "name": b["venue"]["name"]}, "customer": {"name": b["name"]}}}

    def show_venue(self, v):
        return {"venue_id": v["id"], "name": v["name"], "provider": v["provider"], "place": self.CITY, "_links": {"self": {"href": f"/v1/venues/{v['id']}"}}}

    def show_slot(self, s):
        terms = {"card_terms": "NOK 250.00 per guest held on a card" if s["card"] else "no card", "cancellation_terms": "free until the day before, then NOK 250.00"}
        return {"availability_id": s["id"], "datetime": self.time(s["at"]), **(terms if s["venue"]["vertical"] == "dining" else {})}

    def show_session(self, s):
        return {**{k: s[k] for k in ("id", "provider", "state", "end_user")}, "_links": {"self": {"href": f"/v1/sessions/{s['id']}"}}}

    def answer(self, kind, thing, page=None):
        if kind == "index":
            return {"name": thing["name"], "version": "1.4", "time": self.time(thing["now"]), "_links": {"self": {"href": "/v1/"}, "bookings": {"href": "/v1/bookings"}}}
        if kind == "card":
            return {"has_card": thing, "_links": {}}
        if isinstance(thing, list):
            return {"count": len(thing), "_embedded": {kind: [getattr(self, "show_" + kind[:-1])(t) for t in thing]}, "_links": {}}
        return getattr(self, "show_" + kind)(thing)

    def listed(self, found, ask, path):
        page = int(ask.get("page", 1))
        part = found[(page - 1) * self.PAGE:page * self.PAGE]
        links = {"self": {"href": path}, **({"next": {"href": f"{path}?page={page + 1}"}} if page * self.PAGE < len(found) else {})}
        return {"page": page, "total": len(found), "_embedded": {"sessions": [self.show_session(s) for s in part]}, "_links": links}

    def cannot_cancel(self, b):
        raise Refusal(422, "cancel at the venue", "cancellation_unsupported", **self.beside_refusal(b))

    def delivery(self, kind, summary):
        return {"eventId": self.new_id("evt"), "eventType": kind, "data": {"object": summary}}


class Minutely(Service):
    """Every time is a whole number of seconds since 1970, asked and answered; a cancellation wants a reason."""

    PREFIX, PENDING, SETTLES, PSP = "mn", "code_sent", 1, {"approval_code": "A-99"}
    CITY, ZONE, MONEY = "London", "Europe/London", ("GBP", 2000)
    A, B, C = "tablemate", "gymmate", "ticketmate"
    CREATED = 200
    FIELDS = {
        **Tavolo.FIELDS,
        "slots": {"venue_id": ("venue", "text", True), "from": ("from", "time", True), "to": ("to", "time", True), "party_size": ("party", "int", True)},
        "continue": {"verification_code": ("code", "text", True)},
        "modify": {"datetime": ("at", "time", False), "party_size": ("party", "int", False), "seating_preference": ("seating", "text", False)},
        "cancel": {"reason": ("reason", "text", True)},
        "connect": {"end_user": ("end_user", "text", True), "provider": ("provider", "text", False), "msisdn": ("phone", "text", True)},
        "verify": {"verification_code": ("code", "text", True)},
    }

    def venue_id(self, name, number):
        return f"{self.A[:2]}-{number}"

    def time(self, moment):
        return int(moment.timestamp())

    def read_time(self, value):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("must be a whole number of seconds since 1970")
        return datetime.fromtimestamp(value, timezone.utc)

    def day_of(self, ask):
        return ask["from"].astimezone(self.zone), min(max(ask["to"] - ask["from"], timedelta(0)), timedelta(days=7))

    def caller(self, headers):
        return headers.get("Api-Key")

    def invalid(self, why):
        return Refusal(400, "validation failed: " + "; ".join(f"{name} {text}" for name, text in why.items()))

    def action(self, b):
        if b["action"] == "code":
            return {"code": "VERIFY_PHONE", "digits": 6, "sent_at": self.time(b["made"])}
        return {"code": "PAY", "amount_minor": self.MONEY[1], "currency": self.MONEY[0], "expires_at": self.time(b["expires"])}

    def check_psp(self, answer):
        if not (isinstance(answer, dict) and answer.get("approval_code")):
            raise Refusal(400, "psp_response: approval_code is required")

    def modification(self, b):
        return {"at": self.time(b["changed"]["at"]), "old_datetime": self.time(b["changed"]["from"][0]), "old_party_size": b["changed"]["from"][1]}

    def show_booking(self, b):
        return {**self.summary(b), "venue_id": b["venue"]["id"], "datetime": self.time(b["at"]), "party_size": b["party"], "customer_name": b["name"],
                "created": self.time(b["made"]), **self.expires(b)}

    def show_venue(self, v):
        return {"venue_id": v["id"], "label": v["name"], "provider": v["provider"], "vertical": v["vertical"]}

    def show_slot(self, s):
        terms = {"card_terms": {"hold_minor": self.MONEY[1] if s["card"] else 0, "currency": self.MONEY[0]},
                 "cancellation_terms": {"free_before": self.time(s["at"] - timedelta(hours=12)), "fee_minor": self.MONEY[1]}}
        return {"availability_id": s["id"], "datetime": self.time(s["at"]), **(terms if s["venue"]["vertical"] == "dining" else {})}

    def show_session(self, s):
        return {**{k: s[k] for k in ("id", "provider", "state", "end_user")}, "created": self.time(s["made"])}

    def answer(self, kind, thing, page=None):
        if kind == "index":
            return {"api": thing["name"], "version": 1, "server_time": self.time(thing["now"]), "partner_endpoints": [r[1] for r in ROUTES if "(" not in r[1]]}
        if kind == "card":
            return {"has_card": thing}
        if isinstance(thing, list):
            return {{"slots": "availability"}.get(kind, kind): [getattr(self, "show_" + kind[:-1])(t) for t in thing]}
        return {kind: getattr(self, "show_" + kind)(thing)}

    def listed(self, found, ask, path):
        part, following = page_of(found, ask, "offset", self.PAGE)
        return {"sessions": [self.show_session(s) for s in part], "has_more": following is not None, "next_offset": following}

    def delivery(self, kind, summary):
        return {"event_id": self.new_id("evt"), "kind": kind, "created": self.time(self.now()), "data": {"object": summary}}


class Ohm(Service):
    """As little as the specification allows: bare lists, no venue, time or guest in a booking, fields it does not know ignored without a word."""

    PREFIX, PENDING, PSP = "ohm", "new", {"ok": True}
    CITY, ZONE = "Zurich", "Europe/Zurich"
    A, B, C = "ta", "fi", "xx"
    FIELDS = {
        **Tavolo.FIELDS,
        "slots": {"venue_id": ("venue", "text", True), "date": ("day", "day", True), "covers": ("party", "int", False)},
        "continue": {"otp_code": ("code", "text", True)},
        "modify": {"datetime": ("at", "time", False), "covers": ("party", "int", False), "seating": ("seating", "text", False)},
        "connect": {"end_user": ("end_user", "text", True), "provider": ("provider", "text", False), "phone": ("phone", "text", False)},
    }
    CREATED = 200

    def venue_id(self, name, number):
        return hashlib.sha256(name.encode()).hexdigest()[:16]

    def new_id(self, kind):
        return secrets.token_hex(8)

    def time(self, moment):
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def caller(self, headers):
        return headers.get("X-Auth-Token")

    def invalid(self, why):
        return Refusal(400, "validation failed", fields=list(why))

    def action(self, b):
        return "otp" if b["action"] == "code" else "payment"

    def check_psp(self, answer):
        if not isinstance(answer, dict) or not answer:
            raise Refusal(400, "malformed psp_response")

    def nothing_to_change(self, b):
        return 200, self.answer("booking", b)

    def modification(self, b):
        return self.time(b["changed"]["at"])

    def answer(self, kind, thing, page=None):
        shown = {"index": lambda i: {"name": "ohm", "version": "1", "time": self.time(i["now"]), "endpoints": []},
                 "venues": lambda found: [{"venue_id": v["id"]} for v in found],
                 "slots": lambda found: [{"availability_id": s["id"], "datetime": self.time(s["at"]), **(
                     {"card_terms": s["card"], "cancellation_terms": None} if s["venue"]["vertical"] == "dining" else {})} for s in found],
                 "booking": lambda b: {**self.summary(b), **self.expires(b)},
                 "session": lambda s: {"id": s["id"], "state": s["state"]}, "card": lambda has: {"has_card": has}}
        return shown[kind](thing)

    def listed(self, found, ask, path):
        return [{k: s[k] for k in ("id", "provider", "state", "end_user")} for s in found]

    def delivery(self, kind, summary):
        return {"id": self.new_id("evt"), "event": kind, "data": {"object": summary}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/_control":
            answered = (200, {}, self.server.service.control(self.command, raw))
        else:
            answered = self.server.service.handle(self.command, self.path, self.headers, raw)
        if answered is None:  # bad luck on the wire: the booking is made, the answer is lost
            self.close_connection = True
            return
        status, headers, body = answered
        out = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**({"Content-Type": self.server.service.TYPE} if out else {}), "Content-Length": str(len(out)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(out)

    do_GET = do_POST = do_DELETE = serve

    def log_message(self, *_):
        pass


COMPANIES = {c.__name__.lower(): c for c in (Tavolo, Gastwerk, Fjord, Minutely, Ohm)}


def start(name, port=0):
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.service, server.daemon_threads = COMPANIES[name](), True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    up = start(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"http://127.0.0.1:{up.server_address[1]} {up.service.key}", flush=True)
    threading.Event().wait()
