#!/usr/bin/env python3
"""Walks the life cycle at every variant through a naive client that knows nothing but the tables of the variant.

Prints which of the 86 open points each variant changes, and ends with 1 when a check fails, a point is changed by no
variant, or a point was never looked at on the wire.
"""
import base64
import hashlib
import hmac
import http.server
import json
import re
import sys
import threading
import traceback
import urllib.error
import urllib.parse
import urllib.request

import service as S
import variants as V

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
POINTS = list(range(1, 87))


class Receiver(http.server.BaseHTTPRequestHandler):
    got, answers = None, None

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.answers.pop(0) if self.answers else 200
        self.got.append((dict(self.headers.items()), raw, status))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *a):
        pass


class Client:
    """Speaks to one variant by its tables."""

    def __init__(self, base, variant, key):
        self.base, self.v, self.key = base, variant, key
        self.root = base[:len(base) - len(variant["prefix"].strip("/")) - 1]

    def call(self, method, path, body=None, headers=None, raw=None, key=None, plain=False, url=None):
        auth, key = self.v["auth"], key or self.key
        h = dict(headers or {})
        url = url or self.base + path
        if not plain:
            if auth["in"] == "query":
                url += ("&" if "?" in url else "?") + urllib.parse.urlencode({auth["name"]: key})
            elif auth["in"] == "basic":
                h[auth["name"]] = "Basic " + base64.b64encode((key + ":").encode()).decode()
            else:
                h[auth["name"]] = (auth["scheme"] + " " if auth["scheme"] else "") + key
            if auth["second"]:
                h[auth["second"]["name"]] = auth["second"]["value"]
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if data is not None:
            h["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data=data, headers=h, method=method)
        try:
            with OPENER.open(request, timeout=20) as a:
                status, text, self.headers = a.status, a.read(), a.headers
        except urllib.error.HTTPError as e:
            status, text, self.headers = e.code, e.read(), e.headers
        return status, json.loads(text) if text else None

    def control(self, method, path, body=None):
        status, answer = self.call(method, "", body, plain=True, url=self.root + "/__test__/" + path)
        assert status == 200, (path, status, answer)
        return answer

    def undo(self, doc):
        """A document of {type, id, attributes} as a flat one."""
        return dict(doc["attributes"], id=doc["id"]) if self.v["resource"] else doc

    def placed(self, kind, answer):
        found = V.get(answer, self.v["answers"][kind])
        assert found is not None, "%s: nothing at %r in %s" % (kind, self.v["answers"][kind], answer)
        return [self.undo(x) for x in found] if isinstance(found, list) else self.undo(found)

    def field(self, table, doc, name):
        """What stands at the first place of a field."""
        t = V.targets(self.v[table][name])
        return V.get(doc, t[0][0]) if t else None

    def fill(self, body, target, value):
        for path, form in V.targets(target):
            V.put(body, path, value)

    def when(self, body, target, t, tz):
        for path, form in V.targets(target):
            V.put(body, path, V.time_out(form, t, tz))

    def status(self, doc):
        return V.status_read(self.v, doc["status"])


class Walk:
    def __init__(self, name):
        self.name, self.v = name, V.load(name)
        self.looked, self.wrong = set(), []
        self.received, self.answers = [], []

    def ok(self, points, truth, what=""):
        points = points if isinstance(points, (list, tuple)) else [points]
        if truth:
            self.looked.update(points)
        else:
            self.wrong.append("%s: %s %s" % (self.name, points, what))

    def run(self):
        handler = type("R", (Receiver,), {"got": self.received, "answers": self.answers})
        hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        o = S.options(["--variant", self.name, "--key", "sk_test_selftest", "--webhook-url", "http://127.0.0.1:%d/hook" % hook.server_address[1]])
        server, base = S.start(o)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.walk(Client(base, self.v, "sk_test_selftest"))
        except Exception:
            self.wrong.append("%s: %s" % (self.name, traceback.format_exc()))
        server.service.stop = True
        server.shutdown()
        hook.shutdown()

    # ---- small helpers

    def search(self, c, vertical, location, more=None, providers=None, pages=True):
        """All venues, page by page."""
        now = c.control("GET", "state")["now"]
        body = dict({"vertical": vertical, "datetime": V.time_out("t:utc", now + 86400, "UTC"), "location": location}, **(more or {}))
        if providers:
            path, form = V.targets(self.v["search_request"]["providers"])[0]
            V.put(body, path, ",".join(map(str, providers)) if form == "csv" else [{"id": p} for p in providers] if form == "objects" else providers)
        found, url, first = [], None, None
        paging = self.v["paging"]["venues"]
        for _ in range(20):
            status, answer = c.call("POST", "/v1/venues/search", body, url=url)
            assert status == 200, (status, answer)
            first = first or answer
            page = c.placed("venues", answer)
            found += page
            if not paging or not pages:
                break
            self.ok(12, len(page) <= paging["size"], "page size")
            self.ok(77, True)
            target = paging["response"]["next"]
            nxt = None
            if target == "header:Link":
                m = re.search(r'<([^>]+)>; rel="next"', c.headers.get("Link") or "")
                nxt = m.group(1) if m else None
            else:
                nxt = V.get(answer, target)
            if not nxt:
                break
            self.ok(14, True)
            if isinstance(nxt, str) and nxt.startswith("http"):
                url = nxt
            else:
                V.put(body, paging["request"]["cursor"], nxt)
        return found, first

    def day(self, c, ven, t):
        """The slots of a venue on a day."""
        body, table, tz = {}, self.v["slots_request"], ven["tz"]
        c.fill(body, table["venue"], ven["venue_id"])
        if table["datetime"]:
            c.when(body, table["datetime"], t, tz)
        else:
            c.when(body, table["window_from"], t, tz)
            c.when(body, table["window_to"], t + 86400, tz)
        if table["party_size"]:
            c.fill(body, table["party_size"], 2)
        if table["provider"] and "provider" in self.v["slots_required"]:
            c.fill(body, table["provider"], ven["provider"])
        if table["further"]:
            c.fill(body, table["further"], self.v["slots_further"][0])
        return body

    def book(self, c, ven, key=None, person=None, pay=False, name="Ada Stone", slot=True, at=None, more=None):
        now = c.control("GET", "state")["now"]
        table = self.v["create_request"]
        body = {"venue_id": ven["venue_id"], "party_size": 2, "customer": {"name": name}}
        c.fill(body, table["email"], "ada@stone.example")
        c.fill(body, table["phone"], "+15550104477")
        c.fill(body, table["seating"], "terrace")
        if slot:
            status, answer = c.call("POST", "/v1/availability/search", self.day(c, ven, now + 2 * 86400))
            assert status == 200, (status, answer)
            s = c.placed("slots", answer)[3]
            body["availability_id"], body["datetime"] = s["availability_id"], s["datetime"]
        else:
            c.when(body, table["datetime_form"], (at or (now + 3 * 86400)) // 1800 * 1800, ven["tz"])
        if "terms" in self.v["create_required"]:
            c.fill(body, table["further"], True)
        if "source" in self.v["create_required"]:
            c.fill(body, table["further"], "desk")
        if person:
            body["end_user"] = {"id": person} if self.v["end_user"] == "object" else person
        if pay:
            body["payment_collection"] = "vendor_external"
        body.update(more or {})
        status, answer = c.call("POST", "/v1/bookings", body, headers={"Idempotency-Key": key} if key else None)
        return status, answer, body

    def made(self, c, *a, **k):
        status, answer, body = self.book(c, *a, **k)
        assert 200 <= status < 300, (status, answer, body)
        return c.placed("booking", answer)

    def go_on(self, c, b, body, good=True):
        status, answer = c.call("POST", "/v1/bookings/%s/continue" % b["id"], body)
        if not good:
            return status, answer
        assert status == 200, (status, answer, body)
        return c.placed("booking", answer)

    def read(self, c, b):
        status, answer = c.call("GET", "/v1/bookings/%s" % b["id"])
        assert status == 200, (status, answer)
        return c.placed("booking", answer)

    def settle(self, c, b):
        for n in range(6):
            b = self.read(c, b)
            if c.status(b) != "processing":
                return b, n
        raise AssertionError("never settled")

    def code(self, c, b):
        return [x for x in c.control("GET", "codes")["codes"] if x["id"] == b["id"]][-1]["code"]

    def action(self, b):
        """The kind of the action, and the fields that belong to it."""
        a, v = b["next_action"], self.v
        shape = v["action_shape"]
        if shape == "list":
            a = a[0]
        word = a if shape == "text" else list(a)[0] if shape == "keyed" else V.get(a, v["action"]["kind"])
        rest = b if shape == "text" else a[word] if shape == "keyed" else a
        for kind, w in v["action_words"].items():
            if word == w or isinstance(w, dict) and word in w.values():
                return kind, rest
        raise AssertionError("unknown action %r" % (word,))

    def otp(self, code):
        return V.put({}, self.v["otp_request"]["code"], code)

    def details(self):
        place, form = self.v["details_request"]
        given = {"membership_number": "M-77", "waiver_accepted": True}
        if form == "list":
            given = [{"name": n, "value": x} for n, x in given.items()]
        return V.put({}, place, given) if place else given

    def fresh(self, c):
        c.control("POST", "reset_limits", {})

    # ---- the walk

    def walk(self, c):
        v, ok = self.v, self.ok
        # who we are
        status, answer = c.call("GET", "/v1/", plain=True)
        ok([1], status == 401 and answer == {"error": "unauthorized"}, (status, answer))
        status, answer = c.call("GET", "/v1/", key="wrong")
        ok([2], status == 401, status)
        keys = c.control("GET", "keys")["keys"]
        ok(4, keys["live"].startswith(v["auth"]["look"]["live"]))
        for kind, want, code in (("beta", 403, "wrong_key_environment"), ("suspended", 403, "org_suspended"), ("live_without_billing", 402, "billing_required")):
            status, answer = c.call("GET", "/v1/", key=keys[kind])
            ok(4, status == want and code in (answer.get("error"), answer.get("error_code")), (kind, status, answer))
        if v["auth"]["second"]:
            second, v["auth"]["second"] = v["auth"]["second"], None
            ok(3, c.call("GET", "/v1/")[0] == 401)
            v["auth"]["second"] = second
        else:
            ok(3, True)
        # index
        status, answer = c.call("GET", "/v1/")
        doc = c.placed("index", answer)
        ok(5, status == 200 and (not v["meta"] or V.get(answer, v["meta"])))
        ok([6, 7, 8], all(c.field("index", doc, n) for n in ("name", "version", "server_time")), doc)
        ok(9, bool(c.field("index", doc, "endpoints")) == bool(v["index"]["endpoints"]), doc)
        # venue search
        status, answer = c.call("POST", "/v1/venues/search", {"vertical": "dining"})
        ok([], status == 400 and answer["missing"] == ["datetime", "location"], answer)
        status, answer = c.call("POST", "/v1/venues/search", raw=b"{nope")
        ok([], status == 400 and answer["error"] == "invalid request body" and "detail" in answer, answer)
        found, first = self.search(c, "dining", "New York")
        ok([], c.headers.get("RateLimit-Limit") == "25", dict(c.headers))
        ok(13, len(found) == 4, [f.get("venue_id") for f in found])
        ven = {}
        truth = {x["venue_id"]: x for x in c.control("GET", "venues")["venues"]}
        for x in found:
            t = truth[x["venue_id"]]
            ok(16, isinstance(x["venue_id"], int) == (v["ids"]["venue"] == "number"))
            ok(17, c.field("venue", x, "name") == t["name"], x)
            ok([18, 19], c.field("venue", x, "address") is not None and c.field("venue", x, "providers") is not None, x)
            ok(20, (c.field("venue", x, "timezone") is not None) == bool(v["venue"]["timezone"]), x)
            ok(21, c.field("venue", x, "price_level") is not None and c.field("venue", x, "tags") is not None, x)
        for vertical, place in (("dining", "Reykjavik"), ("dining", "Tokyo"), ("fitness", "Reykjavik"), ("entertainment", "New York"),
                                ("entertainment", "Tokyo"), ("travel", "Reykjavik"), ("travel", "New York")):
            more, _ = self.search(c, vertical, place)
            found += more
        for x in found:
            t = truth[x["venue_id"]]
            ven[t["name"]] = {"venue_id": x["venue_id"], "tz": t["timezone"], "provider": t["provider"], "name": t["name"]}
        self.fresh(c)
        only, _ = self.search(c, "dining", "New York", providers=[v["providers"]["B"]])
        ok(10, {truth[x["venue_id"]]["provider"] for x in only} == {v["providers"]["B"]}, only)
        size = v["search_request"]["party_size"]
        status, answer = c.call("POST", "/v1/venues/search", V.put({"vertical": "dining", "datetime": V.time_out("t:utc", 2e9, "UTC"), "location": "Tokyo"}, size or "party_size", 3))
        ok(11, status == (200 if size or "search" not in v["strict"] else 400), (status, answer))
        c.control("POST", "switch", {"providers_down": ["B"]})
        _, first = self.search(c, "dining", "New York", pages=False)
        target = V.targets(v["partial_failure"])
        ok(15, V.get(first, target[0][0]) if target else True, first)
        c.control("POST", "switch", {"providers_down": ["A", "B", "C", "D"]})
        status, answer = c.call("POST", "/v1/venues/search", {"vertical": "dining", "datetime": V.time_out("t:utc", 2e9, "UTC"), "location": "Tokyo"})
        ok([], status == 502 and answer["error_code"] == "search_failed" and len(answer["providers_failed"]) == 4, answer)
        c.control("POST", "switch", {"providers_down": []})
        status, answer = c.call("POST", "/v1/venues/search", {"vertical": "dining", "datetime": V.time_out("t:utc", 2e9, "UTC"), "location": "Atlantis"})
        ok([], status == 400 and "location" in answer["error"], answer)
        # availability
        now = c.control("GET", "state")["now"]
        far = now + 60 * 86400
        for name in ("Lantern House", "Sakura Counter"):
            body = self.day(c, ven[name], far)
            status, answer = c.call("POST", "/v1/availability/search", body)
            ok([22, 23, 24, 25, 26, 27], status == 200, (status, answer, body))
            slots = c.placed("slots", answer)
            ok(28, len(slots) >= 20 or not v["slots_request"]["datetime"] and len(slots) > 2, len(slots))
            s = slots[0]
            ok(30, isinstance(s["availability_id"], int) == (v["ids"]["slot"] == "number"), s)
            t = V.time_in(v["slot"]["datetime"][1], s["datetime"], ven[name]["tz"])
            ok(31, t is not None and t % 1800 == 0, s)
            ok([32, 33], c.field("slot", s, "duration_minutes") is not None and c.field("slot", s, "price") is not None, s)
            ok([34, 35], c.field("slot", s, "card_terms"), s)
            ok([36, 37], c.field("slot", s, "cancellation_terms"), s)
            target = V.targets(v["slots_answer"]["provider"])[0][0]
            got = c.headers.get(target[7:]) if target.startswith("header:") else V.get(answer, target)
            ok(29, got is not None, answer if not isinstance(answer, list) else "")
        for name in v["slots_required"]:
            body = self.day(c, ven["Lantern House"], far)
            path = V.targets(v["slots_request"][name])[0][0]
            parent = V.get(body, path.rpartition(".")[0])
            del parent[path.rpartition(".")[2]]
            status, answer = c.call("POST", "/v1/availability/search", body)
            ok([27, 79], status == 400 and path.replace(".", "/") in json.dumps(answer).replace(".", "/"), (name, status, answer))
        body = self.day(c, ven["Silent Line"], far)
        status, answer = c.call("POST", "/v1/availability/search", body)
        ok([], status == 502 and answer["error_code"] == "availability_failed" and answer["provider"] == v["providers"]["D"], answer)
        self.fresh(c)
        self.other_forms(c, ven, far)
        self.fresh(c)
        # create: refusals
        status, answer, _ = self.book(c, ven["Harbour Table"], name="Test User")
        ok([], status == 400 and answer["error_code"] == "placeholder_customer", answer)
        status, answer, _ = self.book(c, ven["Harbour Table"], name="Ada")
        ok([], status == 400 and answer["error_code"] == "missing_last_name", answer)
        status, answer, body = self.book(c, ven["Harbour Table"], slot=False, at=now - 86400)
        ok(79, status == 400 and answer["error"].startswith("validation failed"), answer)
        status, answer, body = self.book(c, ven["Harbour Table"], more={"datetime": V.time_out(v["slot"]["datetime"][1], (now // 1800 + 400) * 1800, ven["Harbour Table"]["tz"])})
        ok([], status == 400 and answer["error_code"] == "slot_not_offered", answer)
        unmapped = ven["Unmapped Kitchen"]
        status, answer, _ = self.book(c, unmapped)
        ok([], status == 400 and "provider" in answer["error"], answer)
        status, answer, _ = self.book(c, unmapped, more={"provider": v["providers"]["C"]})
        ok([], 200 <= status < 300, answer)
        status, answer = c.call("POST", "/v1/bookings", {}, key=keys["read_only"])
        ok([], status == 403 and answer == {"error": "insufficient_scope", "required_scope": "bookings:create"}, answer)
        self.fresh(c)
        # create, repeat, read
        status, answer, body = self.book(c, ven["Harbour Table"], key="k-1")
        ok([38, 41], status == v["create_status"]["fresh"], (status, answer))
        b = c.placed("booking", answer)
        ok([42, 43], c.status(b) == "confirmed", b)
        status, answer, _ = self.book(c, ven["Harbour Table"], key="k-1", name="Other Person")
        ok(42, status == v["create_status"]["repeated"] and c.placed("booking", answer)["id"] == b["id"], (status, answer))
        ok(44, isinstance(b["id"], int) == (v["ids"]["booking"] == "number"), b["id"])
        ok(45, b["status"] == v["status"]["confirmed"])
        b = self.read(c, b)
        for n, names in ((46, ["datetime"]), (47, ["party_size"]), (48, ["guest_name", "guest_email", "guest_phone"]), (49, ["venue_id", "venue_name"]),
                         (50, ["created_at", "updated_at"]), (51, ["seating"])):
            ok(n, all(c.field("booking", b, x) is not None for x in names), (names, b))
        b2 = self.made(c, ven["Harbour Table"], slot=False)
        ok(40, c.status(b2) == "confirmed")
        ok(82, b["provider"] == v["providers"]["A"])
        # modify
        self.fresh(c)
        new = (now // 1800 + 300) * 1800
        body = V.put({}, v["modify_request"]["datetime"], V.time_out(v["slot"]["datetime"][1], new, ven["Harbour Table"]["tz"]))
        V.put(body, v["modify_request"]["party_size"], 4)
        V.put(body, v["modify_request"]["seating"], "counter")
        status, answer = c.call("POST", "/v1/bookings/%s/modify" % b["id"], body)
        ok([67, 68, 69], status == 200, (status, answer))
        b = c.placed("booking", answer)
        true = [x for x in c.control("GET", "state")["bookings"] if x["id"] == b["id"]][0]
        ok([67, 68, 69], (true["datetime"], true["party_size"], true["seating"]) == (new, 4, "counter"), true)
        ok(62, isinstance(b["last_modification"], {"text": str, "list": list}.get(v["modification_shape"], dict)), b["last_modification"])
        # a refusal of the venue carries the booking
        b3 = self.made(c, ven["Stubborn Fork"])
        status, answer = c.call("POST", "/v1/bookings/%s/modify" % b3["id"], body)
        ok([], status == 422 and c.status(c.undo(V.get(answer, v["refused_booking"]))) == "confirmed", answer)
        # cancel
        reason = V.put({}, v["cancel_request"]["reason"], "ill") if v["cancel_request"]["reason"] else {}
        status, answer = c.call("POST", "/v1/bookings/%s/cancel" % b["id"], reason)
        ok(70, status == 200 and c.status(c.placed("booking", answer)) == "cancelled", (status, answer))
        status, answer = c.call("POST", "/v1/bookings/%s/modify" % b["id"], body)
        ok([], status == 409, answer)
        if v["cancel_required"] or not v["cancel_request"]["reason"]:
            status, answer = c.call("POST", "/v1/bookings/%s/cancel" % b3["id"], {} if v["cancel_required"] else {"reason": "ill"})
            ok(70, status == 400, answer)
        self.fresh(c)
        # a code, then processing; a provider that cannot modify or cancel
        b = self.made(c, ven["Corner Oyster"])
        kind, rest = self.action(b)
        ok([53, 54, 55], kind == "otp", b)
        ok(57, c.field("action", rest, "message"), b)
        ok(58, not v["action"]["expires_at"] or c.field("action", rest, "expires_at") is not None, b)
        status, answer = c.call("GET", "/v1/bookings/nothing")
        ok(80, status == 404 and str(b["id"]) in json.dumps(answer["open_bookings"]), answer)
        for left in (2, 1):
            status, answer = self.go_on(c, b, self.otp("000"), good=False)
            ok(81, status == 400 and answer["error_code"] == "invalid_code" and (not v["attempts_left"] or V.get(answer, v["attempts_left"]) == left), answer)
        status, answer = self.go_on(c, b, {}, good=False)
        ok(63, status == 400, answer)
        b = self.go_on(c, b, self.otp(self.code(c, b)))
        ok(63, c.status(b) == "processing", b)
        b, n = self.settle(c, b)
        ok(45, c.status(b) == "confirmed" and n == 2, (b, n))
        status, answer = c.call("POST", "/v1/bookings/%s/cancel" % b["id"], reason)
        b = c.placed("booking", answer)
        ok([], status == 200 and c.status(b) == "confirmed" and b["error_code"] == "cancellation_unsupported", answer)
        status, answer = c.call("POST", "/v1/bookings/%s/modify" % b["id"], body)
        ok([], status == 422 and answer["error_code"] == "modify_unsupported", answer)
        self.fresh(c)
        # other details
        b = self.made(c, ven["Iron Yard"])
        kind, rest = self.action(b)
        ok(61, kind == "details" and "membership_number" in json.dumps(c.field("action", rest, "fields")), b)
        status, answer = self.go_on(c, b, {}, good=False)
        ok(64, status == 400, answer)
        b = self.go_on(c, b, self.details())
        ok(64, c.status(b) == "confirmed", b)
        self.fresh(c)
        # failures
        b = self.made(c, ven["Full House Grill"])
        ok([], c.status(b) == "failed" and b["error_code"] == "no_table_left", b)
        b, _ = self.settle(c, self.made(c, ven["Night Ferry"]))
        ok([], c.status(b) == "failed" and b["error_code"] == "provider_unreachable", b)
        # payment
        b = self.made(c, ven["Velvet Room"], pay=True)
        kind, rest = self.action(b)
        ok(56, kind == "payment", b)
        ok([59, 60], c.field("action", rest, "money") is not None and c.field("action", rest, "psp_request") is not None, b)
        ok(52, b["expires_at"] is not None and type(b["expires_at"]) is (int if v["booking"]["expires_at"][1] in ("t:ms", "t:epoch") else str), b)
        status, answer = self.go_on(c, b, {"psp_response": {"nope": 1} if v["psp_response"] == "object" else "nope"}, good=False)
        ok(65, status == 400 and set(answer) == {"error"} and c.status(self.read(c, b)) == "requires_action", answer)
        given = c.control("POST", "approve/%s" % b["id"], {})
        b = self.go_on(c, b, {"psp_response": given["psp_response"]})
        ok(65, c.status(b) == "processing", b)
        b, _ = self.settle(c, b)
        ok(65, c.status(b) == "confirmed", b)
        self.fresh(c)
        b = self.made(c, ven["Velvet Room"], pay=True)
        if v["psp_abort"] != "true":
            ok(66, self.go_on(c, b, {"psp_abort": True}, good=False)[0] == 400)
        given = c.control("POST", "approve/%s" % b["id"], {})
        b = self.go_on(c, b, {"psp_abort": given["psp_abort"]})
        ok(66, c.status(b) == "failed" and b["error_code"] == "payment_declined", b)
        b = self.made(c, ven["Paper Moon Theatre"], pay=True)
        b = self.go_on(c, b, {"psp_response": c.control("POST", "approve/%s" % b["id"], {})["psp_response"]})
        ok([], b["error_code"] == "card_declined", b)
        ok([], self.made(c, ven["Broken Till"], pay=True)["error_code"] == "payment_setup_failed")
        status, answer, _ = self.book(c, ven["Harbour Table"], pay=True)
        ok([], status == 409 and answer["error_code"] == "vault_unavailable", answer)
        late, doubt = self.made(c, ven["Velvet Room"], pay=True), self.made(c, ven["Doubtful Door"], pay=True)
        paid = c.control("POST", "approve/%s" % doubt["id"], {})["psp_response"]
        waits = self.made(c, ven["Sakura Counter"])
        c.control("POST", "clock", {"advance_seconds": 601})
        status, answer = self.go_on(c, doubt, {"psp_response": paid}, good=False)
        ok([], status == 400 and set(answer) == {"error"} and self.read(c, doubt)["error_code"] == "payment_outcome_unknown", answer)
        b = self.read(c, late)
        ok([], c.status(b) == "failed" and b["error_code"] == "payment_approval_expired", b)
        c.control("POST", "clock", {"advance_seconds": 620})
        ok(45, c.status(self.read(c, waits)) == "expired")
        # several actions one after the other
        self.fresh(c)
        b = self.made(c, ven["Long Supper Club"], pay=True)
        seen = []
        while c.status(b) == "requires_action":
            kind, _ = self.action(b)
            seen.append(kind)
            b = self.go_on(c, b, self.otp(self.code(c, b)) if kind == "otp" else self.details() if kind == "details" else
                           {"psp_response": c.control("POST", "approve/%s" % b["id"], {})["psp_response"]})
        b, _ = self.settle(c, b)
        ok([54], seen == ["otp", "details", "payment"] and c.status(b) == "confirmed", (seen, b))
        self.sessions(c, ven, keys)
        self.limits(c, ven)
        self.hooks(c, ven)
        self.the_log(c)

    def other_forms(self, c, ven, far):
        """What another service would take is refused here."""
        v, ok, lantern = self.v, self.ok, ven["Lantern House"]
        if self.name != "assumed":
            request = urllib.request.Request(c.base + "/v1/", headers={"Authorization": "Bearer " + c.key})
            try:
                status = OPENER.open(request, timeout=9).status
            except urllib.error.HTTPError as e:
                status = e.code
            ok([1, 2], status == 401, status)
        own = V.targets(v["slots_request"]["datetime"] or v["slots_request"]["window_from"])
        body = self.day(c, lantern, far)
        V.put(body, own[0][0], V.time_out("t:utc", far, "UTC") if own[0][1] in ("t:epoch", "t:ms") else V.time_out("t:local" if own[0][1] in ("t:utc", "t:offset") else "t:utc", far, "UTC"))
        status, answer = c.call("POST", "/v1/availability/search", body)
        ok(24, status == 400 and answer["error"] == "invalid request body" and answer["field"] == own[0][0], (status, answer, body))
        body = self.day(c, lantern, far)
        c.fill(body, v["slots_request"]["venue"], "4102" if isinstance(lantern["venue_id"], int) else 4102)
        status, answer = c.call("POST", "/v1/availability/search", body)
        ok(16, status == 400, (status, answer))
        if v["slots_request"]["further"]:
            body = self.day(c, lantern, far)
            c.fill(body, v["slots_request"]["further"], "XXX")
            ok(27, c.call("POST", "/v1/availability/search", body)[0] == 400)
        status, answer, _ = self.book(c, lantern, slot=False, more={"datetime": V.time_out("t:utc", far, "UTC") if v["create_request"]["datetime_form"][1] in ("t:ms", "t:epoch") else
                                      V.time_out("t:utc" if v["create_request"]["datetime_form"][1].startswith("t:local") else "t:local", far, "UTC")})
        ok(40, status == 400 and answer["field"] == "datetime", answer)
        status, answer, _ = self.book(c, lantern, more={"end_user": "p" if v["end_user"] == "object" else {"id": "p"}})
        ok(39, status == 400 and answer["field"] == "end_user", answer)
        for need in v["create_required"]:
            path = v["create_request"]["further"].split(".")[0]
            status, answer, _ = self.book(c, lantern, more={path: None})
            ok(41, status == 400, answer)
        # a create that the service did and did not answer
        for fault in ({"status": 503}, {"status": "drop"}):
            self.fresh(c)
            key = "fault-%s" % fault["status"]
            c.control("POST", "fault", dict(fault, method="POST", path="/v1/bookings"))
            try:
                status = self.book(c, lantern, key=key)[0]
            except Exception:
                status = "drop"
            ok([], status == fault["status"], status)
            status, answer, _ = self.book(c, lantern, key=key)
            ok(42, status == v["create_status"]["repeated"], status)
            mine = [b for b in c.control("GET", "state")["bookings"] if b["idempotency_key"] == key]
            ok(42, len(mine) == 1 and mine[0]["id"] == c.placed("booking", answer)["id"], mine)

    def sessions(self, c, ven, keys):
        v, ok = self.v, self.ok
        self.fresh(c)
        status, answer, _ = self.book(c, ven["Corner Oyster"], person="person-1")
        ok(39, status == 409 and answer["error_code"] == "reconnect_required", answer)
        made = []
        for n, person in enumerate(("person-1", "person-1", "person-1", "person-2")):
            body = V.put({"end_user": {"id": person} if v["end_user"] == "object" else person, "provider": v["providers"]["B"]}, v["connect_request"]["phone"], "+1555010447%d" % n)
            status, answer = c.call("POST", "/v1/sessions", body)
            ok([71, 83], status == 201, answer)
            made.append(c.placed("session", answer))
        s = made[0]
        ok([73, 74], s["state"] == v["session_state"]["pending"], s)
        ok(75, c.field("session", s, "created_at") is not None, s)
        ok([], c.call("GET", "/v1/sessions/%s/card" % s["id"])[0] == 409)
        status, answer = c.call("POST", "/v1/sessions/%s/verify" % s["id"], V.put({}, v["verify_request"]["code"], "1"))
        ok(81, status == 400 and answer["error_code"] == "invalid_code", answer)
        status, answer = c.call("POST", "/v1/sessions/%s/verify" % s["id"], V.put({}, v["verify_request"]["code"], self.code(c, s)))
        ok(72, status == 200 and c.placed("session", answer)["state"] == v["session_state"]["active"], answer)
        paging = v["paging"]["sessions"]
        path, got = "/v1/sessions?" + urllib.parse.urlencode({"end_user": "person-1", "provider": v["providers"]["B"]}), []
        url = None
        for _ in range(9):
            status, answer = c.call("GET", path, url=url)
            ok(76, status == 200, answer)
            got += c.placed("sessions", answer)
            if not paging:
                break
            target = paging["response"]["next"]
            m = re.search(r'<([^>]+)>; rel="next"', c.headers.get("Link") or "")
            nxt = (m and m.group(1)) if target == "header:Link" else V.get(answer, target)
            if not nxt:
                break
            if isinstance(nxt, str) and nxt.startswith("http"):
                url = nxt
            else:
                path = path.split("&" + paging["request"]["cursor"])[0] + "&" + urllib.parse.urlencode({paging["request"]["cursor"]: nxt})
        ok([76, 77], [x["id"] for x in got] == [x["id"] for x in made[:3]], got)
        status, answer = c.call("GET", "/v1/sessions?" + urllib.parse.urlencode({"state": v["session_state"]["active"]}))
        ok(74, [x["id"] for x in c.placed("sessions", answer)] == [s["id"]], answer)
        for path in ("/v1/sessions/%s/card" % s["id"], "/v1/sessions/card?end_user=person-1"):
            status, answer = c.call("GET", path)
            ok(78, status == 200 and c.placed("card", answer)["has_card"] is True, answer)
        b = self.made(c, ven["Corner Oyster"], person="person-1")
        ok(39, c.status(b) == "requires_action", b)
        status, answer = c.call("DELETE", "/v1/sessions/%s" % s["id"])
        ok([], status == v["delete_status"] and c.call("GET", "/v1/sessions/%s" % s["id"])[0] == 404)

    def limits(self, c, ven):
        ok = self.ok
        self.fresh(c)
        c.control("POST", "clock", {"advance_seconds": 300 - c.control("GET", "state")["now"] % 300 + 1})
        for n in range(3):
            self.made(c, ven["Harbour Table"])
        status, answer = c.call("POST", "/v1/bookings", {"venue_id": ven["Harbour Table"]["venue_id"]})
        ok([], status == 402 and answer["error"] == "free_tier_exhausted" and answer["limit"] == 3, answer)
        for n in range(8):
            status, answer = c.call("POST", "/v1/bookings", {})
        ok([], status == 429 and answer["error"] == "rate_limited" and answer["limit"] == 10 and int(c.headers["Retry-After"]) == answer["retry_after_seconds"], answer)
        status, answer = c.call("POST", "/v1/bookings", raw=b" " * (1024 * 1024 + 10) + b"{}")
        c.control("POST", "clock", {"advance_seconds": 300})
        status, answer = c.call("POST", "/v1/venues/search", raw=b" " * (1024 * 1024 + 10) + b"{}", key=c.control("GET", "keys")["keys"]["live"])
        ok([], status == 413, (status, answer))
        self.fresh(c)

    def hooks(self, c, ven):
        v, ok = self.v, self.ok
        c.control("POST", "clock", {"advance_seconds": 60})
        self.fresh(c)
        del self.received[:]
        self.answers.extend([500, 500])
        b = self.made(c, ven["Lantern House"])
        c.control("POST", "clock", {"advance_seconds": 31})
        c.control("POST", "clock", {"advance_seconds": 31})
        c.control("POST", "clock", {"advance_seconds": 200})
        seen, kinds = set(), set()
        secret = c.control("GET", "keys")["signing_secret"]
        for headers, raw, status in self.received:
            lower = {k.lower(): x for k, x in headers.items()}
            sign = lower.get("%s-signature" % v["service"].lower(), "")
            m = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", sign)
            ok(84, bool(m) and hmac.compare_digest(m.group(2), hmac.new(secret.encode(), m.group(1).encode() + b"." + raw, hashlib.sha256).hexdigest()), headers)
            body = json.loads(raw)
            values = {}
            for n, name in ((85, "id"), (86, "kind")):
                path = v["event"][name]
                values[name] = lower.get(path[7:].lower()) if path.startswith("header:") else V.get(body, path)
                ok(n, values[name] is not None, (headers, body))
            obj = body["data"]["object"]
            ok([], set(obj) <= set(V.SUMMARY) and {"id", "object", "status", "provider"} <= set(obj), obj)
            if obj["id"] == b["id"] and status == 200:
                seen.add(values["id"])
                kinds.add(values["kind"])
        ok(86, kinds == {"booking.created", "booking.processing", "booking.confirmed"}, kinds)
        ok(85, len(seen) == 3, seen)
        # four failed attempts, and no more
        del self.received[:]
        self.answers.extend([500] * 8)
        self.made(c, ven["Harbour Table"])
        c.control("POST", "clock", {"advance_seconds": 3600})
        events = c.control("GET", "state")["events"][-2:]
        ok([], [(e["state"], len(e["attempts"])) for e in events] == [("abandoned", 4)] * 2, events)
        gaps = [y["at"] - x["at"] for x, y in zip(events[0]["attempts"], events[0]["attempts"][1:])]
        ok([], len(gaps) == 3 and abs(gaps[0] - 30) < 5 and abs(gaps[1] - 120) < 5 and abs(gaps[2] - 600) < 5, gaps)

    def the_log(self, c):
        lines = c.control("GET", "requests")["requests"]
        self.ok([], len(lines) > 50 and "sk_test_selftest" not in json.dumps(lines), "the key is in the log")
        self.ok([], base64.b64encode(b"sk_test_selftest:").decode() not in json.dumps(lines), "the key is in the log")


def main():
    wrong, looked, changed = [], set(), {n: [] for n in POINTS}
    names = sys.argv[1:] or V.names()
    for name in names:
        w = Walk(name)
        w.run()
        v = V.load(name)
        described = V.describe(name)
        mine = [n for n in POINTS if V.differs(v, n)]
        if name == "assumed" and mine:
            w.wrong.append("the reference differs from itself at %s" % mine)
        if sorted(map(int, described["points"])) != POINTS or not all(described["points"].values()):
            w.wrong.append("%s does not describe every point" % name)
        for n in mine:
            changed[n].append(name)
            if n not in w.looked:
                w.wrong.append("%s: point %d is changed and was never seen on the wire" % (name, n))
        looked |= w.looked
        print("%-13s %s, changes %d points, %d looked at" % (name, "walked" if not w.wrong else "WRONG", len(mine), len(w.looked)))
        wrong += w.wrong
    print()
    for n in POINTS:
        print("%2d  %s" % (n, " ".join(changed[n]) or "NOBODY"))
    bare = [n for n in POINTS if not changed[n]]
    unseen = [n for n in POINTS if n not in looked]
    print("\n%d of 86 points are changed by at least one variant%s" % (86 - len(bare), "; not: %s" % bare if bare else ""))
    if unseen:
        print("never looked at: %s" % unseen)
    for w in wrong:
        print("WRONG", w)
    if len(names) < len(V.names()):
        bare = unseen = []
    sys.exit(1 if wrong or bare or unseen else 0)


if __name__ == "__main__":
    main()
