"""Reads the list of a fan-out from a file of its job, or from an artifact of a task before it.

The same task reads the same content in every run: a file of a job is found by its checksum, and an
artifact below the prefix of the attempt that completed.
"""

import hashlib
from dataclasses import dataclass

from switchyard.domain.errors import DamagedBlob, MissingBlob
from switchyard.domain.fan_out.fan_outs import MAX_LIST_BYTES
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.fan_out.json_lines import JsonLines, too_large
from switchyard.domain.ids import in_scope
from switchyard.domain.jobs.files import FileReference
from switchyard.domain.prompts.artifacts import ARTIFACTS, upload_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Task
from switchyard.ports import BlobStore, TaskGraph
from switchyard.usecases.jobs.job_files import read_job_files


@dataclass(frozen=True, slots=True)
class ListFiles:
    graph: TaskGraph
    blobs: BlobStore
    scope: str | None = None
    """The job whose template names tasks."""

    def read(self, task: Task, name: str) -> list[Json]:
        """Return the values of the file's lines. Raise `NotExpandable` or `Unavailable`.

        A damaged file is the end of the fan-out, too: read again, it would be damaged for ever.
        """
        reference = FileReference.parse(name)
        try:
            if reference.of_the_job:
                return self._of_job(task, reference)
            return self._lines(name, self._artifact(task, reference))
        except MissingBlob:
            raise NotExpandable(f"forEach: there is no file {name}, or it has expired") from None
        except DamagedBlob:
            raise NotExpandable(f"forEach: {name} does not have its checksum") from None

    def _of_job(self, task: Task, reference: FileReference) -> list[Json]:
        files = {file.name: file for file in read_job_files(task.ref.job, self.blobs)}
        names = reference.among(files)
        if len(names) != 1:
            said = f"means {', '.join(names)}; name one" if names else "names no file of the job"
            raise NotExpandable(f"forEach: {reference.text} {said}")
        file = files[names[0]]
        if file.size > MAX_LIST_BYTES:
            raise NotExpandable(too_large(reference.text, file.size))
        key = upload_key(task.ref.tenant, file.sha256)
        return self._lines(reference.text, key, sha256=file.sha256)

    def _artifact(self, task: Task, reference: FileReference) -> str:
        source = reference.source
        name = in_scope(self.scope, source)
        made_by = self.graph.find_many([task.ref.job.task(name)]).get(name)
        if made_by is None or made_by.state is not TaskState.COMPLETED:
            raise NotExpandable(f"forEach: {source!r} did not complete, so it has no artifacts")
        prefix = made_by.outcome.artifacts if made_by.outcome else None
        if prefix is None:
            raise NotExpandable(f"forEach: {source!r} has no artifacts: no worker ran it")
        return f"{prefix}{ARTIFACTS}/{reference.pattern}"

    def _lines(self, name: str, key: str, *, sha256: str | None = None) -> list[Json]:
        lines, digest = JsonLines(name), hashlib.sha256()
        for piece in self.blobs.pieces(key):
            digest.update(piece)
            lines.add(piece)
        if sha256 and digest.hexdigest() != sha256:
            raise DamagedBlob(key)
        return lines.values()
