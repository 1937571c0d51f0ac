#!/usr/bin/env python3
"""Runs bookctl at the five services of strangers.py: with only a key, after `profile learn`, and by hand.

By hand means: what a hint says is done, nothing else. A hole (`<?>`, `NAME`, `EXPRESSION`), and an expression that
bookctl says is to be corrected, is filled from what the service's documentation would say (TOLD). Each result is
compared with the service's own state. Prints a table; ends with 1 if anything was wrong.
"""
import hashlib
import hmac
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta

import strangers

BOOKCTL = sys.argv[1]
strangers.LIMITS["create"] = 100
# What only the documentation of a service says, by the beginning of the setting that a hint names.
TOLD = {
    "tavolo": {},
    "gastwerk": {"write.slots=": "write.slots={venue_id, party_size, starts_after: (.datetime[:10] + \"T00:00:00Z\"), starts_before: (.datetime[:10] + \"T23:59:00Z\")}"},
    "fjord": {"dialect.modify_party_size_field=NAME": "dialect.modify_party_size_field=new_party_size",
              "write.otp=": 'write.otp=. * {action: "submit_otp"}',
              "read.booking=EXPRESSION": 'read.booking=if .status == "accepted" then .status = "processing" else . end'},
    "minutely": {"write.slots=": 'write.slots=del(.datetime) * {from: (.datetime[:10] + "T00:00:00Z" | fromdateiso8601), to: (.datetime[:10] + "T23:59:00Z" | fromdateiso8601)}'},
    "ohm": {"dialect.modify_party_size_field=NAME": "dialect.modify_party_size_field=covers"},
}
SETTING = r"'[a-z_]+(?:[.][A-Za-z_-]+)?=[^']*(?:'\\''[^']*)*'|[a-z_]+(?:[.][A-Za-z_-]+)?=[^\s`;',]*"


class Trial:
    def __init__(self, name, column):
        self.name, self.column = name, column
        self.server = strangers.start(name)
        self.service = self.server.service
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.home = tempfile.TemporaryDirectory()
        self.zone, self.venues = ["--tz", self.service.ZONE], list(self.service.venues)
        # Days ahead whose slots are all to come, by their names: `fri` would be today on a Friday.
        self.day, self.next_day = [(datetime.now(self.service.zone) + timedelta(days=n)).strftime("%a").lower() for n in (4, 5)]
        self.settings, self.seen, self.said, self.extra, self.at, self.commands = [], [], [], [], [], 0

    def environment(self):
        # Nothing else: a proxy would be used, and `CI` lets nobody be asked.
        return {"PATH": os.environ["PATH"], "HOME": self.home.name, "BOOKCTL_HOME": self.home.name, "BOOKCTL_API_KEY": self.service.key,
                "NO_COLOR": "1", "TZ": "America/New_York", "BOOKCTL_WEBHOOK_SECRET": self.service.secret}

    def run(self, *args):
        self.commands += 1
        return subprocess.run([BOOKCTL, *args], env=self.environment(), capture_output=True, text=True, timeout=60)

    def state(self):
        return self.service.control("GET", b"")

    def control(self, **ask):
        self.service.control("POST", json.dumps(ask).encode())

    def made(self, guest):
        return [b for b in self.state()["bookings"] if b["name"] == guest]

    def local(self, booking):
        return datetime.fromisoformat(booking["at"]).astimezone(self.service.zone)

    def booked(self, guest, venue, clock, codes, *more):
        """Books; the mark is W if the service has another booking than was asked for, or a second one."""
        done = self.run("book", self.venues[venue], "--at", self.day + " " + clock, *self.zone, "--party", "2", "--name", guest, "--yes", *more)
        made = self.made(guest)
        if not made:
            return "W" if done.returncode in (0, 8, 10) else "S", done
        is_it = len(made) == 1 and self.local(made[0]).strftime("%H:%M") == clock and made[0]["venue"] == self.venues[venue] and made[0]["party"] == 2
        return ("R" if done.returncode in codes else "S") if is_it else "W", done

    def waiting(self, guest, *answer):
        """Answers this guest's booking."""
        made = self.made(guest)
        if not made:
            return None
        return self.run("continue", made[0]["id"], *answer)

    @staticmethod
    def mark(done, is_right, claims=(0,)):
        return "R" if is_right else "W" if done.returncode in claims else "S"

    # Each operation gives its mark, and what was run; `None` if an earlier one was not right.
    def op_status(self):
        done = self.run("doctor")
        return self.mark(done, done.returncode == 0), done

    def search(self, vertical, rows):
        done = self.run("search", vertical, "--near", self.service.CITY, "--at", self.day + " 19:30", *self.zone)
        return self.mark(done, done.returncode == 0 and all(self.venues[row] in done.stdout for row in rows)), done

    def op_search(self):
        return self.search("dining", range(4))

    def op_travel(self):
        return self.search("travel", [6])

    def op_slots(self):
        done = self.run("slots", self.venues[0], "--at", self.day + " 19:30", *self.zone)
        return self.mark(done, done.returncode == 0 and len(set(re.findall(r"slt_\w+", done.stdout))) == 4), done

    def op_book(self):
        return self.booked("Ines Duarte", 0, "19:30", (0, 8), "--idempotency-key", "order-1")

    def op_repeat(self):
        return self.booked("Ines Duarte", 0, "19:30", (0, 8), "--idempotency-key", "order-1") if self.made("Ines Duarte") else None

    def op_pause(self):
        return self.booked("Paul Weber", 1, "20:00", (10,), "--idempotency-key", "order-2")

    def op_mistyped(self):
        done = self.waiting("Paul Weber", "--otp", "000000")
        is_said = done and re.search("(?i)code is not the one|wrong code", done.stderr)
        return done and (self.mark(done, is_said and self.made("Paul Weber")[0]["status"] == "requires_action"), done)

    def op_code(self):
        done = self.waiting("Paul Weber", "--otp", self.service.OTP)
        return done and (self.mark(done, done.returncode in (0, 8, 16) and self.made("Paul Weber")[0]["status"] in (self.service.FIRST, "confirmed")), done)

    def op_payment(self):
        return self.booked("Mia Holm", 0, "18:00", (10,), "--payment", "vendor", "--idempotency-key", "order-3")

    def op_pay(self):
        done = self.waiting("Mia Holm", "--psp-response", json.dumps(self.service.PSP))
        return done and (self.mark(done, done.returncode in (0, 8, 16) and self.made("Mia Holm")[0]["status"] in (self.service.FIRST, "confirmed")), done)

    def op_abort(self):
        mark, done = self.booked("Rui Sousa", 0, "21:30", (10,), "--payment", "vendor", "--idempotency-key", "order-4")
        if mark != "R":
            return None
        done = self.waiting("Rui Sousa", "--psp-abort", "--yes")
        return self.mark(done, done.returncode == 11 and "payment_declined" in done.stdout), done

    def op_watch(self):
        made = self.made("Mia Holm")
        if not made or made[0]["status"] == "requires_action":
            return None
        done = self.run("watch", made[0]["id"], "--timeout", "10s")
        return self.mark(done, done.returncode == 0 and "Confirmed" in done.stdout), done

    def on_confirmed(self, is_right, *args):
        made = [b for b in self.made("Ines Duarte") if b["status"] == "confirmed"]
        if not made:
            return None
        done = self.run(args[0], made[0]["id"], *args[1:])
        return self.mark(done, is_right(done, self.made("Ines Duarte")[0])), done

    def op_show(self):
        return self.on_confirmed(lambda done, b: done.returncode == 0 and b["id"] in done.stdout and "Confirmed" in done.stdout, "show")

    def op_move(self):
        made = self.made("Ines Duarte")
        to = made and self.local(made[0]).strftime("%Y-%m-%d 20:00")
        return made and self.on_confirmed(lambda done, b: done.returncode == 0 and self.local(b).hour == 20, "modify", "--at", to, *self.zone, "--yes") or None

    def op_party(self):
        time.sleep(1.1)  # a service that shows the second of the last change has to show another one
        return self.on_confirmed(lambda done, b: done.returncode == 0 and b["party"] == 4, "modify", "--party", "4", "--yes", *self.at)

    def op_refused(self):
        return self.on_confirmed(lambda done, b: done.returncode == 7 and "no_table" in done.stderr and b["party"] < 9, "modify", "--party", "40", "--yes", *self.at)

    def op_cancel(self):
        return self.on_confirmed(lambda done, b: done.returncode == 0 and b["status"] == "cancelled", "cancel", "--yes", *self.extra)

    def op_unsupported(self):
        mark, done = self.booked("Eva Roth", 2, "18:00", (0, 8, 16), "--idempotency-key", "order-5")
        if mark != "R":
            return None
        self.run("watch", self.made("Eva Roth")[0]["id"], "--timeout", "5s")
        done = self.run("cancel", self.made("Eva Roth")[0]["id"], "--yes", *self.extra)
        return self.mark(done, done.returncode == 7 and re.search("(?i)not cancelled|call the venue", done.stdout + done.stderr)), done

    def op_batch(self):
        """Two rows with the venue's offset; and one in UTC, at a time without a slot, which another clock would read as 20:00."""
        day = (datetime.now(self.service.zone) + timedelta(days=2)).strftime("%Y-%m-%d")
        path, wanted = os.path.join(self.home.name, "rows.jsonl"), {}
        with open(path, "w") as rows:
            for guest, clock in [("Batch Eins", "18:00"), ("Batch Zwei", "20:00"), ("Batch Drei", "21:00")]:
                at = wanted[guest] = datetime.fromisoformat("%sT%s" % (day, clock)).replace(tzinfo=self.service.zone)
                text = at.astimezone(strangers.timezone.utc).strftime("%FT%TZ") if clock == "21:00" else at.isoformat()
                rows.write(json.dumps({"venue_id": self.venues[0], "datetime": text, "party_size": 2, "customer": {"name": guest}}) + "\n")
        done = self.run("batch", path, *self.zone, "--yes", "--wait=5s")
        made = [b for b in self.state()["bookings"] if b["name"] in wanted]
        if any(self.local(b) != wanted[b["name"]] for b in made) or len(made) > 2 or done.returncode == 0:
            return "W", done
        return "R" if len(made) == 2 else "S", done

    def op_connect(self):
        done = self.run("session", "connect", "--end-user", "u1", "--phone", "+351912345678", "--provider", self.service.B)
        return self.mark(done, done.returncode == 0 and self.state()["sessions"]), done

    def on_session(self, is_right, *args):
        held = self.state()["sessions"]
        if not held:
            return None
        done = self.run(*args[:2], *([held[0]["id"]] if args[1] in ("verify", "disconnect") else []), *args[2:])
        return self.mark(done, is_right(done, held)), done

    def op_verify(self):
        return self.on_session(lambda done, _: done.returncode == 0 and self.state()["sessions"][0]["state"] == "active", "session", "verify", "--code", self.service.TEXTED)

    def op_sessions(self):
        for n in range(3):
            one = {"id": "more-%d" % n, "provider": self.service.B, "end_user": "u8", "state": "active", "phone": None, "made": self.service.now()}
            self.service.sessions_[one["id"]] = one
        return self.on_session(lambda done, held: done.returncode == 0 and all(s["id"] in done.stdout for s in held), "session", "list")

    def op_card(self):
        return self.on_session(lambda done, _: done.returncode == 0 and "has a card" in done.stdout, "card", "--end-user", "u1")

    def op_disconnect(self):
        return self.on_session(lambda done, held: done.returncode == 0 and len(self.state()["sessions"]) == len(held) - 1, "session", "disconnect", "--yes")

    def signed(self):
        made = json.dumps(self.service.delivery("booking.confirmed", {"id": "b-1", "object": "booking", "status": "confirmed", "provider": self.service.A}))
        body = self.service.events[0] if self.service.events else made.encode()
        at = int(time.time())
        return body, "t=%d,v1=%s" % (at, hmac.new(self.service.secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest())

    def op_signature(self):
        body, signature = self.signed()
        path = os.path.join(self.home.name, "delivery.json")
        open(path, "wb").write(body)
        done = self.run("webhook", "verify", "--signature", signature, path)
        open(path, "ab").write(b" ")
        forged = self.run("webhook", "verify", "--signature", signature, path)
        return "W" if forged.returncode == 0 else self.mark(done, done.returncode == 0), done

    def op_listen(self):
        """A delivery, the same again, and a forged one."""
        ready, (body, signature) = os.path.join(self.home.name, "ready-%d" % time.monotonic_ns()), self.signed()
        listener = subprocess.Popen([BOOKCTL, "webhook", "listen", "--port", "0", "--ready-file", ready], env=self.environment(),
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (os.path.exists(ready) and open(ready).read()):
            time.sleep(0.05)

        def post(sent):
            asked = urllib.request.Request(open(ready).read().strip(), sent, {self.state()["signature"]: signature})
            try:
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked) as got:
                    return got.status
            except urllib.error.HTTPError as no:
                return no.code
        answers = [post(body), post(body), post(body + b" ")]
        listener.terminate()
        done = subprocess.CompletedProcess([], 0, *listener.communicate(timeout=10))
        return "W" if answers[2] < 300 else "R" if answers[:2] == [200, 200] and done.stdout.count("\tkept") == 1 else "S", done

    def op_lost(self):
        """The answer to a booking is lost; resuming finds it, and books nothing."""
        self.control(drop=9)
        key = "lost-%d" % time.monotonic_ns()
        done = self.run("book", self.venues[0], "--at", self.next_day + " 20:00", *self.zone, "--party", "2", "--name", "Jan Vos", "--yes", "--idempotency-key", key)
        self.control(drop=0)
        if not self.made("Jan Vos"):
            return None
        found = self.run("attempts", "resume", key)
        return "W" if len(self.made("Jan Vos")) != 1 or done.returncode in (0, 8) else "R" if found.returncode in (0, 8, 16) else "S", found

    def op_limit(self):
        """A rate limit is said, and nothing is booked; with --max-wait it is waited for."""
        book = ["book", self.venues[0], "--at", self.next_day + " 21:30", *self.zone, "--party", "2", "--name", "Lea Blum", "--yes"]
        self.control(window=3)
        self.control(spend="create")
        done = self.run(*book)
        if done.returncode != 9:
            return ("W" if self.made("Lea Blum") else None), done
        waited = self.run(*book, "--max-wait", "20s")
        return "R" if waited.returncode in (0, 8, 16) and len(self.made("Lea Blum")) == 1 else "W" if len(self.made("Lea Blum")) > 1 else "S", waited

    OPERATIONS = ("status search travel slots book repeat pause mistyped code payment pay abort watch show move party refused cancel "
                  "unsupported batch connect verify sessions card disconnect signature listen lost limit").split()

    def follow(self, done):
        """Does what the hints say. Returns whether there was anything to do."""
        text, did = done.stderr + done.stdout, False
        if "--reason" in done.stderr and not self.extra:
            self.extra, did = ["--reason", "weather"], True
        if "hint: add --at" in done.stderr and not self.at:
            self.at, did = ["--at", self.local(self.made("Ines Duarte")[0]).isoformat(), *self.zone], True
        if "bookctl profile learn own" in text and "learn" not in self.seen:
            self.seen.append("learn")
            did = self.follow(self.learn()) or did
        for command in re.findall(r"bookctl profile set own((?: (?:%s))+)" % SETTING, text):
            for setting in map(lambda it: shlex.split(it)[0], re.findall(SETTING, command)):
                setting = next((v for k, v in TOLD[self.name].items() if setting.startswith(k)), setting)
                if setting in self.seen or re.search(r"<\?>|=(NAME|EXPRESSION)$", setting) or setting.startswith("read_only"):
                    continue
                self.seen.append(setting)
                if self.run("profile", "set", "own", setting).returncode == 0:
                    self.said.append("    $ bookctl profile set own %s" % shlex.quote(setting))
                    self.settings.append(setting)
                    did = True
        return did

    def learn(self):
        learned = self.run("profile", "learn", "own", "--near", self.service.CITY, "--yes")
        self.said.append("  learned: %d\n%s" % (learned.returncode, learned.stdout + learned.stderr))
        self.run("profile", "set", "own", "read_only=false")
        return learned

    def go(self):
        self.run("profile", "add", "own", "--base-url", self.url)
        self.run("profile", "use", "own")
        if self.column != "key":
            self.seen.append("learn")
            learned = self.learn()
            if self.column == "hand":
                self.follow(learned)
        marks = {}
        for name in self.OPERATIONS:
            for _ in range(6):
                mark, done = getattr(self, "op_" + name)() or ("-", None)
                marks[name] = mark or "-"
                if done is not None and mark != "R":
                    self.said.append("  %s: %s, exit %d\n      %s" % (name, mark, done.returncode, (done.stderr + done.stdout).strip().replace("\n", "\n      ")))
                if mark != "S" or self.column != "hand" or not self.follow(done):
                    break
        self.server.shutdown()
        return marks


def typed(command, env, answers):
    """Runs a command on a terminal, and types each answer when its question appears. The exit code, and what was shown."""
    # `pty.fork` would run Python in the child, which may die there: the services have threads in this process.
    terminal, its_side = pty.openpty()
    child = subprocess.Popen(["setsid", "--ctty", "--wait", *command], env=env, stdin=its_side, stdout=its_side, stderr=its_side)
    os.close(its_side)
    shown = ""
    try:
        for question, answer in answers:
            begun = len(shown)
            while question not in shown[begun:]:
                shown += os.read(terminal, 4096).decode(errors="replace")
            os.write(terminal, (answer + "\r").encode())
        while os.read(terminal, 4096):
            pass
    except OSError:
        # It has ended, perhaps before a question.
        pass
    os.close(terminal)
    return child.wait(), shown


def worked(page):
    """Runs the commands of docs/connect.md, from a 401 to a confirmed booking, at the service for which they are written."""
    block = re.search(r"(?s)```sh\n(bookctl auth login.*?)```", open(page).read()).group(1).replace("\\\n", "")
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    trial = Trial("fjord", "worked")
    env = {k: v for k, v in trial.environment().items() if k != "BOOKCTL_API_KEY"} | {"TERM": "xterm"}
    for words in commands:
        given = [BOOKCTL, *words[1:]]
        if words[1] == "auth":
            answers = [("Base URL", trial.url), ("Profile name", ""), ("API key for", trial.service.key), ("Enter keeps", "")]
            exit, said = typed(given + ["--storage", "file"], env, answers)
        else:
            given += ["--yes"] if words[2] == "learn" or words[1] == "book" else []
            done = subprocess.run(given, env=env, capture_output=True, text=True, timeout=60)
            exit, said = done.returncode, done.stderr
        print("$", shlex.join(words), "->", exit)
        if exit not in (0, 10):
            print("   ", said.strip().replace("\n", "\n    "))
    confirmed = [b["status"] for b in trial.state()["bookings"]] == ["confirmed"]
    print(len(commands), "commands;", "a confirmed booking" if confirmed else "NOT CONFIRMED %r" % trial.state()["bookings"])
    return confirmed and exit == 0


if __name__ == "__main__":
    wanted, columns = sys.argv[2:] or list(strangers.COMPANIES), ("key", "learn", "hand")
    table, wrong = {}, 0
    for name in wanted:
        for column in columns:
            begun, trial = time.monotonic(), Trial(name, column)
            marks = trial.go()
            print("== %s, %s: %.0f s, %d commands" % (name, column, time.monotonic() - begun, trial.commands))
            print("\n".join(trial.said))
            table[name, column] = marks, trial
            # Where each hint is followed, the next step succeeds or names another field.
            wrong += sum(it != "R" if column == "hand" else it == "W" for it in marks.values())
    print("%-12s" % "" + "".join("%-10s" % name for name in wanted))
    for operation in Trial.OPERATIONS:
        print("%-12s" % operation + "".join("%-10s" % " ".join(table[name, it][0][operation] for it in columns) for name in wanted))
    for what, mark in [("right", "R"), ("said", "S"), ("not reached", "-"), ("wrong", "W")]:
        print("%-12s" % what + "".join("%-10s" % " ".join("%2d" % list(table[name, it][0].values()).count(mark) for it in columns) for name in wanted))
    for name in wanted:
        print(name, len(table[name, "hand"][1].settings), "settings that hints named:", table[name, "hand"][1].settings)
    for (name, column), (_, trial) in table.items():
        for said in trial.said:
            if re.match("  [a-z]+: W,", said):
                print("WRONG at %s, %s\n%s" % (name, column, said))
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/connect.md")
    sys.exit(bool(wrong) or not worked(os.environ.get("CONNECT_MD", page)))
