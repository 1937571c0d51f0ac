#!/usr/bin/env python3
"""Five booking services, each written from the specification alone by somebody with a style of their own.

What the specification fixes is the same in all of them; the rest (how the key is sent, envelopes, names, forms of times
and money, words of states, shapes of refusals, pages) is the style's.  Standard library only; serves on 127.0.0.1.
"""
import argparse
import base64
import datetime as dt
import hashlib
import hmac
import json
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zoneinfo import ZoneInfo

KEY = "sk_live_stranger_4711"
SECRET = "whsec_stranger"
CODE = "271828"
PORTO = ZoneInfo("Europe/Lisbon")
VENUES = [
    dict(n=1, name="Casa Verde", vertical="dining", provider="alpha", steps=[]),
    dict(n=2, name="Ponte Nova", vertical="dining", provider="alpha", steps=["otp"]),
    dict(n=3, name="Teatro Azul", vertical="entertainment", provider="beta", steps=["payment"]),
    dict(n=4, name="Teimoso", vertical="dining", provider="alpha", steps=[], refuses=True),
    dict(n=5, name="Longe", vertical="dining", provider="beta", steps=[]),
]
STATUSES = ("requires_action", "processing", "confirmed", "failed", "cancelled", "expired")


class Refused(Exception):
    def __init__(self, status, sentence, code=None, fields=(), **more):
        super().__init__(sentence)
        self.status, self.sentence, self.code, self.fields, self.more = status, sentence, code, fields, more


def now():
    return dt.datetime.now(dt.timezone.utc).replace(microsecond=0)


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def dig(body, path):
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


class Style:
    """The specification's own names, and as few fields as it permits: `sparse`."""
    service = "Spare"
    search, slots = ("vertical", "datetime", "location"), dict(venue="venue_id", time="datetime", party="party_size")
    create = dict(venue="venue_id", slot="availability_id", time="datetime", party="party_size")
    otp, code, phone, reason = "otp", "code", "phone", None
    modify = dict(time="datetime", party="party_size")
    waiting, kinds, most = "new", dict(otp="otp", payment="payment_approval"), 100

    def key_of(self, handler):
        return handler.headers.get("Authorization", "").removeprefix("Bearer ")

    def time(self, at):
        return at.astimezone(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def read_time(self, text, path):
        try:
            at = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except (AttributeError, ValueError):
            at = None
        if at is None or at.tzinfo is None:
            raise Refused(400, "validation failed", fields=[(path, "must be an RFC 3339 time with an offset")])
        return at

    def day_and_time(self, body):
        return self.read_time(self.need(body, self.slots["time"]), self.slots["time"])

    def need(self, body, *paths):
        missing = [path for path in paths if dig(body, path) in (None, "")]
        if missing:
            raise Refused(400, "validation failed", fields=[(path, "is required") for path in missing])
        return dig(body, paths[0])

    def ident(self, kind, n):
        return "%s_%d" % (kind, n)

    def index(self):
        return dict(name=self.service, version="v1", server_time=self.time(now()), endpoints=["/v1/bookings"])

    def venue(self, v):
        return dict(venue_id=self.ident("v", v["n"]))

    def slot(self, v, at):
        slot = dict(availability_id=self.slot_id(v, at), datetime=self.time(at))
        if v["vertical"] == "dining":
            slot.update(card_terms="A card is needed.", cancellation_terms="Free until the day before.")
        return slot

    def slot_id(self, v, at):
        return "a%d-%d" % (v["n"], at.timestamp())

    def booking(self, b):
        shown = dict(id=b["id"], object="booking", status=self.status(b["status"]), provider=b["provider"])
        if b.get("error_code"):
            shown["error_code"] = b["error_code"]
        if b["status"] == "requires_action":
            shown["next_action"] = self.action(b)
        if b.get("modified"):
            shown["last_modification"] = self.time(b["modified"])
        return shown

    def status(self, word):
        return word

    def action(self, b):
        return dict(type=self.kinds[b["waits"]])

    def session(self, s):
        return dict(id=s["id"], provider=s["provider"], state=s["state"], end_user=s["end_user"])

    def card(self, has):
        return dict(has_card=has)

    def list(self, kind, items, page, more):
        return {kind: items}

    def one(self, kind, item):
        return item

    def page_of(self, body, query):
        return 1

    def event(self, n, kind, b):
        return dict(id="evt_%d" % n, type=kind, data=dict(object=self.booking(b)))

    def refusal(self, r):
        body = dict(error=r.sentence, **r.more)
        if r.code:
            body["error_code"] = r.code
        if r.fields and r.sentence != "validation failed":
            body.update(field=r.fields[0][0], detail=r.fields[0][1])
        elif r.fields:
            body["fields"] = dict(r.fields)
        return body


class Envelope(Style):
    service = "Mesa"
    slots = dict(venue="place", time="from", party="covers")
    create = dict(Style.create)
    otp, code, phone, reason = "passcode", "pin", "mobile", "reason"
    modify = dict(time="starts", party="covers")
    waiting, kinds, most = "awaiting_code", dict(otp="sms_code", payment="payment_approval"), 2

    def key_of(self, handler):
        return handler.headers.get("X-Mesa-Key", "")

    def time(self, at):
        return at.astimezone(PORTO).strftime("%Y-%m-%dT%H:%M:%S")

    def read_time(self, text, path):
        try:
            return dt.datetime.fromisoformat(text[:19]).replace(tzinfo=PORTO)
        except (TypeError, ValueError):
            raise Refused(400, "validation failed", fields=[(path, "must be a local time, YYYY-MM-DDTHH:MM")])

    def day_and_time(self, body):
        self.need(body, "place", "day", "from", "covers")
        for path, form, text in [("day", "%Y-%m-%d", "YYYY-MM-DD"), ("from", "%H:%M", "HH:MM")]:
            try:
                dt.datetime.strptime(str(body[path]), form)
            except ValueError:
                raise Refused(400, "validation failed", fields=[(path, "must be " + text)])
        return dt.datetime.fromisoformat("%sT%s" % (body["day"], body["from"])).replace(tzinfo=PORTO)

    def venue(self, v):
        return dict(venue_id="mesa-%d" % v["n"], title=v["name"], town="Porto", zone="Europe/Lisbon", partners=[v["provider"]])

    def ident(self, kind, n):
        return "mesa-%d" % n

    def slot(self, v, at):
        slot = dict(ref=self.slot_id(v, at), starts=self.time(at), seats="indoors")
        if v["vertical"] == "dining":
            slot["guarantee"] = dict(text="25.00 EUR are held on a card", amount="25.00", currency="EUR")
            slot["walk_away"] = dict(text="free until noon of the day")
        return slot

    def booking(self, b):
        shown = dict(super().booking(b), object="reservation", covers=b["party"], starts=self.time(b["at"]),
                     place=dict(venue_id="mesa-%d" % b["venue"]["n"], title=b["venue"]["name"]), guest=dict(name=b["guest"]))
        return shown

    def action(self, b):
        if b["waits"] == "payment":
            return dict(kind="payment_approval", expires_at=self.time(now() + dt.timedelta(minutes=10)), psp_request=dict(token="t"))
        return dict(kind="sms_code", prompt="The code was sent to the guest's phone.")

    def list(self, kind, items, page, more):
        if kind == "slots":
            days = {}
            for slot in items:
                days.setdefault(slot["starts"][:10], []).append(slot)
            return self.one(kind, dict(days=days))
        result = dict(hits=items)
        if more:
            result["next_cursor"] = "p%d" % (page + 1)
        return self.one(kind, result)

    def page_of(self, body, query):
        cursor = (body or {}).get("cursor") or query.get("cursor")
        return int(cursor[1:]) if cursor else 1

    def one(self, kind, item):
        return dict(ok=True, result=item, request_id="r-%d" % (id(item) % 9999))

    def event(self, n, kind, b):
        return dict(event_ref="mesa-e%d" % n, topic=kind, data=dict(object=self.booking(b)))

    def refusal(self, r):
        body = dict(ok=False, error=r.sentence, **r.more)
        if r.code:
            body["error_code"] = r.code
        if r.fields:
            body["details"] = ["%s %s" % field for field in r.fields]
        return body


class JsonApi(Style):
    service = "Atlas"
    slots = dict(venue="filter.venue", time="filter.starts_at", party="filter.guests")
    otp, code, phone = "otp_code", "code", "phone_number"
    modify = dict(time="starts_at", party="guests")
    waiting, most = "pending-verification", 2

    def key_of(self, handler):
        return handler.headers.get("Authorization", "").removeprefix("Token ")

    def resource(self, kind, ident, attributes, **links):
        made = dict(type=kind, id=ident, attributes=attributes)
        if links:
            made["relationships"] = {name: dict(data=dict(type=name, id=to)) for name, to in links.items()}
        return made

    def index(self):
        return dict(data=self.resource("api", "partner", super().index()))

    def venue(self, v):
        return self.resource("venues", "v_%d" % v["n"], dict(
            venue_id="v_%d" % v["n"], name=v["name"], time_zone="Europe/Lisbon", provider=v["provider"]))

    def slot(self, v, at):
        attributes = dict(availability_id=self.slot_id(v, at), datetime=self.time(at))
        links = dict(card_terms="ct-1", cancellation_terms="xt-1") if v["vertical"] == "dining" else {}
        return self.resource("slots", self.slot_id(v, at), attributes, **links)

    def booking(self, b):
        attributes = dict(super().booking(b), party_size=b["party"], datetime=self.time(b["at"]))
        attributes.pop("id")
        return self.resource("bookings", b["id"], attributes, venue="v_%d" % b["venue"]["n"])

    def action(self, b):
        if b["waits"] == "payment":
            return dict(type="payment_approval", expires_at=self.time(now() + dt.timedelta(minutes=10)), amount_minor=2500, currency="EUR")
        return dict(type="otp", message="Enter the code that was texted.")

    def session(self, s):
        attributes = super().session(s)
        attributes.pop("id")
        return self.resource("sessions", s["id"], attributes)

    def card(self, has):
        return self.resource("cards", "1", dict(has_card=has))

    def list(self, kind, items, page, more):
        document = dict(data=items, links={})
        if more:
            document["links"]["next"] = "?page=%d" % (page + 1)
        if kind == "slots":
            document["included"] = [
                dict(type="card_terms", id="ct-1", attributes=dict(text="A card is held.", hold_amount_minor=2500, currency="EUR")),
                dict(type="cancellation_terms", id="xt-1", attributes=dict(text="Free until 24 hours before."))]
        return document

    def page_of(self, body, query):
        return int(query.get("page", 1))

    def one(self, kind, item):
        document = dict(data=item)
        if kind == "booking":
            n = int(item["relationships"]["venue"]["data"]["id"][2:])
            item["relationships"]["venue"]["data"]["type"] = "venues"
            document["included"] = [self.venue(VENUES[n - 1])]
        return document

    def event(self, n, kind, b):
        inner = Style.booking(self, b)
        return dict(id="evt_%d" % n, event=kind, data=dict(object=inner))

    def refusal(self, r):
        body = dict(error=r.sentence, **r.more)
        if r.code:
            body["error_code"] = r.code
        errors = [dict(status=str(r.status), source=dict(pointer="/" + path.replace(".", "/")), detail=why) for path, why in r.fields]
        body["errors"] = errors or [dict(status=str(r.status), title=r.sentence, code=r.code or "refused")]
        return body


class Hal(Style):
    service = "Harbor"
    slots = dict(venue="venueId", time="arrival", party="guests")
    create = dict(Style.create)
    otp, code, phone, reason = "answer.value", "code", "msisdn", "cancellationReason"
    modify = dict(time="arrival", party="guests")
    waiting, most = "CODE_SENT", 2

    def key_of(self, handler):
        word, _, value = handler.headers.get("Authorization", "").partition(" ")
        return base64.b64decode(value).decode().split(":")[0] if word == "Basic" else ""

    def time(self, at):
        return at.astimezone(PORTO).strftime("%Y-%m-%dT%H:%M")

    def read_time(self, text, path):
        try:
            return dt.datetime.fromisoformat(text).replace(tzinfo=PORTO) if len(text) < 20 else dt.datetime.fromisoformat(text)
        except (TypeError, ValueError):
            raise Refused(400, "Bad Request", fields=[(path, "expected a date and time")])

    def need(self, body, *paths):
        missing = [path for path in paths if dig(body, path) in (None, "")]
        if missing:
            raise Refused(400, "Bad Request", fields=[(path, "must not be null") for path in missing])
        return dig(body, paths[0])

    def self_link(self, path):
        return dict(_links=dict(self=dict(href="/v1/" + path)))

    def index(self):
        return dict(title="Harbor", version="v1", serverTime=self.time(now()), _links=dict(bookings=dict(href="/v1/bookings")))

    def venue(self, v):
        return dict(self.self_link("venues/%d" % v["n"]), venue_id=v["n"], name=v["name"],
                    location=dict(city="Porto", timeZone="Europe/Lisbon"), provider=v["provider"])

    def ident(self, kind, n):
        return n

    def slot(self, v, at):
        slot = dict(availability_id=self.slot_id(v, at), datetime=self.time(at))
        if v["vertical"] == "dining":
            slot["_embedded"] = dict(terms=dict(cardTerms="A card is held.", cancellationTerms="Free until noon."))
        return slot

    def booking(self, b):
        shown = {camel(name): value for name, value in super().booking(b).items()}
        return dict(self.self_link("bookings/" + b["id"]), **shown, arrival=self.time(b["at"]), guests=b["party"],
                    _embedded=dict(venue=dict(venue_id=b["venue"]["n"], name=b["venue"]["name"])))

    def status(self, word):
        return word.upper()

    def action(self, b):
        if b["waits"] == "payment":
            return dict(type="PAYMENT_APPROVAL", expiresAt=self.time(now() + dt.timedelta(minutes=10)))
        return dict(type="OTP", message="Code sent by SMS")

    def session(self, s):
        return dict(self.self_link("sessions/" + s["id"]), id=s["id"], provider=s["provider"], state=s["state"], endUser=s["end_user"])

    def list(self, kind, items, page, more):
        links = dict(self=dict(href="/v1/x"))
        if more:
            links["next"] = dict(href="?page=%d" % (page + 1))
        return dict(_embedded={kind: items}, _links=links, count=len(items))

    def page_of(self, body, query):
        return int(query.get("page", 1))

    def event(self, n, kind, b):
        return dict(eventId="h-%d" % n, type=kind, data=dict(object=self.booking(b)))

    def refusal(self, r):
        body = dict(error=r.sentence, **r.more)
        if r.code:
            body["error_code"] = r.code
        if r.fields:
            body["violations"] = [dict(path=path, message=why) for path, why in r.fields]
        return body


class Epoch(Style):
    service = "Tick"
    otp, code, phone = "code", "code", "phone"
    waiting, most = "pending", 2

    def key_of(self, handler):
        return handler.query.get("api_key", "")

    def time(self, at):
        return int(at.timestamp())

    def read_time(self, value, path):
        if not isinstance(value, int):
            raise Refused(400, "invalid request body", fields=[(path, "expected unix seconds")])
        return dt.datetime.fromtimestamp(value, dt.timezone.utc)

    def ident(self, kind, n):
        return 100 + n

    def venue(self, v):
        return dict(venue_id=100 + v["n"], name=v["name"], provider=v["provider"])

    def slot(self, v, at):
        slot = dict(availability_id=v["n"] * 10**10 + self.time(at), datetime=self.time(at))
        if v["vertical"] == "dining":
            slot.update(card_terms=dict(amount_minor=2500, currency="EUR"), cancellation_terms=dict(free_until=self.time(at) - 86400))
        return slot

    def booking(self, b):
        return dict(super().booking(b), datetime=self.time(b["at"]), party_size=b["party"])

    def slot_id(self, v, at):
        return v["n"] * 10**10 + self.time(at)

    def list(self, kind, items, page, more):
        return {kind: items, "page": page, "pages": page + bool(more)}

    def page_of(self, body, query):
        return int((body or {}).get("page") or query.get("page", 1))

    def action(self, b):
        if b["waits"] == "payment":
            return dict(type="payment_approval", expires_at=self.time(now() + dt.timedelta(minutes=10)), amount_minor=2500, currency="EUR")
        return dict(type="otp")

    def refusal(self, r):
        body = dict(error=r.sentence, **r.more)
        if r.code:
            body["error_code"] = r.code
        if r.fields:
            body.update(field=r.fields[0][0], detail=r.fields[0][1])
        return body


STYLES = dict(envelope=Envelope, jsonapi=JsonApi, hal=Hal, epoch=Epoch, sparse=Style)


class Service:
    def __init__(self, style):
        self.style, self.lock = STYLES[style](), threading.RLock()
        self.bookings, self.sessions, self.keys, self.cut, self.log = {}, {}, {}, 0, []

    def venue(self, ident):
        found = [v for v in VENUES if str(self.style.ident("v", v["n"])) == str(ident)]
        if not found:
            raise Refused(404, "venue not found")
        return found[0]

    def times(self, around):
        day = around.astimezone(PORTO).replace(hour=19, minute=0, second=0, microsecond=0)
        return [day + dt.timedelta(minutes=30 * step) for step in range(4)]

    def page(self, kind, found, shown, page):
        most = self.style.most
        some = found[most * (page - 1):most * page]
        return self.style.list(kind, [shown(it) for it in some], page, len(found) > most * page)

    def do_search(self, body, query):
        s = self.style
        missing = [name for name in s.search if body.get(name) in (None, "")]
        if missing and not {"latitude", "longitude"} <= set(body):
            raise Refused(400, "missing required fields", missing=missing)
        s.read_time(body["datetime"], "datetime")
        if "porto" not in str(body.get("location", "porto")).lower():
            raise Refused(400, "location could not be resolved; send a more specific one")
        found = [v for v in VENUES if v["vertical"] == body["vertical"]]
        return 200, self.page("venues", found, s.venue, s.page_of(body, query))

    def do_slots(self, body, query):
        s = self.style
        s.need(body, *s.slots.values())
        around = s.day_and_time(body)
        v = self.venue(dig(body, s.slots["venue"]))
        if not isinstance(dig(body, s.slots["party"]), int):
            raise Refused(400, "invalid request body", fields=[(s.slots["party"], "must be a whole number")])
        return 200, s.list("slots", [s.slot(v, at) for at in self.times(around)], 1, False)

    def do_create(self, body, key):
        s = self.style
        if key and key in self.keys:
            return 200, s.one("booking", s.booking(self.keys[key]))
        s.need(body, s.create["venue"], s.create["time"], s.create["party"], "customer.name")
        if isinstance(s, Envelope):
            s.need(body, "customer.mobile")
        v = self.venue(dig(body, s.create["venue"]))
        at = s.read_time(dig(body, s.create["time"]), s.create["time"])
        slot = dig(body, s.create["slot"])
        if at <= now():
            raise Refused(400, "validation failed", fields=[("datetime", "must be in the future")])
        if slot is not None and slot != s.slot_id(v, at) or at not in self.times(at):
            raise Refused(400, "that time was not offered", "slot_not_offered")
        if " " not in body["customer"]["name"]:
            raise Refused(400, "first and last name are needed", "missing_last_name")
        b = dict(id="%s_%d" % (s.service.lower(), len(self.bookings) + 1), venue=v, at=at, party=dig(body, s.create["party"]),
                 guest=body["customer"]["name"], provider=v["provider"], status="confirmed", waits=None, key=key, events=[])
        if v["steps"]:
            b.update(status="requires_action", waits=v["steps"][0])
        self.bookings[b["id"]] = b
        if key:
            self.keys[key] = b
        return 201, s.one("booking", s.booking(b))

    def booked(self, ident):
        if ident not in self.bookings:
            unfinished = [self.style.booking(b) for b in self.bookings.values() if b["status"] == "requires_action"]
            raise Refused(404, "booking not found", open_bookings=unfinished)
        return self.bookings[ident]

    def do_continue(self, b, body):
        s = self.style
        if b["status"] != "requires_action":
            raise Refused(409, "the booking waits for nothing")
        if b["waits"] == "otp":
            code = s.need(body, s.otp)
            if not isinstance(code, str):
                raise Refused(400, "invalid request body", fields=[(s.otp, "must be text")])
            if code != CODE:
                raise Refused(400, "the code is wrong", "invalid_otp")
        elif body.get("psp_abort"):
            b.update(status="failed", error_code="payment_declined", waits=None)
            return 200, s.one("booking", s.booking(b))
        elif b.get("late"):
            b.update(status="failed", error_code="payment_outcome_unknown", waits=None)
            raise Refused(400, "the answer came too late")
        elif not isinstance(body.get("psp_response"), dict):
            raise Refused(400, "validation failed", fields=[("psp_response", "is required")])
        b.update(status="confirmed", waits=None)
        return 200, s.one("booking", s.booking(b))

    def do_modify(self, b, body):
        s = self.style
        if b["status"] != "confirmed":
            raise Refused(409, "only a confirmed booking can be changed")
        if b["provider"] != "alpha":
            raise Refused(422, "this provider cannot modify", "modify_unsupported")
        for name in body:
            if name not in list(s.modify.values()) + ["seating_preference"]:
                raise Refused(400, "unknown field", fields=[(name, "unknown field; known are %s" % ", ".join(s.modify.values()))])
        if b["venue"].get("refuses") or (body.get(s.modify["party"]) or 0) > 8:
            raise Refused(422, "the venue refused", "party_too_large", data=s.one("booking", s.booking(b)))
        if s.modify["time"] in body:
            b["at"] = s.read_time(body[s.modify["time"]], s.modify["time"])
        b.update(party=body.get(s.modify["party"], b["party"]), modified=now())
        return 200, s.one("booking", s.booking(b))

    def do_cancel(self, b, body):
        s = self.style
        if s.reason:
            s.need(body or {}, s.reason)
        if b["provider"] == "alpha":
            b["status"] = "cancelled"
        else:
            b["error_code"] = "cancellation_unsupported"
        return 200, s.one("booking", s.booking(b))

    def do_sessions(self, method, parts, body, query):
        s = self.style
        if method == "POST" and not parts:
            s.need(body, "end_user", s.phone)
            if body.get("provider") != "beta":
                raise Refused(400, "provider must be beta")
            made = dict(id="ses-%d" % (len(self.sessions) + 1), provider="beta", end_user=body["end_user"], state=s.waiting)
            self.sessions[made["id"]] = made
            return 201, s.one("session", s.session(made))
        if method == "GET" and parts == ["card"]:
            return 200, s.one("card", s.card(True))
        if method == "GET" and not parts:
            wanted = lambda it: all(query.get(name, it[name]) == it[name] for name in ("end_user", "provider", "state"))
            found = [it for it in self.sessions.values() if wanted(it)]
            return 200, self.page("sessions", found, s.session, s.page_of(None, query))
        if parts[0] not in self.sessions:
            raise Refused(404, "session not found")
        held = self.sessions[parts[0]]
        if method == "POST" and parts[1:] == ["verify"]:
            if s.need(body, s.code) != CODE:
                raise Refused(400, "the code is wrong", "invalid_code")
            held["state"] = "active" if s.waiting.islower() else "ACTIVE"
        elif method == "GET" and parts[1:] == ["card"]:
            return 200, s.one("card", s.card(held["state"].lower() == "active"))
        elif method == "DELETE":
            del self.sessions[parts[0]]
            return 204, None
        return 200, s.one("session", s.session(held))

    def answer(self, method, path, query, body, key):
        parts = path.strip("/").split("/")[1:]
        match (method, parts):
            case ("GET", [] | [""]):
                return 200, self.style.index()
            case ("POST", ["venues", "search"]):
                return self.do_search(body, query)
            case ("POST", ["availability", "search"]):
                return self.do_slots(body, query)
            case ("POST", ["bookings"]):
                return self.do_create(body, key)
            case ("GET", ["bookings", ident]):
                return 200, self.style.one("booking", self.style.booking(self.booked(ident)))
            case ("POST", ["bookings", ident, "continue" | "modify" | "cancel" as verb]):
                return getattr(self, "do_" + verb)(self.booked(ident), body)
            case (_, ["sessions", *rest]):
                return self.do_sessions(method, rest, body, query)
        raise Refused(404, "no such path")

    def control(self, parts, query):
        """What a test asks: the state, and what only time or a broken line would do."""
        if parts[0] == "state":
            held = [dict(b, at=b["at"].isoformat(), venue=b["venue"]["name"], modified=None) for b in self.bookings.values()]
            return dict(bookings=held, sessions=list(self.sessions.values()), log=self.log)
        if parts[0] == "cut":
            self.cut = 1
        elif parts[0] in ("expire", "late"):
            self.bookings[parts[1]].update(dict(status="expired", waits=None) if parts[0] == "expire" else dict(late=True))
        elif parts[0] == "event":
            b = self.bookings[parts[1]]
            raw = json.dumps(self.style.event(7, "booking.confirmed", b)).encode()
            at = int(now().timestamp())
            signed = hmac.new(SECRET.encode(), b"%d." % at + raw, hashlib.sha256).hexdigest()
            return dict(header="%s-Signature: t=%d,v1=%s" % (self.style.service, at, signed), body=raw.decode())
        return {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    services = None

    def serve(self):
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, style, *rest = path.split("/")
        service = self.services[style]
        with service.lock:
            if rest[:1] == ["control"]:
                return self.send(200, service.control(rest[1:], self.query))
            try:
                body = json.loads(raw) if raw else {}
                service.log.append("%s /%s %s" % (self.command, "/".join(rest), raw.decode()))
                if service.style.key_of(self) != KEY:
                    told = dict(message="send your key in the header X-Mesa-Key") if style == "envelope" else {}
                    raise Refused(401, "unauthorized", **told)
                status, document = service.answer(self.command, "/".join(rest), self.query, body, self.headers.get("Idempotency-Key"))
                if rest == ["v1", "bookings"] and service.cut:
                    service.cut = 0
                    self.close_connection = True
                    return None
            except Refused as refused:
                status, document = refused.status, service.style.refusal(refused)
            except (KeyError, IndexError, AttributeError, TypeError, ValueError) as wrong:
                status, document = 400, dict(error="invalid request body", detail=repr(wrong))
        self.send(status, document)

    do_GET = do_POST = do_DELETE = serve

    def send(self, status, document):
        raw = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status == 401 and self.path.startswith("/hal"):
            self.send_header("WWW-Authenticate", 'Basic realm="harbor"')
        self.send_header("RateLimit-Limit", "600")
        self.send_header("RateLimit-Remaining", "500")
        self.send_header("RateLimit-Reset", "300")
        if raw:
            self.send_header("Content-Length", str(len(raw)))
        elif status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *a):
        pass


def start(port=0):
    Handler.services = {name: Service(name) for name in STYLES}
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    server = start(parser.parse_args().port)
    print("http://127.0.0.1:%d/{%s}" % (server.server_address[1], ",".join(STYLES)), flush=True)
    sys.stdin.read()
