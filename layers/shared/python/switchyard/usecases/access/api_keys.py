"""API keys: made once, shown once, stored as hashes, revoked for good.

A key reads `swy.{tenant}.{secret}`: the tenant in it only says where to look. It is the hash of the
whole key that must be known there, so a key with another tenant written into it opens nothing.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from switchyard.domain.access.api_keys import KEY_ID, MAX_LABEL, ApiKey, Caller, key_id
from switchyard.domain.errors import Rejected, Unavailable, UnknownKey
from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.domain.moments import day_of
from switchyard.domain.text import without_control_characters
from switchyard.ports import ApiKeys, Clock, Ids

_PREFIX: Final = "swy"
_MAX_LENGTH: Final = 200


@dataclass(frozen=True, kw_only=True)
class KeyRing:
    """Operators' actions on the keys of a stage."""

    keys: ApiKeys
    ids: Ids
    clock: Clock

    def issue(self, tenant: str, *, label: str | None = None) -> str:
        """The key itself, this once."""
        _require_tenant(tenant)
        name = without_control_characters(label).strip() if label is not None else None
        if name is not None and not 1 <= len(name) <= MAX_LABEL:
            raise Rejected(f"a key's name is 1 to {MAX_LABEL} characters")
        key = f"{_PREFIX}.{tenant}.{self.ids.new_secret()}"
        self.keys.add(tenant, _hash(key), label=name, now_ms=self.clock.now_ms())
        return key

    def all(self, tenant: str) -> tuple[ApiKey, ...]:
        """Return all keys of a tenant, revoked ones too, the oldest first."""
        _require_tenant(tenant)
        return self.keys.all(tenant)

    def revoke(self, tenant: str, key_id: str) -> ApiKey:
        """Revoke a key for good. Raise `UnknownKey`."""
        _require_tenant(tenant)
        found = [key for key in self.keys.all(tenant) if key.key_id == key_id]
        if not KEY_ID.fullmatch(key_id) or not found:
            raise UnknownKey(tenant, key_id)
        # Two keys with the same 48 bits are as good as impossible; if so, both are meant.
        revoked = [self._revoked(tenant, key) for key in found]
        return revoked[0]

    def _revoked(self, tenant: str, key: ApiKey) -> ApiKey:
        return self.keys.revoke(tenant, key.key_hash, now_ms=self.clock.now_ms())


@dataclass(frozen=True, kw_only=True)
class KeyMove:
    """Moves the keys of a stage that is older than the table of keys out of its state table."""

    earlier: ApiKeys
    keys: ApiKeys

    def move(self, *, keep: bool) -> list[tuple[str, ApiKey]]:
        """Move every key with its history, or copy it, and return what was moved.

        It may be repeated, also after it ended halfway. A key that is revoked in either place is
        revoked in the new one.
        """
        moved = sorted(self.earlier.everyones(), key=lambda one: (one[0], one[1].created_at_ms))
        for tenant, key in moved:
            self.keys.take_over(tenant, key)
            if not keep:
                self.earlier.delete(tenant, key.key_hash)
        return moved

    def copy_back(self) -> list[tuple[str, ApiKey]]:
        """Copy every key to the state table, before a release that only looks there is deployed.

        It may be repeated. A key that is revoked in either place is revoked in the state table.
        """
        copied = sorted(self.keys.everyones(), key=lambda one: (one[0], one[1].created_at_ms))
        for tenant, key in copied:
            self.earlier.take_over(tenant, key)
        return copied


def caller_with(key: str, *, keys: ApiKeys, clock: Clock) -> Caller | None:
    """Return the owner of the key, or `None` for a key that is unknown or revoked."""
    tenant = _tenant_in(key)
    found = keys.find(tenant, _hash(key)) if tenant else None
    if tenant is None or found is None or found.revoked_at_ms is not None:
        return None
    today = day_of(clock.now_ms())
    if found.last_used_on != today:
        with suppress(Unavailable):  # the day is for people to read: no request is refused for it
            keys.note_use(tenant, found.key_hash, day=today)
    return Caller(tenant, found.key_id)


def id_of_key(key: str) -> str:
    """Return the id by which lists show the key."""
    return key_id(_hash(key))


def _tenant_in(key: str) -> str | None:
    prefix, _, rest = key.partition(".")
    tenant, _, secret = rest.partition(".")
    if len(key) > _MAX_LENGTH or prefix != _PREFIX or not (TENANT_ID.fullmatch(tenant) and secret):
        return None
    return tenant


def _require_tenant(tenant: str) -> None:
    if not TENANT_ID.fullmatch(tenant):
        raise Rejected(f"tenant {tenant!r} must be {TENANT_ID_RULE}")


def _hash(key: str) -> str:
    # 256 random bits need no slow hash: there is nothing to guess.
    return hashlib.sha256(key.encode()).hexdigest()
