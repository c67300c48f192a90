"""Checks a document of a tenant or a child, by its form and by its schema.

Everything here may take for ever or all memory there is: it is called in a process that can be
ended, or on documents that are small and have no schema.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from switchyard.domain.json_values import problem_in
from switchyard.domain.text import clean_values
from switchyard_worker.guard.redaction import Redaction

MAX_OUTPUT_BYTES: Final = 10_000_000  # it is read into memory here, and by all that follow it
MAX_REST_BYTES: Final = 64_000  # an error of 2,000 characters, a few figures
MAX_MESSAGE_CHARACTERS: Final = 2_000
MAX_DIGITS: Final = 640  # reading a number takes the square of its digits; Python's least limit

OUTPUT: Final = "output"


class Wrong(StrEnum):
    UNREADABLE = "unreadable"
    """The text is no JSON, or no object where one is needed."""
    NOT_JSON = "not json"
    """A part of it cannot be stored."""
    TOO_LARGE = "too large"
    UNUSABLE = "unusable schema"
    MISMATCH = "mismatch"
    UNCHECKED = "unchecked"
    """The check was ended: it took too long or too much memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check; `output` is the JSON text of a child's output."""

    wrong: Wrong | None = None
    message: str = ""
    rest: Mapping[str, Any] = field(default_factory=dict)
    """The members of an outcome, without its output."""
    output: bytes = b""

    def header(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != OUTPUT}

    @classmethod
    def received(cls, header: Mapping[str, Any], output: bytes) -> "Finding":
        wrong = header["wrong"]
        return cls(
            wrong=None if wrong is None else Wrong(wrong),
            message=str(header["message"])[:MAX_MESSAGE_CHARACTERS],
            rest=header["rest"],
            output=output,
        )


class _Found(Exception):
    def __init__(self, wrong: Wrong, message: str) -> None:
        super().__init__(message)
        self.wrong = wrong


class UnusableSchema(Exception):
    """A schema that looks like one, but cannot be applied to anything."""


def examine_value(document: bytes, schema: Mapping[str, Any]) -> Finding:
    """Hold a JSON text against a schema."""
    try:
        _match(_parsed(document), schema)
    except _Found as found:
        return _finding(found)
    return Finding()


def examine_outcome(
    document: bytes, schema: Mapping[str, Any] | None, redaction: Redaction
) -> Finding:
    """Take an outcome apart: its output is redacted, checked and written anew."""
    try:
        outcome = _parsed(document)
        if not isinstance(outcome, dict):
            raise _Found(Wrong.UNREADABLE, "it is no object")
        output = outcome.pop(OUTPUT, None)
        rest = _rest(outcome, redaction)
    except _Found as found:
        return _finding(found)
    try:
        return Finding(rest=rest, output=_checked(output, schema, redaction))
    except _Found as found:
        return _finding(found, rest)


def mismatch(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the value, and where. Raise `UnusableSchema`."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 60 ms, and the parent needs none
    from jsonschema.exceptions import best_match  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    # With a registry of its own the validator fetches nothing from the network.
    registry: Registry[Any] = Registry()
    validator = Draft202012Validator(schema, registry=registry)
    try:
        error = best_match(validator.iter_errors(value))
    except MemoryError:
        raise
    except (Unresolvable, re.error, RecursionError) as problem:
        raise UnusableSchema(f"{type(problem).__name__}: {problem}") from problem
    except Exception as problem:  # a schema of any shape must not look like a fault of ours
        raise UnusableSchema(f"{type(problem).__name__}: {problem}") from problem
    return f"{error.json_path}: {error.message}" if error else None


def _finding(found: _Found, rest: Mapping[str, Any] | None = None) -> Finding:
    return Finding(wrong=found.wrong, message=str(found)[:MAX_MESSAGE_CHARACTERS], rest=rest or {})


def _parsed(document: bytes) -> Any:
    try:
        return json.loads(document)
    except (ValueError, RecursionError) as error:
        raise _Found(Wrong.UNREADABLE, str(error)) from error


def _rest(outcome: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    problem = problem_in(outcome)
    if problem:
        raise _Found(Wrong.UNREADABLE, f"it {problem}")
    if len(_text(outcome)) > MAX_REST_BYTES:
        raise _Found(
            Wrong.UNREADABLE, f"beside its output it has more than {MAX_REST_BYTES:,} bytes"
        )
    # Cleaned first: what is removed later could join the parts of a key.
    rest: dict[str, Any] = redaction.value(clean_values(outcome))
    return rest


def _checked(output: Any, schema: Mapping[str, Any] | None, redaction: Redaction) -> bytes:
    problem = problem_in(output)
    if problem:
        raise _Found(Wrong.NOT_JSON, problem)
    output = redaction.value(output)
    text = _text(output)
    if len(text) > MAX_OUTPUT_BYTES:
        raise _Found(Wrong.TOO_LARGE, f"has {len(text):,} bytes, {MAX_OUTPUT_BYTES:,} are allowed")
    if schema is not None:
        _match(output, schema)
    return text


def _match(value: Any, schema: Mapping[str, Any]) -> None:
    try:
        problem = mismatch(value, schema)
    except UnusableSchema as unusable:
        raise _Found(Wrong.UNUSABLE, str(unusable)) from unusable
    if problem is not None:
        raise _Found(Wrong.MISMATCH, problem)


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def limit_digits() -> None:
    """Bound the time that this process takes to parse a number."""
    sys.set_int_max_str_digits(MAX_DIGITS)
