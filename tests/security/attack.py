"""What an attack is: its name, what it tries, and what must have become of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

LONGEST_PAUSE_MS: Final = 250


class Group(StrEnum):
    """What an attack is directed at. The attacks of one group share a worker."""

    FILES = "files"
    USERS = "users"
    LIMITS = "limits"
    DISK = "disk"
    LOOP = "loop"
    KEY = "key"
    LOGS = "logs"
    TENANTS = "tenants"


class Trace(StrEnum):
    """Where an attack can be seen."""

    WORKER = "the worker's log"
    OUTCOME = "the task's outcome"
    PROXY = "the proxy's refusals in the worker's log"
    PRINTED = "the task's own output in the worker's log"
    API = "the API's log"
    ACCESS = "API Gateway's access log alone, like any request: nothing was refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A program that runs as a task's child; `hostile_child.py` says what it may use."""

    name: str
    group: Group
    tries: str
    """A sentence that goes on after "The task"."""
    program: str
    definition: Mapping[str, Any] = field(default_factory=dict)
    must_be_refused: bool = False
    """Whether the program itself has to report a refusal."""
    states: frozenset[str] = frozenset({"COMPLETED", "FAILED", "TIMED_OUT"})
    """How its task may end."""
    shows: str = ""
    """A pattern that the error of its task, or a line of the log that names it, matches.

    Without one, only the output of the child shows what the system refused.
    """
    trace: Trace = Trace.OUTCOME
    copies: int = 1
    behind: bool = False
    """Whether an ordinary task of another tenant waits behind it and has to complete."""
    needs_users: bool = True
    """Whether it says something only where tasks are users of their own."""
    slow: bool = False
    hides: tuple[str, ...] = ()
    """Texts that must not reach the worker's log."""
    cap_usd: float | None = None
    """What its task may cost at most, as the API reports it."""
    uploads: frozenset[str] | None = None
    """Names of artifacts that may reach the bucket, if only some may."""


def slug(name: str) -> str:
    """Return a name as part of the id of a task."""
    return "".join(c if c.isalnum() else "-" for c in name.lower())[:60].strip("-")
