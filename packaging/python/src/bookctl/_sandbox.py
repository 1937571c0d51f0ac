from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypedDict
from urllib.parse import quote

from ._program import program

# What the sandbox's process runs: it prints its environment, then waits until this process closes its input or ends. So no
# server outlives its tests, even if they are killed.
_WAIT = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"


class Message(TypedDict, total=False):
    """A text message to a guest."""

    id: str
    to: str
    text: str
    code: str
    booking_id: str
    session_id: str
    created_at: str


class SandboxError(Exception):
    """A request that was rejected: its status, and the body of the response."""

    def __init__(self, text: str, status: int = 0, body: Any = None) -> None:
        super().__init__(text)
        self.status = status
        self.body = body


def _request(url: str, method: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})}, method=method)
    # The sandbox is on this computer or in this network: no proxy knows it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        try:
            document = json.loads(text)
        except ValueError:
            document = text
        raise SandboxError(f"{method} {url}: {error.code} {text}", error.code, document) from None
    return json.loads(text)


class Sandbox:
    """A sandbox server. `start` starts one; `Sandbox(url)` uses one that is served."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._process: subprocess.Popen[str] | None = None
        self._home: str | None = None
        try:
            is_sandbox = "controls_openapi_url" in _request(f"{self.base_url}/", "GET")
        except (SandboxError, OSError, ValueError) as error:
            raise SandboxError(f"{base_url} is not a sandbox: {error}") from None
        if not is_sandbox:
            raise SandboxError(f"{base_url} is not a sandbox")

    @classmethod
    def start(cls, *arguments: str) -> Sandbox:
        """Starts a server on a free port, with a BOOKCTL_HOME of its own; `arguments` are those of `bookctl sandbox run`."""
        command = [program(), "sandbox", "run", "--quiet", *arguments, "--", sys.executable, "-c", _WAIT]
        # A session of its own: Ctrl-C ends the tests, and they end the server.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SandboxError(f"bookctl sandbox run ended with {process.wait()}: {' '.join(command[1:-3])}")
        environment = json.loads(line)
        sandbox = cls(environment["BOOKCTL_BASE_URL"])
        sandbox._process, sandbox._home = process, environment["BOOKCTL_HOME"]
        return sandbox

    def organization(self, name: str | None = None) -> Organization:
        """Adds an organization: what belongs to it is seen by no other test."""
        return Organization(self, self.control("POST", "/sandbox/organizations", {"name": name} if name else {}))

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Calls one of the sandbox's controls, such as `/sandbox/report`."""
        return _request(self.base_url + path, method, body)

    def report(self) -> Any:
        """What all organizations missed and did wrong: `findings` and `situations`."""
        return self.control("GET", "/sandbox/report")

    def stop(self) -> int:
        """Stops the server if `start` started it, and returns its exit code: 1 if `--fail-on` was met."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.communicate()
        return process.returncode

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class Organization:
    """An organization: its keys, bookings, messages, webhooks, clock and faults."""

    def __init__(self, sandbox: Sandbox, access: Any) -> None:
        self.sandbox = sandbox
        self.base_url = sandbox.base_url
        self.id: str = access["id"]
        self.keys: dict[str, str] = access["keys"]
        self.key: str = self.keys["live"]
        self.webhook_secret: str = access["webhook_secret"]
        self.clock = Clock(self)
        self.faults = Faults(self)

    @property
    def env(self) -> dict[str, str]:
        """The variables that point bookctl, or a program that reads them, to this organization."""
        variables = {
            "BOOKCTL_BASE_URL": self.base_url,
            "BOOKCTL_API_KEY": self.key,
            "BOOKCTL_WEBHOOK_SECRET": self.webhook_secret,
        }
        return variables | ({"BOOKCTL_HOME": self.sandbox._home} if self.sandbox._home else {})

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Calls one of the sandbox's controls for this organization alone."""
        joint = "&" if "?" in path else "?"
        return self.sandbox.control(method, f"{path}{joint}organization={quote(self.id)}", body)

    def call(self, method: str, path: str, body: object = None, *, key: str | None = None, idempotency_key: str | None = None) -> Any:
        """Calls the service with this organization's key. A booking request has a new idempotency key unless you name one."""
        headers = {"Authorization": f"Bearer {key or self.key}", "Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return _request(self.base_url + path, method, body, headers)

    def book(self, venue_id: str = "ven_confirms", **fields: Any) -> Any:
        """Books for two at 19:30 UTC of the next day by the sandbox's clock; `fields` are added to the request."""
        tomorrow = (self.clock.now() + datetime.timedelta(days=1)).date()
        booking = {
            "venue_id": venue_id,
            "datetime": f"{tomorrow}T19:30:00Z",
            "party_size": 2,
            "customer": {"name": "Ada Lovelace"},
        }
        return self.call("POST", "/v1/bookings", booking | fields)

    def run(self, *arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of bookctl in this organization, and captures what it prints."""
        return subprocess.run([program(), *arguments], input=input, capture_output=True, text=True, env=os.environ | self.env)

    def bookings(self) -> list[dict[str, Any]]:
        return list(self.control("GET", "/sandbox/bookings")["bookings"])

    def set_booking(self, booking_id: str, status: str, **fields: str) -> Any:
        """Does what a provider does later; `fields` are `error_code` and `error_message`."""
        return self.control("PUT", f"/sandbox/bookings/{quote(booking_id)}", {"status": status, **fields})

    def inbox(self) -> list[Message]:
        """The text messages, newest first."""
        return list(self.control("GET", "/sandbox/inbox")["messages"])

    def code(self, to: str | None = None) -> str:
        """The newest one-time code, or the newest for a booking, a session or a phone number."""
        for message in self.inbox():
            if "code" in message and to in (None, message.get("booking_id"), message.get("session_id"), message["to"]):
                return message["code"]
        raise SandboxError("no text message has a code" + (f" for {to}" if to else ""))

    def deliveries(self) -> list[dict[str, Any]]:
        """The webhooks, with every attempt."""
        return list(self.control("GET", "/sandbox/deliveries")["deliveries"])

    def requests(self) -> list[dict[str, Any]]:
        """The last requests with this organization's keys, newest first."""
        return list(self.control("GET", "/sandbox/requests")["requests"])

    def report(self) -> Any:
        """What this organization missed and did wrong: `findings` and `situations`."""
        return self.control("GET", "/sandbox/report")

    def update(self, **settings: Any) -> Any:
        """Changes the organization, for example `webhook_url` or `suspended`."""
        return self.control("PUT", "/sandbox/organization", settings)

    def load(self, fixtures: str | os.PathLike[str] | Mapping[str, object]) -> Any:
        """Loads venues and bookings: a file (TOML or JSON), or a document."""
        if isinstance(fixtures, Mapping):
            return self.control("POST", "/sandbox/fixtures", fixtures)
        loaded = self.run("sandbox", "load", "--organization", self.id, "--json", os.fspath(fixtures))
        if loaded.returncode:
            raise SandboxError(json.loads(loaded.stderr)["error"]["message"])
        return json.loads(loaded.stdout)

    def reset(self) -> None:
        """Removes everything of this organization, and sets its clock back."""
        self.control("POST", "/sandbox/reset")

    def delete(self) -> None:
        self.sandbox.control("DELETE", f"/sandbox/organizations/{quote(self.id)}")


class Clock:
    """The clock of an organization: expiries, rate limits and webhook retries follow it."""

    def __init__(self, organization: Organization) -> None:
        self._organization = organization

    def _change(self, **change: object) -> datetime.datetime:
        return _time(self._organization.control("POST", "/sandbox/clock", change)["now"])

    def now(self) -> datetime.datetime:
        return _time(self._organization.control("GET", "/sandbox/clock")["now"])

    def advance(self, by: str | datetime.timedelta) -> datetime.datetime:
        """Moves it ahead, by `21m` or by a `timedelta` of whole seconds."""
        return self._change(advance=by if isinstance(by, str) else f"{by.days * 86400 + by.seconds}s")

    def set(self, to: str | datetime.datetime) -> datetime.datetime:
        """Moves it ahead to a time, which needs an offset."""
        return self._change(set=to if isinstance(to, str) else to.isoformat())

    def next(self) -> datetime.datetime:
        """Moves it to when the next thing is due."""
        return self._change(next=True)

    def freeze(self) -> datetime.datetime:
        return self._change(freeze=True)

    def resume(self) -> datetime.datetime:
        return self._change(resume=True)


def _time(text: str) -> datetime.datetime:
    # Python 3.10 does not know the `Z`.
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Faults:
    """The faults that an organization meets."""

    def __init__(self, organization: Organization) -> None:
        self._organization = organization

    def add(self, on: str, kind: str, **options: Any) -> Any:
        """Adds a fault, such as `add("POST /v1/bookings", "status", status=503, after=True, times=2)`."""
        return self._organization.control("POST", "/sandbox/faults", {"on": on, "kind": kind, **options})

    def preset(self, name: str) -> Any:
        """Adds the faults of a preset: `flaky`, `slow`, `down` or `rate_limited`."""
        return self._organization.control("POST", "/sandbox/faults", {"preset": name})

    def list(self) -> list[dict[str, Any]]:
        return list(self._organization.control("GET", "/sandbox/faults")["faults"])

    def clear(self) -> None:
        self._organization.control("DELETE", "/sandbox/faults")
