"""Checks files that a task has committed to, as they will be stored.

Only what an upload would choose counts: ordinary files of the task's user below `artifacts`, by the
same walk that follows no link. Each is read without the platform's keys, as it is uploaded, and its
SHA-256 is remembered: a file whose content is another when it is uploaded fails the attempt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.commitments import Commitment
from switchyard.domain.jobs.files import matches
from switchyard.domain.prompts.artifacts import ARTIFACTS
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.commitment_evidence import Evidence, digest_of
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.upload import MAX_FILE_BYTES, files_to_upload
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.confined import NotReadable
from switchyard_worker.parent.files.folder import TaskFolder

MAX_NAME_CHARACTERS: Final = 80


class _NotMet(Exception):
    """Says why a file does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftFiles:
    """The artifacts of an attempt whose processes have all ended."""

    runtime: Runtime
    guard: GuardClient
    folder: TaskFolder
    redaction: Redaction
    names: Sequence[str]
    """In the attempt's folder, so each begins with `artifacts/`."""

    @classmethod
    async def found(
        cls,
        runtime: Runtime,
        guard: GuardClient,
        folder: TaskFolder,
        redaction: Redaction,
        *,
        required: Sequence[str],
    ) -> "LeftFiles":
        """Find what would be uploaded; files that a pattern in `required` means come first."""
        sizes = await runtime.offload(
            files_to_upload,
            folder,
            completed=True,
            monotonic=runtime.clock.monotonic,
            required=required,
        )
        names = [name for name in sizes if name.startswith(f"{ARTIFACTS}/")]
        return cls(
            runtime=runtime, guard=guard, folder=folder, redaction=redaction, names=sorted(names)
        )

    async def check(self, commitment: Commitment) -> Evidence:
        """Raise `GuardUnavailable`."""
        pattern = commitment.path or ""
        meant = [name for name in self.names if matches(_shown(name), pattern)]
        problem = _count_problem(commitment, meant, self.names)
        if problem:
            return Evidence(met=False, reason=problem)
        digests: dict[str, str] = {}
        size = 0
        for name in meant:
            try:
                content = await self.runtime.offload(self.read, name)
                digests[name] = await self.runtime.offload(digest_of, content)
                _check(commitment, content, digests[name])
                await self._check_schema(commitment, content)
            except (_NotMet, NotReadable, FileNotFoundError) as why:
                said = "it is gone" if isinstance(why, FileNotFoundError) else why
                return Evidence(met=False, reason=f"{_short(name)}: {said}", files=digests)
            size += len(content)
        return Evidence(met=True, reason=_counted(meant, size, digests), files=digests)

    def read(self, name: str) -> bytes:
        """Read a file as it will be uploaded. Raise `NotReadable` or `FileNotFoundError`."""
        return self.redaction.data(self.folder.read(name, max_bytes=MAX_FILE_BYTES))

    async def _check_schema(self, commitment: Commitment, content: bytes) -> None:
        if commitment.json_schema is None:
            return
        finding = await self.guard.check_value(content, commitment.json_schema)
        if finding.wrong is not None:
            raise _NotMet(f"{finding.wrong}: {finding.message}")


def _check(commitment: Commitment, content: bytes, digest: str) -> None:
    """Check size and content of one file. Raise `_NotMet`."""
    least = 1 if commitment.min_bytes is None else commitment.min_bytes
    if not content and least:
        raise _NotMet("is empty")
    if len(content) < least:
        raise _NotMet(f"has {len(content):,} bytes, at least {least:,} are needed")
    if commitment.max_bytes is not None and len(content) > commitment.max_bytes:
        raise _NotMet(f"has {len(content):,} bytes, at most {commitment.max_bytes:,} are allowed")
    if commitment.sha256 is not None and digest != commitment.sha256:
        raise _NotMet(f"has the SHA-256 {digest}, not {commitment.sha256}")


def _count_problem(
    commitment: Commitment, meant: Sequence[str], names: Sequence[str]
) -> str | None:
    least, most = commitment.min_count or 1, commitment.max_count
    if not meant:
        left = ", ".join(map(_short, names[:5])) or "nothing that can be stored"
        return f"nothing in {ARTIFACTS} matches {commitment.path}; the task left {left}"
    if len(meant) < least:
        return f"{len(meant)} files match {commitment.path}, at least {least} are needed"
    if most is not None and len(meant) > most:
        return f"{len(meant)} files match {commitment.path}, at most {most} are allowed"
    return None


def _counted(names: Sequence[str], size: int, digests: Mapping[str, str]) -> str:
    if len(names) == 1:
        return f"{_short(names[0])} has {size:,} bytes, SHA-256 {digests[names[0]][:16]}…"
    return f"{len(names)} files have {size:,} bytes"


def _shown(name: str) -> str:
    return name.removeprefix(f"{ARTIFACTS}/")


def _short(name: str) -> str:
    return _shown(name)[:MAX_NAME_CHARACTERS]
