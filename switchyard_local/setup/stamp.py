"""Records what a virtual environment was made from, inside it, once it is complete."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamp:
    location: str
    """Scripts and links inside a virtual environment are absolute: a moved one is broken."""
    packages: str
    claude: bool

    def serves(self, wanted: "Stamp") -> bool:
        same_place_and_packages = (self.location, self.packages) == (
            wanted.location,
            wanted.packages,
        )
        return same_place_and_packages and (self.claude or not wanted.claude)


def digest_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def read_stamp(file: Path) -> Stamp | None:
    """Read the stamp; `None` when setup never finished here."""
    try:
        return Stamp(**json.loads(file.read_text()))
    except (FileNotFoundError, TypeError, ValueError):
        return None


def write_stamp(file: Path, stamp: Stamp) -> None:
    unfinished = file.with_suffix(".tmp")
    unfinished.write_text(json.dumps(asdict(stamp)))
    unfinished.replace(file)
