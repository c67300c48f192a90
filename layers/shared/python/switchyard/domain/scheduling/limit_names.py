"""Names of limits, as tasks carry them: `q:build/heavy:5` or `d:summarise:3:0f31…`.

A name says whose limit it is (`q` a queue's, `d` a definition's; `qm` and `dm` for how many may
start per minute), the name of that, the number, and a digest of the key's value if it has a key.
A fan-out carries the key's text in the place of the digest: each of its items has its own value.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from switchyard.domain.fan_out.templates import INPUT, NamedPart, parts_of_template
from switchyard.domain.ids import DEFINITION_NAME, QUEUE_NAME
from switchyard.domain.prompts.references import (
    NotAReference,
    UnresolvedReference,
    as_text,
    references_in,
)
from switchyard.domain.scheduling.work_queues import Concurrency
from switchyard.domain.tasks.task import Json

_PER_MINUTE: Final = "m"
_DIGEST_BYTES: Final = 8
_DIGEST: Final = re.compile(r"[0-9a-f]{16}")
_NAME: Final = re.compile(
    rf"([qd])({_PER_MINUTE}?):({QUEUE_NAME.pattern}|{DEFINITION_NAME.pattern}):"
    r"([1-9][0-9]{0,4})(?::(.{1,100}))?",
    re.DOTALL,
)


class LimitScope(StrEnum):
    QUEUE = "q"
    DEFINITION = "d"


class UnresolvedKey(Exception):
    """The key of a limit needs a part that the input does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitName:
    scope: LimitScope
    name: str
    """The queue's, or the definition's."""
    number: int
    per_minute: bool = False
    """Whether it limits how many start per minute, and not how many run at once."""
    key: str | None = None
    """The digest of the key's value; of a fan-out the key's text."""

    @property
    def subject(self) -> str:
        """Return what stays the same when the number changes: what the limit's item is named."""
        key = f":{self.key}" if self.key else ""
        return f"{self.scope}{_PER_MINUTE if self.per_minute else ''}:{self.name}{key}"

    @property
    def resolved(self) -> bool:
        return self.key is None or _DIGEST.fullmatch(self.key) is not None

    def __str__(self) -> str:
        kind = f"{self.scope}{_PER_MINUTE if self.per_minute else ''}"
        return f"{kind}:{self.name}:{self.number}{f':{self.key}' if self.key else ''}"


def parse_limit(text: str) -> LimitName:
    """Raise `ValueError` for what is no name of a limit."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:80]!r} is not the name of a limit")
    return LimitName(
        scope=LimitScope(match[1]),
        per_minute=bool(match[2]),
        name=match[3],
        number=int(match[4]),
        key=match[5],
    )


def limits_of(
    scope: LimitScope,
    name: str,
    concurrency: Concurrency | None,
    starts_per_minute: int | None,
) -> tuple[str, ...]:
    """Return the limits that a queue or a definition says, with the text of a key."""
    named = []
    if concurrency is not None:
        named.append(
            LimitName(scope=scope, name=name, number=concurrency.limit, key=concurrency.key)
        )
    if starts_per_minute is not None:
        named.append(LimitName(scope=scope, name=name, number=starts_per_minute, per_minute=True))
    return tuple(map(str, named))


def resolved_limits(limits: tuple[str, ...], given: Json) -> tuple[str, ...]:
    """Put the digest of its value in the place of each key. Raise `UnresolvedKey`.

    `given` is the literal input of a task.
    """
    return tuple(str(_resolved(parse_limit(text), given)) for text in limits)


def without_value(limit: str) -> str:
    """Return the limit of a task whose input has no value for the key: all such share it."""
    return str(replace(parse_limit(limit), key=key_digest(f"${{{INPUT}[0]}}", [None])))


def _resolved(limit: LimitName, given: Json) -> LimitName:
    if limit.key is None:
        return limit
    return replace(limit, key=key_digest(limit.key, given))


def key_digest(key: str, given: Json) -> str:
    """Return what stands for the value of a key. Raise `UnresolvedKey`."""
    try:
        values = [_value(part, given) for part in parts_of_template(key, of_items=False)]
    except (NotAReference, UnresolvedReference) as problem:
        raise UnresolvedKey(f"the key {key} of a limit has no value: {problem}") from problem
    value = values[0] if len(values) == 1 else "".join(map(as_text, values))
    said = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _value(part: str | NamedPart, given: Json) -> Json:
    """Refuse a part of the input that another task makes: it is not known yet."""
    if isinstance(part, str):
        return part
    value = part.value({INPUT: given})
    if any(True for _ in references_in(value)):
        raise UnresolvedReference(f"{part.text} refers to what another task makes")
    return value
