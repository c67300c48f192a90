"""Keeps a credential out of everything that leaves the worker."""

from dataclasses import dataclass

from switchyard.domain.error_text import REDACTED, without_secrets


@dataclass(frozen=True, slots=True)
class Redaction:
    """The agent's shell can read its credential, so whatever it writes may contain it."""

    secret: str | None = None

    def line(self, text: str) -> str:
        """A line for a log: without anything that looks like a secret either."""
        return without_secrets(text.replace(self.secret, REDACTED) if self.secret else text)

    def data(self, data: bytes) -> bytes:
        return data.replace(self.secret.encode(), REDACTED.encode()) if self.secret else data
