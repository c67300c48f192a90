"""Writes the end of a page of events as an opaque cursor, which callers hand back.

A cursor names a place in time and the questions that it belongs to. It only ever narrows them:
whatever it says, nothing of another tenant answers, and nothing outside the asked range.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.events.event_queries import EventQuery

_FOREIGN: Final = "cursor: not one that a page of events returned"
_PLACE: Final = re.compile(r"TIMESTAMP#\d{13,15}#EVENT#[0-9a-zA-Z-]{1,64}")


def cursor_at(sort_key: str, queries: Sequence[EventQuery], *, newest_first: bool) -> str:
    """Return the cursor; `sort_key` is the table's, of the last event on the page."""
    text = json.dumps([sort_key, _asked(queries, newest_first=newest_first)])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str, queries: Sequence[EventQuery], *, newest_first: bool) -> str:
    """Raise `Rejected` for a cursor that these questions, in this order, did not return."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        sort_key, asked = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise Rejected(_FOREIGN) from None
    if asked != _asked(queries, newest_first=newest_first) or not isinstance(sort_key, str):
        raise Rejected("cursor: it belongs to another question; ask the same one, or leave it out")
    if not _PLACE.fullmatch(sort_key):
        raise Rejected(_FOREIGN)
    return sort_key


def _asked(queries: Sequence[EventQuery], *, newest_first: bool) -> str:
    identity = json.dumps([newest_first, *(query.identity for query in queries)])
    return hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()
