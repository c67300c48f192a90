"""API keys as they are stored: by their hash, with what operators are shown."""

import re
from dataclasses import dataclass
from typing import Final

_ID_LENGTH: Final = 12
KEY_ID: Final = re.compile(rf"[0-9a-f]{{{_ID_LENGTH}}}")
MAX_LABEL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    key_hash: str
    created_at_ms: int
    label: str | None = None
    last_used_on: str | None = None
    """The day, in UTC."""
    revoked_at_ms: int | None = None

    @property
    def key_id(self) -> str:
        """Return the public id, which distinguishes a tenant's keys and gives no access."""
        return key_id(self.key_hash)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: a tenant, with one of its keys."""

    tenant: str
    key_id: str


def key_id(key_hash: str) -> str:
    return key_hash[:_ID_LENGTH]
