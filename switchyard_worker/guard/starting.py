"""Starts and asks the guard's process, for the worker and for a task's child alike."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import switchyard
import switchyard_worker
from switchyard_worker.boundary import AGENT_USERS
from switchyard_worker.guard.examine import Finding, Wrong

MAX_SECONDS: Final = 5.0
MAX_MEGABYTES: Final = 512
"""Memory for a check of the largest outcome; three at once fit beside the worker once the children
of their tasks have ended."""
MARGIN_SECONDS: Final = 2.0  # for a system that is slow to end a process

Question = tuple[dict[str, Any], bytes]


class GuardUnavailable(Exception):
    """The guard cannot make any check on this machine."""


def command(host: Mapping[str, str]) -> list[str]:
    """Return a command that drops the capabilities which the worker has to change users."""
    program = [sys.executable, "-P", "-s", "-m", "switchyard_worker.guard.process"]
    if not host.get(AGENT_USERS):
        return program
    return ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs", "--", *program]


def environment() -> dict[str, str]:
    """Return an environment with nothing but the paths of the packages that are needed."""
    names = (switchyard_worker.__name__, switchyard.__name__, "jsonschema")
    origins = [spec.origin for spec in map(find_spec, names) if spec and spec.origin]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(_root(origin) for origin in origins))}


def _root(origin: str) -> str:
    return str(Path(origin).parents[1])


def value_question(document: bytes, schema: Mapping[str, Any]) -> Question:
    return {"kind": "value", "schema": dict(schema)}, document


def outcome_question(
    document: bytes, schema: Mapping[str, Any] | None, secrets: Sequence[str]
) -> Question:
    header = {"kind": "outcome", "schema": None if schema is None else dict(schema)}
    return header | {"secrets": list(secrets)}, document


def connection_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def unchecked(*, took: float, max_seconds: float) -> Finding:
    """Return the finding of a check that ended without an answer."""
    if took >= max_seconds * 0.95:
        message = f"the check took longer than {max_seconds:g} s"
    else:
        message = "the check was ended by the system"
    return Finding(wrong=Wrong.UNCHECKED, message=message)
