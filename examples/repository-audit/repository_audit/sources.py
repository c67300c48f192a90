"""Lists the sources in an archive from elsewhere. Nothing of it is unpacked to the disk."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from switchyard.functions import WrongInput, input_file, progress, task

MAX_ENTRIES: Final = 10_000
MAX_SOURCES: Final = 200
"""The most agents that are paid for one archive."""
MAX_SOURCE_BYTES: Final = 20_000
"""A larger file is skipped: what the archive says of its size is not believed."""
SOURCES: Final = frozenset(
    {".c", ".go", ".java", ".js", ".md", ".py", ".rb", ".rs", ".sh", ".sql", ".ts", ".yaml", ".yml"}
)


@dataclass
class Listed:
    """The sources by their keys, and the names of files that are not reviewed."""

    paths: dict[str, str]
    skipped: list[str]


@task(name="list-sources", timeout="2m", retries=0)
def list_sources() -> Listed:
    """List the sources of the archive `repository`, one on each line of `sources.jsonl`."""
    listed = Listed({}, [])
    try:
        with ZipFile(input_file("job/repository")) as archive:
            lines = list(_lines(archive, listed))
    except (BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise WrongInput(f"the repository is no ZIP archive that can be read: {problem}") from None
    if not lines:
        raise WrongInput(f"the repository has no sources: files that end with {sorted(SOURCES)}")
    Path("artifacts/sources.jsonl").write_text("".join(lines), encoding="utf-8")
    progress(1, f"{len(lines)} sources")
    return listed


def _lines(archive: ZipFile, listed: Listed) -> Iterator[str]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise WrongInput(f"the repository has {len(entries)} files; at most {MAX_ENTRIES} are read")
    for entry in sorted(entries, key=lambda one: one.filename):
        if entry.is_dir() or PurePosixPath(entry.filename).suffix not in SOURCES:
            continue
        text = _text_of(archive, entry) if len(listed.paths) < MAX_SOURCES else None
        if text is None:
            listed.skipped = [*listed.skipped, entry.filename[:200]][:MAX_SOURCES]
            continue
        key = _key(len(listed.paths), entry.filename)
        listed.paths[key] = entry.filename[:200]
        line = {"key": key, "path": entry.filename[:200], "text": text}
        yield f"{json.dumps(line, ensure_ascii=False)}\n"


def _text_of(archive: ZipFile, entry: ZipInfo) -> str | None:
    """Read one file, never more of it than an agent is given; `None` if it is too large."""
    with archive.open(entry) as file:
        content = file.read(MAX_SOURCE_BYTES + 1)
    if len(content) > MAX_SOURCE_BYTES:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _key(number: int, name: str) -> str:
    """Return what the item is called: unique by its number, readable by its name."""
    return f"{number:03}-{re.sub('[^A-Za-z0-9]+', '-', name)[-40:].strip('-')}"
