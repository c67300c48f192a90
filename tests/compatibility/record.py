"""Records the corpus of the version at hand: `make corpus`, before a release is tagged."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from switchyard import VERSION
from tests.compatibility.accepted import accepted_now
from tests.compatibility.novelties import as_text
from tests.compatibility.readers import OPAQUE, read_document, read_item, read_message
from tests.compatibility.recording import Recording, record

CORPUS: Final = Path(__file__).parent / "corpus"


def main() -> int:
    folder = CORPUS / VERSION
    if folder.exists():
        _say(f"{folder} exists: the corpus of a released version never changes.")
        _say(
            f"Set the version in pyproject.toml and switchyard/__init__.py first; it is {VERSION}."
        )
        return 1
    recording = record()
    _write(folder, recording)
    _say(f"The corpus of {VERSION} is in {folder}.")
    return 0


def _write(folder: Path, recording: Recording) -> None:
    watch = recording.watch
    for kind, items in watch.items.found.items():
        lines = ({"item": item, "reads": read_item(kind, item)} for item in items)
        _save(folder / "items" / f"{kind}.jsonl", lines)
    for queue, messages in watch.messages.found.items():
        _save(folder / "messages" / f"{queue}.jsonl", (_read(queue, sent) for sent in messages))
    for kind, documents in watch.documents.found.items():
        name = kind.replace("/", "-")
        _save(folder / "documents" / f"{name}.jsonl", (_document(kind, d) for d in documents))
    for name, moment in recording.moments.items():
        _save(folder / "moments" / f"{name}.json", [moment])
    _save(folder / "answers.jsonl", recording.answers)
    _save(folder / "log.jsonl", recording.log)
    (folder / "ends.json").write_text(_indented(recording.ends))
    (folder / "accepted.json").write_text(_indented(accepted_now(watch)))
    (folder / "about.json").write_text(_indented({"version": VERSION, "revision": _revision()}))


def _read(queue: str, sent: dict[str, Any]) -> dict[str, Any]:
    """Read it with what this version understands, or return why it cannot."""
    try:
        return {**sent, "reads": read_message(queue, sent)}
    except ValueError as error:
        return {**sent, "refused": type(error).__name__}


def _document(kind: str, document: dict[str, Any]) -> dict[str, Any]:
    if kind in OPAQUE:
        return document
    return {**document, "reads": read_document(kind, document["key"], document["text"])}


def _save(path: Path, lines: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{as_text(line)}\n" for line in lines), encoding="utf-8")


def _indented(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def _revision() -> str:
    """Return the revision of the sources; a released version is run again from it."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
