"""Messages between the worker and the proxy: one JSON object a line, on their own socket."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MAX_LINE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The first line: what the proxy adds, and where it sends it."""

    credential_name: str
    credential_value: str
    upstream: str

    def __repr__(self) -> str:
        return f"Start({self.credential_name}, {self.upstream})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The limits of one attempt."""

    id: int
    token: str
    models: tuple[str, ...]
    seconds: float
    """The time for which the token is valid, if it is not revoked before."""
    cap_usd: float | None = None
    cap_tokens: int | None = None
    """How many tokens its requests may take together: read, written and cached."""
    web_search: bool = False

    def __repr__(self) -> str:
        return f"Register({self.id}, {self.models}, cap_usd={self.cap_usd})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoke:
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The proxy accepts connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotInstalled:
    """A package is missing."""

    package: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The usage of an attempt up to now, as the API reported it."""

    id: int
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float = 0.0
    uncertain_usd: float = 0.0
    """The amount that interrupted answers may have cost beyond what was reported."""
    stopped: str | None = None
    """The reason why the last request was refused, if it was its cost."""
    refusals: Mapping[str, int] = field(default_factory=dict)
    """The number of requests that were refused since the last message, by reason."""
    final: bool = False
    """The token is revoked: nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strangers:
    """Requests that belong to no attempt, since the last message, by reason."""

    refusals: Mapping[str, int]


Message = Start | Register | Revoke | Listening | NotInstalled | Registered | Spent | Strangers
_KINDS: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (Start, Register, Revoke, Listening, NotInstalled, Registered, Spent, Strangers)
}


def encode(message: Message) -> bytes:
    return json.dumps({"is": type(message).__name__, **asdict(message)}).encode() + b"\n"


def decode(line: bytes) -> Message:
    fields = json.loads(line)
    if "models" in fields:
        fields["models"] = tuple(fields["models"])
    message: Message = _KINDS[fields.pop("is")](**fields)
    return message
