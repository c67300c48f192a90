"""Uploads the files of an attempt to the bucket, whatever became of the attempt."""

import asyncio
import json
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.files import MAX_NAME_BYTES
from switchyard.domain.prompts.artifacts import RESULT_FILE, content_type_of
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Json, Lease, Usage
from switchyard.observability import get_logger
from switchyard.ports import BlobStore
from switchyard_worker.boundary import SUMMARY_FILE
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.commitment_evidence import (
    EVIDENCE_FILE,
    Found,
    changed_since,
    digest_of,
    evidence_document,
)
from switchyard_worker.parent.attempts.counted_figures import with_counted
from switchyard_worker.parent.attempts.left_behind import LeftBehind, left_behind
from switchyard_worker.parent.attempts.required_artifacts import meant, with_required
from switchyard_worker.parent.attempts.verdict import Concluded
from switchyard_worker.parent.coroutines import Runtime, all_of, with_retries
from switchyard_worker.parent.files.confined import NotReadable
from switchyard_worker.parent.files.folder import UPLOADED, TaskFolder
from switchyard_worker.parent.files.trees import Bounds, Clock

logger = get_logger("worker")

MAX_FILES: Final = 200
MAX_LOOKED_AT: Final = 10_000
MAX_LOOKING_SECONDS: Final = 10.0
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 100 * 1024 * 1024
GROWTH_BYTES: Final = 1024 * 1024  # of a log, between the choice of files and its upload
UPLOADS_AT_ONCE: Final = 3  # of the six threads of a slot (PORT_THREADS_PER_SLOT)

RAW_LOGS: Final = ("logs/stdout.log", "logs/stderr.log")


def artifacts_prefix(lease: Lease) -> str:
    """Return the prefix with the fence, so that a zombie's upload changes no other result."""
    return f"task/logs/{lease.ref.request_id}/{lease.fence}/"


class Uploader:
    def __init__(
        self,
        runtime: Runtime,
        blobs: BlobStore,
        redaction: Redaction,
        *,
        counted: Usage | None = None,
    ) -> None:
        """Report `counted`, the usage by the API, if the attempt could use the API."""
        self._runtime = runtime
        self._blobs = blobs
        self._redaction = redaction
        self._counted = counted
        self._left_behind = LeftBehind()
        self.digests: dict[str, str] = {}
        """The SHA-256 of each file of interest as it was uploaded."""

    async def upload(
        self,
        folder: TaskFolder,
        *,
        prefix: str,
        completed: bool,
        required: Sequence[str] = (),
        of_interest: Collection[str] = (),
    ) -> list[str]:
        """Upload files within bounds; return the names of those. Raise `Unavailable`.

        Of a completed task, what only explains a failure is left out too, and the result, which
        `upload_result` brings.
        """
        sizes = await self._runtime.offload(
            files_to_upload,
            folder,
            completed=completed,
            monotonic=self._runtime.clock.monotonic,
            required=required,
        )
        await self._look_elsewhere(folder, prefix)
        room = asyncio.Semaphore(UPLOADS_AT_ONCE)

        async def upload_one(name: str) -> bool:
            most = min(MAX_FILE_BYTES, sizes[name] + GROWTH_BYTES)
            async with room:
                content = await with_retries(
                    self._runtime, self._put_file, folder, name, f"{prefix}{name}", most
                )
            if content is not None and name in of_interest:
                self.digests[name] = await self._runtime.offload(digest_of, content)
            return content is not None

        emittable = [name for name in sizes if not self._redaction.is_in(name)]
        if len(emittable) < len(sizes):
            fields = {"key": prefix, "files": len(sizes) - len(emittable)}
            logger.warning("files whose names contain a key are not uploaded", extra=fields)
        uploaded = await all_of(map(upload_one, emittable))
        return [name for name, there in zip(emittable, uploaded, strict=True) if there]

    async def _look_elsewhere(self, folder: TaskFolder, prefix: str) -> None:
        found = await self._runtime.offload(
            left_behind, folder, self._redaction, monotonic=self._runtime.clock.monotonic
        )
        self._left_behind = found
        if found.count:
            fields = {"key": prefix, "files": found.count, "names": list(found.listed)}
            logger.info("files outside artifacts are not stored", extra=fields)

    async def upload_result(self, output: Json, *, prefix: str) -> None:
        """Upload the output as it was validated, in place of the child's own file."""
        content = await self._runtime.offload(_json_bytes, output)
        await with_retries(self._runtime, self._put, f"{prefix}{RESULT_FILE}", content)

    async def upload_evidence(self, content: bytes, *, prefix: str) -> None:
        await with_retries(self._runtime, self._put, f"{prefix}{EVIDENCE_FILE}", content)

    def _put_file(self, folder: TaskFolder, name: str, key: str, most: int) -> bytes | None:
        """Return what was uploaded, or nothing if the file is not there or not readable."""
        try:
            content = folder.read(name, max_bytes=most)
        except (NotReadable, FileNotFoundError) as problem:
            logger.warning("file is not uploaded", extra={"key": key, "error": str(problem)})
            return None
        if name == SUMMARY_FILE and self._left_behind.count:
            content += f"{self._left_behind}\n".encode()
        content = self._redaction.data(content)
        if self._counted is not None:
            content = with_counted(name, content, self._counted)
        self._put(key, content)
        return content

    def _put(self, key: str, content: bytes) -> None:
        self._blobs.put(key, content, content_type=content_type_of(key))


def _json_bytes(output: Json) -> bytes:
    return json.dumps(output, ensure_ascii=False).encode()


def files_to_upload(
    folder: TaskFolder, *, completed: bool, monotonic: Clock, required: Sequence[str] = ()
) -> dict[str, int]:
    """Return names and sizes: required artifacts first, then small files before large ones, so
    that the bounds cost the fewest.
    """
    bounds = Bounds(
        entries=MAX_LOOKED_AT, ends_at=monotonic() + MAX_LOOKING_SECONDS, monotonic=monotonic
    )
    found = folder.files(UPLOADED, bounds)
    sizes = {
        name: size
        for name, size in found.sizes.items()
        if not (completed and _explains_failures_only(name, size)) and name != EVIDENCE_FILE
    }
    for name in [name for name in sizes if not _can_be_a_key(name)]:
        del sizes[name]
        found.refuse("has a name that cannot be stored")
    chosen: dict[str, int] = {}
    total = 0
    for name in sorted(sizes, key=lambda name: (not meant(name, required), sizes[name], name)):
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


def collectable(folder: TaskFolder, required: Sequence[str], monotonic: Clock) -> list[str]:
    """Return the names of files that a completed task leaves and that are small enough."""
    sizes = files_to_upload(folder, completed=True, monotonic=monotonic, required=required)
    return [name for name, size in sizes.items() if size <= MAX_FILE_BYTES]


def _explains_failures_only(name: str, size: int) -> bool:
    if name in RAW_LOGS:
        return size == 0
    return name == RESULT_FILE or fnmatchcase(name, "logs/*.prompt.md")


def _can_be_a_key(name: str) -> bool:
    """Return whether a name of an agent's file can be stored in the bucket and logged."""
    return name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES


RESULT_ROUNDS: Final = 12
LONGEST_PAUSE_SECONDS: Final = 30.0


class AttemptFiles:
    def __init__(
        self,
        runtime: Runtime,
        blobs: BlobStore,
        redaction: Redaction,
        *,
        counted: Usage | None = None,
    ) -> None:
        self._runtime = runtime
        self._uploader = Uploader(runtime, blobs, redaction, counted=counted)

    async def stored(
        self,
        verdict: Concluded,
        folder: TaskFolder,
        *,
        prefix: str,
        required: Sequence[str] = (),
        found: Found | None = None,
        committed: Sequence[str] = (),
    ) -> Concluded:
        """Upload a result until it is durable, then other files; add the prefix to the verdict.

        A completed task has failed that lacks what is `required` of its artifacts, or whose files
        are not uploaded as they were `found` to be; `committed` are their patterns.
        """
        verdict = await self._unless_missing(verdict, folder, required)
        if verdict.completed:
            try:
                await self._store_result(verdict, prefix)
            except Unavailable as outage:
                return _lost(verdict, outage)
        try:
            uploaded = await self._uploader.upload(
                folder,
                prefix=prefix,
                completed=verdict.completed,
                required=[*required, *committed],
                of_interest=found.digests if found else (),
            )
        except Unavailable as outage:
            if verdict.completed and (required or found):
                return _lost(verdict, outage, what="artifacts")
            logger.warning("files are not uploaded", extra={"key": prefix, "error": str(outage)})
            uploaded = []
        if verdict.completed:
            verdict = with_required(verdict, required, uploaded)
        verdict = await self._with_evidence(verdict, found, prefix)
        uploaded += [EVIDENCE_FILE] if found else []
        return verdict.changed(artifacts=prefix) if uploaded or verdict.completed else verdict

    async def _unless_missing(
        self, verdict: Concluded, folder: TaskFolder, required: Sequence[str]
    ) -> Concluded:
        """Look for what is required before anything is uploaded."""
        if not (verdict.completed and required):
            return verdict
        clock = self._runtime.clock
        names = await self._runtime.offload(collectable, folder, required, clock.monotonic)
        return with_required(verdict, required, names)

    async def _with_evidence(
        self, verdict: Concluded, found: Found | None, prefix: str
    ) -> Concluded:
        """Compare what was uploaded with what was checked, and upload what was found."""
        if found is None:
            return verdict
        if verdict.completed:
            verdict = changed_since(verdict, found, self._uploader.digests)
        evidence = evidence_document(found, verdict.checked or found.checked)
        try:
            await self._uploader.upload_evidence(evidence, prefix=prefix)
        except Unavailable as outage:  # the task's own item says the same in fewer words
            logger.warning("evidence is not uploaded", extra={"key": prefix, "error": str(outage)})
        return verdict

    async def _store_result(self, verdict: Concluded, prefix: str) -> None:
        """Try for minutes: the result was paid for, and the lease is renewed meanwhile."""
        for _ in range(RESULT_ROUNDS - 1):
            try:
                return await self._uploader.upload_result(verdict.output, prefix=prefix)
            except Unavailable as outage:
                fields = {"key": prefix, "error": str(outage)}
                logger.warning("result is not uploaded yet", extra=fields)
            await self._runtime.sleep(self._runtime.randomness.between(0, LONGEST_PAUSE_SECONDS))
        return await self._uploader.upload_result(verdict.output, prefix=prefix)


def _lost(completed: Concluded, outage: Unavailable, *, what: str = "result") -> Concluded:
    error = f"its {what} could not be uploaded: {outage}"
    return completed.but_failed(FailureCategory.NETWORK, error)
