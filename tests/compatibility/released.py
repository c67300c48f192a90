"""The corpora of released versions, as the suite reads them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CORPUS: Final = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True)
class Released:
    folder: Path

    def __str__(self) -> str:
        return self.folder.name

    @property
    def revision(self) -> str:
        """The commit whose sources recorded it."""
        return str(self.json("about")["revision"])

    @property
    def suite(self) -> str | None:
        """The commit whose suite runs with these sources; `None` if the release has its own."""
        about = self.json("about")
        return str(about["suite"]) if "suite" in about else None

    def json(self, name: str) -> Any:
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def lines(self, name: str) -> list[Any]:
        text = (self.folder / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def kinds(self, folder: str) -> Iterator[tuple[str, list[Any]]]:
        """The name of each file in a folder, and its lines."""
        for path in sorted((self.folder / folder).iterdir()):
            yield path.stem, self.lines(f"{folder}/{path.stem}")


RELEASED: Final = tuple(
    Released(folder) for folder in sorted(CORPUS.iterdir()) if (folder / "about.json").exists()
)
