"""Checks an output in a process of its own where its schema could make the check endless.

Matching a regular expression holds the interpreter's lock: one like `(a+)+$` would stop the
renewals of every slot. References can multiply the work without bound.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Final

from worker import schema_check
from worker.schema_check import UnusableSchema, mismatch

MAX_SECONDS: Final = 5.0
# `uniqueItems` compares each with each: an array of an ordinary size takes hours.
ENDLESS: Final = frozenset({"pattern", "patternProperties", "$ref", "$dynamicRef", "uniqueItems"})


def guarded_mismatch(
    output: Any, schema: Mapping[str, Any], *, max_seconds: float = MAX_SECONDS
) -> str | None:
    """As `mismatch`, within a time. Raise `UnusableSchema`."""
    if not _could_be_endless(schema):
        return mismatch(output, schema)
    checked = _checked_elsewhere(output, schema, max_seconds)
    if checked.returncode == -signal.SIGALRM:
        raise UnusableSchema(f"the check took longer than {max_seconds:g} s")
    if checked.returncode != 0:
        raise UnusableSchema(f"the check ended with exit code {checked.returncode}")
    answer = json.loads(checked.stdout)
    if "unusable" in answer:
        raise UnusableSchema(answer["unusable"])
    found: str | None = answer["mismatch"]
    return found


def _could_be_endless(schema: Any) -> bool:
    """A property with such a name counts as well, which costs a little time."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if not ENDLESS.isdisjoint(part):
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False


def _checked_elsewhere(
    output: Any, schema: Mapping[str, Any], max_seconds: float
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", schema_check.__file__, str(max_seconds)],
        input=json.dumps({"schema": schema, "output": output}).encode(),
        stdout=subprocess.PIPE,
        env={},
        process_group=0,  # a signal for the worker's group is not meant for it
        check=False,
    )
