"""Brings what an attempt left behind to the bucket, whatever became of the attempt."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.artifacts import RESULT_FILE
from switchyard.domain.task import Json, Lease
from switchyard.observability import get_logger
from worker.folder import UPLOADED, TaskFolder
from worker.patience import patiently
from worker.redaction import Redaction
from worker.untrusted_file import NotReadable, read_bounded
from worker.waiting import all_of

logger = get_logger("worker")

MAX_FILES: Final = 200
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 100 * 1024 * 1024
MAX_NAME_BYTES: Final = 700  # a key has 1,024, the prefix takes its share
UPLOADS_AT_ONCE: Final = 3  # a slot has four threads, and its lease needs one

RAW_LOGS: Final = ("logs/stdout.log", "logs/stderr.log")

CONTENT_TYPES: Final[Mapping[str, str]] = {
    ".json": "application/json",
    ".log": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
UNKNOWN_TYPE: Final = "application/octet-stream"


def artifacts_prefix(lease: Lease) -> str:
    """The fence is in the key: a zombie's upload changes nobody's result."""
    return f"task/logs/{lease.ref.request_id}/{lease.fence}/"


class Uploader:
    def __init__(self, ports: WorkerPorts, redaction: Redaction) -> None:
        self._ports = ports
        self._redaction = redaction

    async def upload(self, folder: TaskFolder, *, prefix: str, completed: bool) -> bool:
        """Whether there was anything. Raise `Unavailable`; what is too much is left out.

        Of a completed task, what only explains a failure is left out too, and the result, which
        `upload_result` brings.
        """
        names = await self._ports.offload(_names, folder.path, completed=completed)
        room = asyncio.Semaphore(UPLOADS_AT_ONCE)

        async def upload_one(name: str) -> bool:
            path, key = folder.path / name, f"{prefix}{name}"
            async with room:
                return await patiently(self._ports, self._put_file, path, key)

        return any(await all_of(map(upload_one, names)))

    async def upload_result(self, output: Json, *, prefix: str) -> None:
        """The output as it was validated, whatever the file that the child left says."""
        content = json.dumps(output, ensure_ascii=False).encode()
        await patiently(self._ports, self._put, f"{prefix}{RESULT_FILE}", content)

    def _put_file(self, path: Path, key: str) -> bool:
        try:
            content = read_bounded(path, max_bytes=MAX_FILE_BYTES)
        except (NotReadable, FileNotFoundError) as problem:
            logger.warning("file is not uploaded", extra={"key": key, "error": str(problem)})
            return False
        self._put(key, self._redaction.data(content))
        return True

    def _put(self, key: str, content: bytes) -> None:
        content_type = CONTENT_TYPES.get(PurePosixPath(key).suffix.lower(), UNKNOWN_TYPE)
        self._ports.blobs.put(key, content, content_type=content_type)


def _names(folder: Path, *, completed: bool) -> list[str]:
    """Relative to the folder; small ones first, so that the bounds cost the fewest."""
    sizes = {path: path.lstat().st_size for path in _ordinary_files(folder)}
    if completed:
        dispensable = {path for path in sizes if _explains_failures_only(path, folder)}
        sizes = {path: size for path, size in sizes.items() if path not in dispensable}
    chosen: list[str] = []
    total = 0
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        total += sizes[path]
        if len(chosen) == MAX_FILES or total > MAX_TOTAL_BYTES:
            left_out = len(sizes) - len(chosen)
            logger.warning("files are left out", extra={"folder": str(folder), "files": left_out})
            break
        chosen.append(path.relative_to(folder).as_posix())
    return chosen


def _ordinary_files(folder: Path) -> Iterator[Path]:
    for top in UPLOADED:
        if (folder / top).is_symlink():
            continue
        for parent, _, names in os.walk(folder / top):  # follows no links
            for name in names:
                path = Path(parent, name)
                key = path.relative_to(folder).as_posix()
                if not path.is_symlink() and path.is_file() and _can_be_a_key(key):
                    yield path


def _explains_failures_only(path: Path, folder: Path) -> bool:
    name = path.relative_to(folder).as_posix()
    if name in RAW_LOGS:
        return path.lstat().st_size == 0
    return name == RESULT_FILE or fnmatchcase(name, "logs/*.prompt.md")


def _can_be_a_key(name: str) -> bool:
    """An agent may name its files as it likes; neither the bucket nor a log takes every name."""
    return name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES
