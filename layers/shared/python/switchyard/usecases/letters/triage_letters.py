"""Sorts what is kept by its cause: a person mends causes, not messages."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from switchyard.contracts.kept import Kept, Unreadable
from switchyard.contracts.wire import Written
from switchyard.domain.causes import cause_of, code_of
from switchyard.domain.errors import UnknownLetter

UNREADABLE = "cannot be read"


class Cause(Written):
    code: str
    """What `redrive --cause` calls it."""
    queue: str
    cause: str
    count: int
    oldest: datetime
    """When it was kept, as is the next."""
    newest: datetime
    example: str
    """The id of the newest."""


def by_cause(letters: Iterable[Kept | Unreadable]) -> list[Cause]:
    """The commonest first."""
    groups: dict[tuple[str, str], list[Kept | Unreadable]] = {}
    for kept in letters:
        groups.setdefault(_sorted_under(kept), []).append(kept)
    return sorted((_cause(*name, found) for name, found in groups.items()), key=_commonest_first)


def of_cause(letters: Iterable[Kept | Unreadable], code: str) -> list[Kept]:
    """Those that can be sent again, the oldest first. Raise `UnknownLetter` if there are none."""
    chosen = [
        kept for kept in letters if isinstance(kept, Kept) and code_of(*_sorted_under(kept)) == code
    ]
    if not chosen:
        raise UnknownLetter(f"nothing is kept for a cause {code!r}")
    return sorted(chosen, key=lambda kept: kept.kept_at)


def _sorted_under(kept: Kept | Unreadable) -> tuple[str, str]:
    if isinstance(kept, Unreadable):
        return "", UNREADABLE
    return kept.queue, cause_of(kept.reason)


def _cause(queue: str, cause: str, found: Sequence[Kept | Unreadable]) -> Cause:
    newest = max(found, key=lambda kept: kept.kept_at)
    return Cause(
        code=code_of(queue, cause),
        queue=queue,
        cause=cause,
        count=len(found),
        oldest=min(kept.kept_at for kept in found),
        newest=newest.kept_at,
        example=newest.id,
    )


def _commonest_first(cause: Cause) -> tuple[int, str, str]:
    return -cause.count, cause.queue, cause.cause
