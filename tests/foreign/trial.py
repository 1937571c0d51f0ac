#!/usr/bin/env python3
"""Runs bookctl at the five services of strangers.py: with only a key, after `profile learn`, and by hand.

By hand means: what a refusal's hint says is done, nothing else. A hole (`<?>`, `NAME`, `VALUE`) is filled from what the
service's documentation would say (HOLES). Prints a table; ends with 1 if anything was wrong.
"""
import datetime as dt
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request

import strangers

BOOKCTL = sys.argv[1]
AT = (dt.datetime.now(strangers.PORTO) + dt.timedelta(days=2)).strftime("%Y-%m-%d")
KEYS = dict(
    envelope=["dialect.auth_header=X-Mesa-Key", "dialect.auth_scheme="], jsonapi=["dialect.auth_scheme=Token"],
    hal=["dialect.auth_scheme=Basic"], epoch=["auth_query=api_key"], sparse=[])
# What only the documentation of a service says, by the beginning of the setting with the hole.
HOLES = {
    "envelope": {
        "write.slots=": "write.slots=del(.datetime) * {place: .venue_id} * {from: .datetime[11:16]} * {covers: .party_size} * {day: .datetime[:10]}",
        "read.slots=": "read.slots={slots: [.result.days[][] | {availability_id: .ref, datetime: .starts, card_terms: .guarantee, cancellation_terms: .walk_away}]}",
        "dialect.modify_party_size_field=": "dialect.modify_party_size_field=covers",
        "dialect.modify_datetime_field=": "dialect.modify_datetime_field=starts",
        "dialect.event_id_field=": "dialect.event_id_field=event_ref", "dialect.event_type_field=": "dialect.event_type_field=topic",
    },
    "jsonapi": {
        "dialect.modify_party_size_field=": "dialect.modify_party_size_field=guests",
        "dialect.modify_datetime_field=": "dialect.modify_datetime_field=starts_at",
        "dialect.event_type_field=": "dialect.event_type_field=event",
    },
    "hal": {
        "dialect.modify_party_size_field=": "dialect.modify_party_size_field=guests",
        "dialect.modify_datetime_field=": "dialect.modify_datetime_field=arrival",
        "dialect.event_id_field=": "dialect.event_id_field=eventId",
        "dialect.cancel_reason_field=": "dialect.cancel_reason_field=cancellationReason",
    },
    "epoch": {"dialect.": None},
    "sparse": {},
}
FLAGS = {"--reason": "weather", "--provider": "beta", "--phone": "+351 912 345 678", "--tz": "Europe/Lisbon",
         "--near": "Porto", "--otp": strangers.CODE}
FIELDS = {"customer[mobile]": "+351 912 345 678"}


class Trial:
    def __init__(self, base, style, column):
        self.style, self.column, self.settings, self.commands = style, column, [], 0
        self.url = "%s/%s" % (base, style)
        self.home = tempfile.TemporaryDirectory()
        self.said, self.extra, self.seen, self.learned = [], {}, [], 0
        strangers.Handler.services[style] = strangers.Service(style)

    def run(self, *args, stdin=None):
        env = dict(os.environ, BOOKCTL_HOME=self.home.name, BOOKCTL_API_KEY=strangers.KEY, NO_COLOR="1", TZ="America/New_York",
                   BOOKCTL_WEBHOOK_SECRET=strangers.SECRET)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            env.pop(name, None)
        self.commands += 1
        return subprocess.run([BOOKCTL, *args], env=env, capture_output=True, text=True, input=stdin or "", timeout=60)

    def json(self, *args, **more):
        done = self.run(*args, "--json", **more)
        try:
            return done.returncode, json.loads(done.stdout or "null"), done.stderr
        except ValueError:
            return done.returncode, None, done.stdout + done.stderr

    def control(self, path):
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open("%s/control/%s" % (self.url, path)) as got:
            return json.load(got)

    def bookings(self):
        return self.control("state")["bookings"]

    def book(self, venue, *more):
        before = len(self.bookings())
        v = next(v for v in strangers.VENUES if v["name"] == venue)
        ident = str(strangers.STYLES[self.style]().ident("v", v["n"]))
        done = self.attempt("book", ident, "--at", AT + " 19:30", "--party", "2", "--name", "Ada Lovelace", "--yes", *more)
        made = self.bookings()[before:]
        if not made:
            return done, None
        is_it = (len(made) == 1 and made[0]["venue"] == venue and made[0]["party"] == 2 and made[0]["guest"] == "Ada Lovelace"
                 and made[0]["at"].startswith(AT + "T19:30"))
        if not is_it:
            self.said.append("WRONG BOOKING %r" % made)
        return done, made[0]["id"] if is_it else "wrong"

    def attempt(self, *args, **more):
        """Runs a command with the flags that hints asked for before."""
        return self.run(*args, *self.extra.get(" ".join(args[:2] if args[0] == "session" else args[:1]), []), **more)

    def last(self, **wanted):
        found = [b for b in self.bookings() if all(b[k] == v for k, v in wanted.items())]
        return found[-1] if found else None

    # Each operation gives whether its result is right, and what was run.
    def op_doctor(self):
        done = self.attempt("doctor")
        return done.returncode == 0 and "problem" not in done.stdout, done

    def op_probe(self):
        done = self.attempt("doctor", "--probe", "--near", "Porto")
        return done.returncode == 0, done

    def op_search(self):
        done = self.attempt("search", "dining", "--near", "Porto", "--at", AT + " 19:30", "--party", "2")
        ids = [str(strangers.STYLES[self.style]().ident("v", n)) for n in (1, 2, 4, 5)]
        return done.returncode == 0 and all(i in done.stdout for i in ids), done

    def op_slots(self):
        ident = str(strangers.STYLES[self.style]().ident("v", 1))
        done = self.attempt("slots", ident, "--at", AT + " 19:30", "--party", "2")
        rows = [line for line in done.stdout.splitlines() if re.search(r"19:30|18:30|20:30|19:00", line)]
        terms = re.search(r"(?i)held|card is needed|25[.]00|2500", done.stdout)
        return done.returncode == 0 and len(rows) >= 2 and bool(terms), done

    def op_book(self):
        done, made = self.book("Casa Verde")
        return made not in (None, "wrong") and done.returncode == 0, done

    def op_show(self):
        b = self.last(status="confirmed", venue="Casa Verde")
        if not b:
            return None, None
        done = self.attempt("show", b["id"])
        return done.returncode == 0 and "confirmed" in done.stdout.lower() and b["id"] in done.stdout, done

    def op_journal(self):
        if not self.last(venue="Casa Verde"):
            return None, None
        done = self.attempt("bookings")
        return done.returncode == 0 and "Ada Lovelace" in done.stdout and "19:30" in done.stdout, done

    def op_pause(self):
        done, made = self.book("Ponte Nova")
        return made not in (None, "wrong") and done.returncode == 10, done

    def op_code(self):
        b = self.last(status="requires_action", waits="otp")
        if not b:
            return None, None
        done = self.attempt("continue", b["id"], "--otp", strangers.CODE)
        return done.returncode == 0 and self.last(id=b["id"])["status"] == "confirmed", done

    def op_payment(self):
        done, made = self.book("Teatro Azul", "--payment", "vendor", "--vertical", "entertainment")
        if done.returncode == 2:
            done, made = self.book("Teatro Azul", "--payment", "vendor")
        if made in (None, "wrong") or done.returncode != 10:
            return False, done
        done = self.attempt("continue", made, "--psp-response", '{"approved": true}')
        return done.returncode == 0 and self.last(id=made)["status"] == "confirmed", done

    def op_late(self):
        done, made = self.book("Teatro Azul", "--payment", "vendor", "--party", "3") if False else self.book("Teatro Azul", "--payment", "vendor")
        if made in (None, "wrong"):
            return None, done
        self.control("late/" + made)
        done = self.attempt("continue", made, "--psp-response", '{"approved": true}')
        return done.returncode not in (0, 10), done

    def op_expired(self):
        done, made = self.book("Ponte Nova", )
        if made in (None, "wrong"):
            return None, done
        self.control("expire/" + made)
        done = self.attempt("show", made, "--exit-status")
        return done.returncode not in (0, 10) and "expired" in done.stdout.lower(), done

    def op_modify(self):
        b = self.last(venue="Casa Verde", status="confirmed")
        if not b:
            return None, None
        done = self.attempt("modify", b["id"], "--party", "5", "--yes")
        return done.returncode == 0 and self.last(id=b["id"])["party"] == 5, done

    def op_move(self):
        b = self.last(venue="Casa Verde", status="confirmed")
        if not b:
            return None, None
        done = self.attempt("modify", b["id"], "--at", AT + " 20:00", "--yes")
        return done.returncode == 0 and self.last(id=b["id"])["at"].startswith(AT + "T20:00"), done

    def op_refused(self):
        b = self.last(venue="Casa Verde", status="confirmed")
        if not b:
            return None, None
        done = self.attempt("modify", b["id"], "--party", "9", "--yes")
        told = "party_too_large" in done.stderr + done.stdout
        return done.returncode == 7 and told and "modify_party" not in done.stderr and self.last(id=b["id"])["party"] != 9, done

    def op_unsupported(self):
        done, made = self.book("Longe")
        if made in (None, "wrong"):
            return None, done
        done = self.attempt("modify", made, "--party", "3", "--yes")
        if not re.search("cannot modify|modify_unsupported", done.stderr + done.stdout):
            return False, done
        done = self.attempt("cancel", made, "--yes")
        return done.returncode not in (0,) and self.last(id=made)["status"] == "confirmed", done

    def op_cancel(self):
        b = self.last(venue="Casa Verde", status="confirmed")
        if not b:
            return None, None
        done = self.attempt("cancel", b["id"], "--yes")
        return done.returncode == 0 and self.last(id=b["id"])["status"] == "cancelled", done

    def op_connect(self):
        before = len(self.control("state")["sessions"])
        done = self.attempt("session", "connect", "--end-user", "u7", "--phone", "+351 912 345 678")
        after = self.control("state")["sessions"]
        return done.returncode == 0 and len(after) == before + 1 and "session verify" in done.stdout, done

    def op_verify(self):
        held = self.control("state")["sessions"]
        if not held:
            return None, None
        done = self.attempt("session", "verify", held[-1]["id"], "--code", strangers.CODE)
        return done.returncode == 0 and self.control("state")["sessions"][-1]["state"].lower() == "active", done

    def op_sessions(self):
        have = len(self.control("state")["sessions"])
        if not have:
            return None, None
        for n in range(3):
            strangers.Handler.services[self.style].sessions["more-%d" % n] = dict(id="more-%d" % n, provider="beta", end_user="u8", state="active")
        done = self.attempt("session", "list")
        return done.returncode == 0 and all("more-%d" % n in done.stdout for n in range(3)), done

    def op_card(self):
        held = [s for s in self.control("state")["sessions"] if s["state"].lower() == "active"]
        if not held:
            return None, None
        done = self.attempt("card", held[0]["id"])
        return done.returncode == 0 and re.search("(?i)card", done.stdout), done

    def op_disconnect(self):
        held = self.control("state")["sessions"]
        if not held:
            return None, None
        done = self.attempt("session", "disconnect", held[0]["id"], "--yes")
        return done.returncode == 0 and held[0]["id"] not in [s["id"] for s in self.control("state")["sessions"]], done

    def op_delivery(self):
        b = self.bookings()
        if not b:
            return None, None
        event = self.control("event/" + b[0]["id"])
        path = os.path.join(self.home.name, "delivery.txt")
        with open(path, "w") as file:
            file.write(event["header"] + "\n\n" + event["body"])
        done = self.attempt("profile", "learn", "svc", "--check", "--near", "Porto", "--delivery", path, "--json")
        try:
            shown = [it for it in json.loads(done.stdout)["documents"] if it["kind"] == "event"][0]
            read = shown["read"] and not any("service_name" in it["key"] for it in json.loads(done.stdout)["settings"])
        except (ValueError, KeyError, IndexError):
            return False, done
        if not read and shown.get("why"):
            done.stderr += "\nhint: " + shown["why"] + "\n"
        if any("service_name" in it["key"] for it in json.loads(done.stdout)["settings"]):
            done.stderr += "\nhint: bookctl profile set svc dialect.service_name=" + strangers.STYLES[self.style].service + "\n"
        return read, done

    def op_batch(self):
        ident = str(strangers.STYLES[self.style]().ident("v", 1))
        path = os.path.join(self.home.name, "rows-%d.jsonl" % time.monotonic_ns())
        rows = []
        for n, clock in enumerate(["20:00", "20:30"]):
            rows.append(json.dumps(dict(venue_id=ident, datetime="%sT%s:00+%s" % (AT, clock, OFFSET), party_size=3,
                                        customer=dict(name="Grace Hopper" + "ab"[n], phone="+351 912 345 678"))))
        open(path, "w").write("\n".join(rows) + "\n")
        before = len(self.bookings())
        done = self.attempt("batch", path, "--yes")
        made = self.bookings()[before:]
        is_it = [b["at"][11:16] for b in made] == ["20:00", "20:30"] and all(b["party"] == 3 for b in made)
        if made and not is_it:
            self.said.append("WRONG BATCH %r" % made)
        return done.returncode == 0 and is_it, done

    def op_cut(self):
        if not self.bookings():
            return None, None
        self.control("cut")
        before = len(self.bookings())
        ident = str(strangers.STYLES[self.style]().ident("v", 1))
        done = self.attempt("book", ident, "--at", AT + " 19:00", "--party", "4", "--name", "Alan Turing", "--yes")
        made = self.bookings()[before:]
        return len(made) == 1 and done.returncode == 0, done

    def op_open(self):
        done, made = self.book("Ponte Nova")
        if made in (None, "wrong"):
            return None, done
        done = self.attempt("bookings", "--open")
        return done.returncode == 0 and made in done.stdout, done

    OPERATIONS = ("doctor probe search slots book show journal pause code payment late expired modify move refused "
                  "unsupported cancel connect verify sessions card disconnect delivery batch cut open").split()

    def follow(self, name, done):
        """Does what the hint says. Returns whether there was anything to do."""
        text = done.stderr + done.stdout
        key = {"code": "continue", "payment": "book", "late": "book", "expired": "book", "pause": "book", "unsupported": "book",
               "open": "book", "cut": "book", "move": "modify", "connect": "session connect", "verify": "session verify"}.get(name, name)
        did = False
        token = r"'[a-z_]+(?:[.][A-Za-z_-]+)?=[^']*'|[a-z_]+(?:[.][A-Za-z_-]+)?=[^\s`;',]*"
        for command in re.findall(r"bookctl profile set svc((?: (?:%s))+)" % token, text):
            for setting in re.findall(token, command):
                setting = setting.strip("'")
                if setting in self.seen:
                    continue
                self.seen.append(setting)
                if re.search(r"<\?>|=(NAME|VALUE|EXPRESSION|PATH)$", setting):
                    filled = next((v for k, v in HOLES[self.style].items() if setting.startswith(k)), None)
                    if not filled:
                        continue
                    setting = filled
                if setting in self.settings:
                    continue
                set_ = self.run("profile", "set", "svc", setting)
                self.said.append("    $ bookctl profile set svc %s%s" % (shlex.quote(setting), "" if set_.returncode == 0 else " -> %d %s" % (set_.returncode, set_.stderr.strip())))
                if set_.returncode == 0:
                    self.settings.append(setting)
                    did = did or "read_only" not in setting or True
        if "bookctl profile learn svc" in text and self.learned < 6:
            self.learned += 1
            learned = self.run("profile", "learn", "svc", "--near", "Porto", "--yes")
            self.said.append("    $ bookctl profile learn svc -> %d" % learned.returncode)
            self.run("profile", "set", "svc", "read_only=false")
            self.follow("learn", learned)
            did = True
        hint = re.search(r"(?s)hint\t?:?(.*)", done.stderr)
        hint = hint.group(1) if hint else ""
        mine = self.extra.setdefault(key, [])
        for flag in re.findall(r"--[a-z-]+", hint):
            if flag in FLAGS and flag not in mine:
                mine += [flag, FLAGS[flag]]
                self.said.append("    with %s" % flag)
                did = True
        for field in re.findall(r"-F '?([a-z\[\]_.]+)=", hint):
            if field in FIELDS and field not in str(mine):
                mine += ["-F", "%s=%s" % (field, FIELDS[field])]
                self.said.append("    with -F %s" % field)
                did = True
        return did

    def go(self):
        self.run("profile", "add", "svc", "--base-url", self.url, *KEYS[self.style])
        self.run("profile", "use", "svc")
        self.said.append("  login without a word about the key:")
        login = subprocess.run([BOOKCTL, "auth", "login", "--profile", "new", "--base-url", self.url, "--key-stdin", "--storage", "file"],
                               env=dict(os.environ, BOOKCTL_HOME=self.home.name + "/login"), input=strangers.KEY, capture_output=True, text=True)
        self.said.append("    %d %s" % (login.returncode, login.stderr.strip()))
        if self.column != "key":
            learned = self.run("profile", "learn", "svc", "--near", "Porto", "--yes")
            self.said.append("  learned: %d\n%s" % (learned.returncode, learned.stdout + learned.stderr))
            self.run("profile", "set", "svc", "read_only=false")
            if self.column == "hand":
                self.follow("learn", learned)
        verdicts = {}
        for name in self.OPERATIONS:
            for _ in range(8):
                right, done = getattr(self, "op_" + name)()
                if right:
                    verdicts[name] = "R"
                    break
                if done is None:
                    verdicts[name] = "-"
                    break
                hint = "hint" in done.stderr or "<?>" in done.stdout
                wrong = done.returncode in (0, 10) and name not in ("connect",)
                verdicts[name] = "W" if wrong else "S" if hint else "s"
                self.said.append("  %s: %s exit %d\n      %s" % (name, verdicts[name], done.returncode, (done.stderr + (done.stdout if wrong or name == "probe" else "")).strip().replace("\n", "\n      ")))
                if self.column != "hand" or not self.follow(name, done):
                    break
        return verdicts


def typed(command, env, answers):
    """Runs a command on a terminal, and types each answer when its question appears."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, env)
    seen = ""
    for question, answer in answers:
        while question not in seen:
            seen += os.read(terminal, 4096).decode(errors="replace")
        seen = ""
        os.write(terminal, (answer + "\r").encode())
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def worked(base, page):
    """Runs the commands of docs/connect.md, from a 401 to a confirmed booking, at the service for which they are written."""
    block = re.search(r"(?s)```sh\n(bookctl auth login.*?)```", open(page).read()).group(1).replace("\\\n", "")
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    trial = Trial(base, "envelope", "worked")
    env = dict(os.environ, BOOKCTL_HOME=trial.home.name, NO_COLOR="1", TZ="America/New_York", TERM="xterm")
    for words in commands:
        given = [BOOKCTL, *words[1:]]
        if words[1] == "auth":
            answers = [("Base URL", trial.url), ("Profile name", ""), ("API key for", strangers.KEY), ("Enter keeps", "")]
            exit = typed(given + ["--storage", "file"], env, answers)
        else:
            given += ["--yes"] if words[2] == "learn" or words[1] == "book" else []
            done = subprocess.run(given, env=env, capture_output=True, text=True, timeout=60)
            exit = done.returncode
        print("$", shlex.join(words), "->", exit)
        if exit not in (0, 10):
            print("   ", done.stderr.strip().replace("\n", "\n    "))
    confirmed = [b["status"] for b in trial.bookings()] == ["confirmed"]
    print(len(commands), "commands;", "a confirmed booking" if confirmed else "NOT CONFIRMED %r" % trial.bookings())
    return confirmed and len(commands) <= 12


def offset():
    at = dt.datetime.fromisoformat(AT + "T20:00").replace(tzinfo=strangers.PORTO).utcoffset()
    return "%02d:00" % (at.seconds // 3600)


OFFSET = offset()

if __name__ == "__main__":
    server = strangers.start()
    base = "http://127.0.0.1:%d" % server.server_address[1]
    wanted = sys.argv[2:] or list(strangers.STYLES)
    table, wrong = {}, 0
    for style in wanted:
        for column in ("key", "learn", "hand"):
            begun = time.monotonic()
            trial = Trial(base, style, column)
            verdicts = trial.go()
            print("== %s, %s: %.0f s" % (style, column, time.monotonic() - begun))
            print("\n".join(trial.said))
            table[style, column] = verdicts, trial.settings, trial.commands
            wrong += list(verdicts.values()).count("W") + sum("WRONG" in it for it in trial.said)
    print("%-12s" % "" + "".join("%-10s" % s for s in wanted))
    for name in Trial.OPERATIONS:
        print("%-12s" % name + "".join("%-10s" % " ".join(table[s, c][0].get(name, "?") for c in ("key", "learn", "hand")) for s in wanted))
    for what, mark in [("right", "R"), ("said", "S"), ("said, no hint", "s"), ("wrong", "W"), ("not reached", "-")]:
        print("%-14s" % what + "".join("%-10s" % " ".join("%2d" % list(table[s, c][0].values()).count(mark) for c in ("key", "learn", "hand")) for s in wanted))
    for s in wanted:
        print(s, "settings by hand:", len(table[s, "hand"][1]), table[s, "hand"][1], "commands:", table[s, "hand"][2])
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/connect.md")
    sys.exit(bool(wrong) or not worked(base, os.environ.get("CONNECT_MD", page)))
