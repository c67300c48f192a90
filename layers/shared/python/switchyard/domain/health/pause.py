"""Whether the workers of a stage take tasks. People stop them when something goes wrong."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    since_ms: int
    reason: str | None = None
