"""Removes the platform's own keys from everything that leaves the worker.

`ENCODINGS` is what `docs/security.md` promises, no more and no less; a test compares them.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from switchyard.domain.error_text import REDACTED, without_secrets
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import without_control_characters

_SHORTEST: Final = 8
"""The shortest part of an encoded key that is redacted: shorter ones could be part of anything."""
_IGNORED: Final = bytes([*range(0x21), 0x7F])
"""ASCII's white space and control characters."""


def _base64(secret: bytes, encode: Callable[[bytes], bytes]) -> Iterable[bytes]:
    """Yield the encoded secret at three offsets, without what depends on neighbouring bytes."""
    for offset in range(3):
        encoded = encode(bytes(offset) + secret)
        yield encoded[-(-offset * 8 // 6) : (offset + len(secret)) * 8 // 6]


ENCODINGS: Final[Mapping[str, Callable[[bytes], Iterable[bytes]]]] = {
    "as it is": lambda secret: [secret],
    "reversed": lambda secret: [secret[::-1]],
    "hexadecimal": lambda secret: [secret.hex().encode(), secret.hex().upper().encode()],
    "base64": lambda secret: _base64(secret, base64.b64encode),
    "base64, URL-safe": lambda secret: _base64(secret, base64.urlsafe_b64encode),
    "percent-encoded": lambda secret: [
        "".join(f"%{byte:02x}" for byte in secret).encode(),
        "".join(f"%{byte:02X}" for byte in secret).encode(),
    ],
}
"""The forms of a key that are found, by their names; each also with ignored characters within."""


@dataclass(frozen=True)
class Redaction:
    """Knows the Claude key and the token of an attempt, and finds them in text and data.

    The agent's shell can read its token, so whatever it writes may contain it. The key is not known
    to it; should it appear all the same, it is removed as well. The work is a fixed number of
    searches for fixed strings, whatever is searched.
    """

    secret: str | None = None
    token: str | None = None

    @property
    def secrets(self) -> list[str]:
        """Return the texts that are removed."""
        return [secret for secret in (self.secret, self.token) if secret]

    @cached_property
    def forms(self) -> tuple[bytes, ...]:
        """Return all forms that are searched for, the longest first."""
        found = {
            form
            for secret in map(str.encode, self.secrets)
            for encoded in ENCODINGS.values()
            for form in encoded(secret)
            if len(form) >= _SHORTEST or form == secret
        }
        return tuple(sorted(found, key=lambda form: (-len(form), form)))

    @property
    def longest(self) -> int:
        """Return how many bytes the longest form has."""
        return len(self.forms[0]) if self.forms else 0

    @cached_property
    def _shortest(self) -> int:
        return min(map(len, self.forms), default=0)

    def value(self, value: Json) -> Json:
        """Redact every text in a JSON value, however it was escaped.

        All texts are searched as one first: there may be a hundred thousand of them.
        """
        return self._redacted(value) if self.is_in("\0".join(_texts_in(value))) else value

    def _redacted(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._redacted(inner) for inner in value]
            case dict():
                return {self.text(name): self._redacted(inner) for name, inner in value.items()}
        return value

    def is_in(self, text: str) -> bool:
        return bool(self._found_in(text.encode("utf-8", "surrogatepass")))

    def text(self, text: str) -> str:
        if len(text) < self._shortest:
            return text
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.data(data)
        return text if redacted is data else redacted.decode("utf-8", "surrogatepass")

    def error(self, text: str) -> str:
        """Redact an error: control characters go first, since that could join parts of a key."""
        return without_secrets(self.text(without_control_characters(text)))

    def data(self, data: bytes) -> bytes:
        """Replace each form of a key; where ignored characters are within one, replace it all.

        A key in pieces is an attempt to pass, and replacing all is cheaper than every piece.
        """
        found = self._found_in(data)
        if not found:
            return data
        for form in found:
            data = data.replace(form, REDACTED.encode())
        return REDACTED.encode() if self._found_in(data) else data

    def _found_in(self, data: bytes) -> list[bytes]:
        if not self.forms:
            return []
        dense = data.translate(None, _IGNORED)
        return [form for form in self.forms if form in dense]


def _texts_in(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts_in(inner)
        case dict():
            for name, inner in value.items():
                yield name
                yield from _texts_in(inner)
