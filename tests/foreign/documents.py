#!/usr/bin/env python3
"""Prints every document that a variant sends during the walk of selftest.py, by kind, as one JSON object.

The kinds: index, venues, slots, booking, session, sessions, card. For tests of what a client shows of them.
"""
import json
import sys

import selftest

KINDS = (
    (lambda m, p: p == "/v1/", "index"),
    (lambda m, p: p == "/v1/venues/search", "venues"),
    (lambda m, p: p == "/v1/availability/search", "slots"),
    (lambda m, p: p.startswith("/v1/bookings"), "booking"),
    (lambda m, p: "card" in p, "card"),
    (lambda m, p: p.split("?")[0] == "/v1/sessions" and m == "GET", "sessions"),
    (lambda m, p: p.startswith("/v1/sessions") and m != "DELETE", "session"),
)


def main():
    kept = {kind: [] for _, kind in KINDS}
    call = selftest.Client.call

    def recorded(self, method, path, *args, **named):
        status, answer = call(self, method, path, *args, **named)
        if 200 <= status < 300 and answer is not None:
            kind = next((kind for fits, kind in KINDS if fits(method, path)), None)
            if kind and answer not in kept[kind]:
                kept[kind].append(answer)
        return status, answer

    selftest.Client.call = recorded
    walk = selftest.Walk(sys.argv[1])
    walk.run()
    if walk.wrong:
        sys.exit("\n".join(walk.wrong))
    json.dump(kept, sys.stdout)


main()
