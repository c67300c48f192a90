"""Holds an output against its definition's schema, which a producer wrote."""

import re
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
