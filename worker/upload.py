"""Brings what an attempt left behind to the bucket, whatever became of the attempt."""

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.prompts.artifacts import RESULT_FILE, content_type_of
from switchyard.domain.tasks.task import Json, Lease
from switchyard.observability import get_logger
from worker.folder import UPLOADED, TaskFolder
from worker.patience import patiently
from worker.redaction import Redaction
from worker.untrusted_file import NotReadable, read_bounded
from worker.waiting import all_of

logger = get_logger("worker")

MAX_FILES: Final = 200
MAX_LOOKED_AT: Final = 10_000
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 100 * 1024 * 1024
MAX_NAME_BYTES: Final = 700  # a key has 1,024, the prefix takes its share
UPLOADS_AT_ONCE: Final = 3  # a slot has four threads, and its lease needs one

RAW_LOGS: Final = ("logs/stdout.log", "logs/stderr.log")


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
        names = await self._ports.offload(names_to_upload, folder.path, completed=completed)
        room = asyncio.Semaphore(UPLOADS_AT_ONCE)

        async def upload_one(name: str) -> bool:
            path, key = folder.path / name, f"{prefix}{name}"
            async with room:
                return await patiently(self._ports, self._put_file, path, key)

        tellable = [name for name in names if not self._redaction.is_in(name)]
        return any(await all_of(map(upload_one, tellable)))

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
        self._ports.blobs.put(key, content, content_type=content_type_of(key))


def names_to_upload(folder: Path, *, completed: bool) -> list[str]:
    """Relative to the folder; small ones first, so that the bounds cost the fewest."""
    sizes = dict(islice(_ordinary_files(folder), MAX_LOOKED_AT))
    if completed:
        sizes = {
            path: size
            for path, size in sizes.items()
            if not _explains_failures_only(path.relative_to(folder).as_posix(), size)
        }
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


def _ordinary_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """With their sizes. What the agent made unreadable, or too deep to name, is not among them."""
    for top in UPLOADED:
        if (folder / top).is_symlink():
            continue
        for parent, _, names in os.walk(folder / top):  # follows no links
            for name in names:
                path = Path(parent, name)
                size = _size_of(path)
                if size is not None and _can_be_a_key(path.relative_to(folder).as_posix()):
                    yield path, size


def _size_of(path: Path) -> int | None:
    """`None` if it is no ordinary file, or none that we may look at."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _explains_failures_only(name: str, size: int) -> bool:
    if name in RAW_LOGS:
        return size == 0
    return name == RESULT_FILE or fnmatchcase(name, "logs/*.prompt.md")


def _can_be_a_key(name: str) -> bool:
    """An agent may name its files as it likes; neither the bucket nor a log takes every name."""
    return name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES
