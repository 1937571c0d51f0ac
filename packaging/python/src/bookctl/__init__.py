"""The program bookctl, and its sandbox of the Booking API for tests."""

from ._program import program
from ._sandbox import Clock, Faults, Message, Organization, Sandbox, SandboxError

__all__ = ["Clock", "Faults", "Message", "Organization", "Sandbox", "SandboxError", "program"]
