"""Fixtures for pytest: a sandbox server for the session, and an organization for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import pytest

from ._sandbox import Organization, Sandbox


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sandbox_fixtures(file): load venues and bookings, from a file beside the test or a dict")
    config.addinivalue_line("markers", "sandbox_clock(time=None): freeze the test's clock, at this time if there is one")


@pytest.fixture(scope="session")
def sandbox_server() -> Iterator[Sandbox]:
    """The sandbox of `bookctl sandbox run`, if the tests run in one; else one of this process."""
    url = os.environ.get("BOOKCTL_BASE_URL")
    if url:
        yield Sandbox(url)
        return
    with Sandbox.start() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(
    request: pytest.FixtureRequest, sandbox_server: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Organization]:
    """An organization of the test's own, to which the environment points."""
    organization = sandbox_server.organization(request.node.name)
    for name, value in organization.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("BOOKCTL_PROFILE", raising=False)
    clock = request.node.get_closest_marker("sandbox_clock")
    if clock:
        organization.clock.freeze()
        for time in (*clock.args, *clock.kwargs.values()):
            organization.clock.set(time)
    for mark in request.node.iter_markers("sandbox_fixtures"):
        for fixtures in mark.args:
            organization.load(fixtures if isinstance(fixtures, Mapping) else request.path.parent / fixtures)
    yield organization
