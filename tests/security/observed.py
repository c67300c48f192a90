"""What was seen of an attack, as the attacked worker writes it and others read it."""

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(kw_only=True)
class Observed:
    """What was seen of one attack. Other processes decide what that means."""

    name: str
    request_ids: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    cost_usd: float = 0.0
    uploaded: dict[str, str] = field(default_factory=dict)
    """Types of files in the bucket, by their names."""
    leaked: list[str] = field(default_factory=list)
    log: str = ""
    seconds: float = 0.0
    pause_ms: int = 0
    raw_pause_ms: int = 0
    """With the time in which other programs had the processors."""
    machine_ms: int = 0
    behind: str | None = None
    lost: bool = False
    left_processes: int = 0
    left_files: list[str] = field(default_factory=list)


def loot(path: Path) -> bytes:
    """Read what a child left; it opens its file to others a moment after it has made it."""
    for _ in range(50):
        with contextlib.suppress(PermissionError):
            return path.read_bytes()
        time.sleep(0.1)
    return path.read_bytes()
