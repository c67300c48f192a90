"""API keys: made once, shown once, kept as hashes.

A key reads `swy.{tenant}.{secret}`: the tenant in it only says where to look. It is the hash of the
whole key that must be known there, so a key with another tenant written into it opens nothing.
"""

import hashlib
from typing import Final

from switchyard.domain.errors import Rejected
from switchyard.domain.ids import TENANT_ID
from switchyard.ports import ApiKeys, Clock, Ids

_PREFIX: Final = "swy"
_MAX_LENGTH: Final = 200


def issue_api_key(tenant: str, *, keys: ApiKeys, ids: Ids, clock: Clock) -> str:
    if not TENANT_ID.fullmatch(tenant):
        raise Rejected(f"tenant {tenant!r} must be 1 to 63 of a-z 0-9 - and start with a-z 0-9")
    key = f"{_PREFIX}.{tenant}.{ids.new_secret()}"
    keys.add(tenant, _hash(key), now_ms=clock.now_ms())
    return key


def tenant_of(key: str, *, keys: ApiKeys) -> str | None:
    """The tenant that the key belongs to, or `None` for a key that opens nothing."""
    prefix, _, rest = key.partition(".")
    tenant, _, secret = rest.partition(".")
    if len(key) > _MAX_LENGTH or prefix != _PREFIX or not (TENANT_ID.fullmatch(tenant) and secret):
        return None
    return tenant if keys.knows(tenant, _hash(key)) else None


def _hash(key: str) -> str:
    # 256 random bits need no slow hash: there is nothing to guess.
    return hashlib.sha256(key.encode()).hexdigest()
