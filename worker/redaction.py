"""Keeps a credential out of everything that leaves the worker."""

from dataclasses import dataclass

from switchyard.domain.error_text import REDACTED, without_secrets
from switchyard.domain.tasks.task import Json


@dataclass(frozen=True, slots=True)
class Redaction:
    """The agent's shell can read its credential, so whatever it writes may contain it."""

    secret: str | None = None

    def line(self, text: str) -> str:
        """A line for a log: without anything that looks like a secret either."""
        return without_secrets(text.replace(self.secret, REDACTED) if self.secret else text)

    def value(self, value: Json) -> Json:
        """What JSON said, however it spelt it."""
        match value:
            case str() if self.secret:
                return value.replace(self.secret, REDACTED)
            case list():
                return [self.value(inner) for inner in value]
            case dict():
                return {self.value(name): self.value(inner) for name, inner in value.items()}
        return value

    def is_in(self, name: str) -> bool:
        return self.secret is not None and self.secret in name

    def data(self, data: bytes) -> bytes:
        return data.replace(self.secret.encode(), REDACTED.encode()) if self.secret else data
