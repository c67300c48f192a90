"""Brings what an attempt left behind to the bucket, whatever became of the attempt."""

import asyncio
import json
from fnmatch import fnmatchcase
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.prompts.artifacts import RESULT_FILE, content_type_of
from switchyard.domain.tasks.task import Json, Lease, Usage
from switchyard.observability import get_logger
from worker.confined import NotReadable
from worker.counted_figures import with_counted
from worker.folder import UPLOADED, TaskFolder
from worker.patience import patiently
from worker.redaction import Redaction
from worker.trees import Bounds, Clock
from worker.waiting import all_of

logger = get_logger("worker")

MAX_FILES: Final = 200
MAX_LOOKED_AT: Final = 10_000
MAX_LOOKING_SECONDS: Final = 10.0
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 100 * 1024 * 1024
MAX_NAME_BYTES: Final = 700  # a key has 1,024, the prefix takes its share
GROWTH_BYTES: Final = 1024 * 1024  # of a log, between the choice of files and its upload
UPLOADS_AT_ONCE: Final = 3  # a slot has four threads, and its lease needs one

RAW_LOGS: Final = ("logs/stdout.log", "logs/stderr.log")


def artifacts_prefix(lease: Lease) -> str:
    """The fence is in the key: a zombie's upload changes nobody's result."""
    return f"task/logs/{lease.ref.request_id}/{lease.fence}/"


class Uploader:
    def __init__(
        self, ports: WorkerPorts, redaction: Redaction, *, counted: Usage | None = None
    ) -> None:
        """`counted` is what the API reported, where the attempt could ask it anything."""
        self._ports = ports
        self._redaction = redaction
        self._counted = counted

    async def upload(self, folder: TaskFolder, *, prefix: str, completed: bool) -> bool:
        """Whether there was anything. Raise `Unavailable`; what is too much is left out.

        Of a completed task, what only explains a failure is left out too, and the result, which
        `upload_result` brings.
        """
        sizes = await self._ports.offload(
            files_to_upload, folder, completed=completed, monotonic=self._ports.clock.monotonic
        )
        room = asyncio.Semaphore(UPLOADS_AT_ONCE)

        async def upload_one(name: str) -> bool:
            most = min(MAX_FILE_BYTES, sizes[name] + GROWTH_BYTES)
            async with room:
                return await patiently(
                    self._ports, self._put_file, folder, name, f"{prefix}{name}", most
                )

        tellable = [name for name in sizes if not self._redaction.is_in(name)]
        if len(tellable) < len(sizes):
            fields = {"key": prefix, "files": len(sizes) - len(tellable)}
            logger.warning("files whose names contain a key are not uploaded", extra=fields)
        return any(await all_of(map(upload_one, tellable)))

    async def upload_result(self, output: Json, *, prefix: str) -> None:
        """The output as it was validated, whatever the file that the child left says."""
        content = await self._ports.offload(_json_bytes, output)
        await patiently(self._ports, self._put, f"{prefix}{RESULT_FILE}", content)

    def _put_file(self, folder: TaskFolder, name: str, key: str, most: int) -> bool:
        try:
            content = folder.read(name, max_bytes=most)
        except (NotReadable, FileNotFoundError) as problem:
            logger.warning("file is not uploaded", extra={"key": key, "error": str(problem)})
            return False
        content = self._redaction.data(content)
        if self._counted is not None:
            content = with_counted(name, content, self._counted)
        self._put(key, content)
        return True

    def _put(self, key: str, content: bytes) -> None:
        self._ports.blobs.put(key, content, content_type=content_type_of(key))


def _json_bytes(output: Json) -> bytes:
    return json.dumps(output, ensure_ascii=False).encode()


def files_to_upload(folder: TaskFolder, *, completed: bool, monotonic: Clock) -> dict[str, int]:
    """Return names and sizes; small files first, so that the bounds cost the fewest."""
    bounds = Bounds(
        entries=MAX_LOOKED_AT, ends_at=monotonic() + MAX_LOOKING_SECONDS, monotonic=monotonic
    )
    found = folder.files(UPLOADED, bounds)
    sizes = {
        name: size
        for name, size in found.sizes.items()
        if not (completed and _explains_failures_only(name, size))
    }
    for name in [name for name in sizes if not _can_be_a_key(name)]:
        del sizes[name]
        found.refuse("has a name that cannot be stored")
    chosen: dict[str, int] = {}
    total = 0
    for name in sorted(sizes, key=lambda name: (sizes[name], name)):
        total += sizes[name]
        if len(chosen) == MAX_FILES or total > MAX_TOTAL_BYTES:
            break
        chosen[name] = sizes[name]
    left_out = len(sizes) - len(chosen)
    if left_out or bounds.exceeded or found.refused:
        fields = {
            "folder": str(folder.path),
            "files": left_out,
            "too_much": bounds.exceeded,
            "refused": dict(found.refused),
        }
        logger.warning("files are left out", extra=fields)
    return chosen


def _explains_failures_only(name: str, size: int) -> bool:
    if name in RAW_LOGS:
        return size == 0
    return name == RESULT_FILE or fnmatchcase(name, "logs/*.prompt.md")


def _can_be_a_key(name: str) -> bool:
    """An agent may name its files as it likes; neither the bucket nor a log takes every name."""
    return name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES
