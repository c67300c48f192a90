"""Holds an output against its definition's schema, which a producer wrote.

Also a program, `schema_check.py SECONDS`: it reads `{"schema": …, "output": …}`, and ends by an
alarm when that takes too long. It imports nothing of ours, so it starts fast and from anywhere.
"""

import json
import re
import signal
import sys
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.exceptions import Unresolvable


class UnusableSchema(Exception):
    """A schema that looks like one, but cannot be applied to anything."""


def mismatch(output: Any, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the output, and where. Raise `UnusableSchema`."""
    # With a registry of its own the validator fetches nothing from the network.
    registry: Registry[Any] = Registry()
    validator = Draft202012Validator(schema, registry=registry)
    try:
        error = best_match(validator.iter_errors(output))
    except (Unresolvable, re.error, RecursionError) as problem:
        raise UnusableSchema(f"{type(problem).__name__}: {problem}") from problem
    return f"{error.json_path}: {error.message}" if error else None


def main(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)  # interrupts a match, which nothing else can
    asked = json.load(sys.stdin.buffer)
    try:
        answer = {"mismatch": mismatch(asked["output"], asked["schema"])}
    except UnusableSchema as problem:
        answer = {"unusable": str(problem)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main(float(sys.argv[1]))
