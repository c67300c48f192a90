"""Finds the files that a task is given, and places them in its folder before its child starts.

Only what a task names is looked up: files of its own job, and artifacts of the tasks before it that
completed. Contents stream from the bucket to the disk, and are compared with their checksums.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.domain.errors import DamagedBlob, MissingBlob, Rejected, Unavailable
from switchyard.domain.fan_out.items import folders_in, ids_in
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.ids import TaskRef, in_scope
from switchyard.domain.jobs.files import (
    MAX_INPUT_BYTES,
    MAX_INPUT_FILES,
    MAX_INPUT_ITEMS,
    MEGABYTE,
    OF_THE_JOB,
    FileReference,
    JobFile,
    first_conflict,
    may_be_below,
    name_problem,
)
from switchyard.domain.prompts.artifacts import ARTIFACTS, upload_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Task
from switchyard.ports import BlobStore, Payloads, TaskLeases
from switchyard.usecases.jobs.job_files import read_job_files
from switchyard_worker.boundary import InputFile
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict, failed
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.inputs import InputsFolder
from switchyard_worker.parent.health.machine import not_started

DELAY_AFTER_OUTAGE_MS: Final = 10_000

MOST_LISTED: Final = 1_000
"""The most files of one task that are looked at; a worker uploads no more than 201."""
MOST_NAMED: Final = 10
"""The most names that a sentence about a missing file gives."""


class NoSuchInput(Rejected):
    """A file that the task names is not there, or the files are too many or too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFinder:
    """Finds out which files a task means, and where they are."""

    leases: TaskLeases
    payloads: Payloads
    blobs: BlobStore
    max_bytes: int = MAX_INPUT_BYTES

    def found_for(
        self, task: Task, files: Sequence[str], scope: str | None = None
    ) -> tuple[InputFile, ...]:
        """Raise `NoSuchInput` or `Unavailable`. `scope` is the job whose template names tasks."""
        references = [FileReference.parse(text) for text in files]
        available = self._available(task, references, scope)
        chosen: dict[str, InputFile] = {}
        for reference in references:
            there = available[reference.source]
            names = reference.among(there)
            if not names:
                raise NoSuchInput(_nothing_matches(reference, sorted(there)))
            for name in names:
                chosen[f"{reference.source}/{name}"] = there[name]
        inputs = tuple(chosen[name] for name in sorted(chosen))
        self._check(inputs)
        return inputs

    def _available(
        self, task: Task, references: Sequence[FileReference], scope: str | None
    ) -> dict[str, dict[str, InputFile]]:
        """Return the files of each source by their names, without the source."""
        patterns: dict[str, list[str]] = {}
        for reference in references:
            patterns.setdefault(reference.source, []).append(reference.pattern)
        job = task.ref.job
        refs = {name: job.task(in_scope(scope, name)) for name in patterns if name != OF_THE_JOB}
        seen = self._seen([*refs.values()])
        available = {
            name: dict(self._artifacts(name, seen.get(ref), patterns[name]))
            for name, ref in refs.items()
        }
        if OF_THE_JOB in patterns:
            files = self._job_files(task)
            available[OF_THE_JOB] = {file.name: _of_job(task, file) for file in files}
        return available

    def _job_files(self, task: Task) -> Sequence[JobFile]:
        try:
            return read_job_files(task.ref.job, self.blobs)
        except MissingBlob as error:
            raise NoSuchInput("the files of the job are gone: they have expired") from error

    def _seen(self, refs: Sequence[TaskRef]) -> dict[TaskRef, Task]:
        found = self.leases.look_at(refs) if refs else {}
        return {ref: seen.task for ref, seen in found.items()}

    def _artifacts(
        self, source: str, made_by: Task | None, patterns: Sequence[str]
    ) -> Iterator[tuple[str, InputFile]]:
        if made_by is None or made_by.state is not TaskState.COMPLETED:
            raise NoSuchInput(f"files: {source!r} did not complete, so it has no artifacts")
        if not made_by.fans_out:
            yield from self._left_by(made_by, source, folder="")
            return
        items = self._items(made_by, patterns)
        seen = self._seen([*items.values()])
        for folder, ref in items.items():
            if ref in seen and seen[ref].state is TaskState.COMPLETED:
                yield from self._left_by(seen[ref], source, folder=f"{folder}/")

    def _items(self, fan_out: Task, patterns: Sequence[str]) -> dict[str, TaskRef]:
        """Return the items that patterns may mean, by the folders that their artifacts are in."""
        shape = self.payloads.read(start_of(fan_out)).input or ()
        name, job = fan_out.ref.task_id, fan_out.ref.job
        meant = {
            folder: job.task(item)
            for folder, item in zip(folders_in(shape), ids_in(shape, name), strict=True)
            if any(may_be_below(folder, pattern) for pattern in patterns)
        }
        if len(meant) > MAX_INPUT_ITEMS:
            raise NoSuchInput(
                f"files: {len(meant):,} items of {name!r} are meant; artifacts of at most "
                f"{MAX_INPUT_ITEMS} are given to one task: name items by their keys"
            )
        return meant

    def _left_by(self, task: Task, source: str, *, folder: str) -> Iterator[tuple[str, InputFile]]:
        stored = task.outcome.artifacts if task.outcome else None
        if stored is None:  # no worker ran it
            return
        prefix = f"{stored}{ARTIFACTS}/"
        for blob in islice(self.blobs.listed(prefix), MOST_LISTED):
            name = f"{folder}{blob.key.removeprefix(prefix)}"
            yield name, InputFile(name=f"{source}/{name}", size=blob.size, key=blob.key)

    def _check(self, inputs: Sequence[InputFile]) -> None:
        for file in inputs:
            problem = name_problem(file.name.partition("/")[2])
            if problem:
                raise NoSuchInput(
                    f"{ascii(file.name)[:100]} cannot be given to the task: {problem}"
                )
        if len(inputs) > MAX_INPUT_FILES:
            raise NoSuchInput(
                f"the task names {len(inputs):,} files; at most {MAX_INPUT_FILES} are given to one"
            )
        total = sum(file.size for file in inputs)
        if total > self.max_bytes:
            most = self.max_bytes // MEGABYTE
            raise NoSuchInput(f"the files of the task have {total:,} bytes; at most {most} MB fit")
        conflict = first_conflict(file.name for file in inputs)
        if conflict is not None:
            raise NoSuchInput(f"{conflict} would have to be a file and a folder")


def _of_job(task: Task, file: JobFile) -> InputFile:
    return InputFile(
        name=f"{OF_THE_JOB}/{file.name}",
        size=file.size,
        key=upload_key(task.ref.tenant, file.sha256),
        sha256=file.sha256,
    )


def _nothing_matches(reference: FileReference, names: Sequence[str]) -> str:
    said = f"files: nothing matches {reference.text}"
    if not names:
        return f"{said}: there are no files"
    more = ", …" if len(names) > MOST_NAMED else ""
    return f"{said}; there are {', '.join(names[:MOST_NAMED])}{more}"


@dataclass(slots=True)
class Download:
    """A download of all files of a task, in a thread that ends soon after it is asked to."""

    blobs: BlobStore
    folder: TaskFolder
    inputs: Sequence[InputFile]
    ended: bool = False

    def run(self) -> None:
        """Raise `NoSuchInput`, `DamagedBlob`, `Unavailable` or `OSError`."""
        place = InputsFolder(self.folder)
        place.make()
        for file in self.inputs:
            if self.ended:
                return
            try:
                self._fetch(file, place)
            except MissingBlob as error:
                raise NoSuchInput(f"the file {file.name} is gone: it has expired") from error
        place.close_folders(file.name for file in self.inputs)

    def _fetch(self, file: InputFile, place: InputsFolder) -> None:
        digest, size = hashlib.sha256(), 0
        with place.new_file(file.name) as target:
            for piece in self.blobs.pieces(file.key):
                size += len(piece)
                if self.ended or size > file.size:
                    break
                digest.update(piece)
                target.write(piece)
        wrong = size != file.size or (file.sha256 and digest.hexdigest() != file.sha256)
        if wrong and not self.ended:
            raise DamagedBlob(file.key)


async def place_inputs(
    runtime: Runtime, blobs: BlobStore, folder: TaskFolder, inputs: Sequence[InputFile]
) -> None:
    """Place the files in the task's folder. Raise as `Download.run`.

    A cancelled call ends when its thread has ended: the folder is not removed beneath it.
    """
    if not inputs:
        return
    download = Download(blobs, folder, inputs)
    running = asyncio.ensure_future(runtime.offload(download.run))
    try:
        await asyncio.shield(running)
    finally:
        download.ended = True
        await asyncio.wait([running])


def not_read(outage: Unavailable) -> HandedBack:
    """Hand a task back whose data the worker could not read; it costs none of its attempts."""
    reason = f"its data could not be read: {outage}"
    return HandedBack(reason=reason, delay_ms=DELAY_AFTER_OUTAGE_MS)


def not_placed(problem: Exception) -> Verdict:
    """Return the verdict on an attempt whose files could not be placed.

    A damaged content costs an attempt: it may stay damaged, and the task must end some day.
    """
    match problem:
        case DamagedBlob():
            return failed(category=FailureCategory.SERVER_ERROR, error=str(problem))
        case Unavailable():
            return not_read(problem)
        case OSError():
            return not_started(problem)
    return failed(category=FailureCategory.VALIDATION, error=str(problem))
