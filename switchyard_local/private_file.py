"""JSON files that only their owner may read, replaced whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any


def write_private(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".tmp")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as handle:
        json.dump(content, handle, indent=2)
    unfinished.replace(file)


def read_private(file: Path) -> dict[str, Any]:
    """Return the content; empty when the file is missing or damaged, so that it is made anew."""
    try:
        content = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
