"""Files of a job in a test: those that it is submitted with, and those that its tasks leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from switchyard.client.errors import UnusableFile
from switchyard.client.uploads import local_files
from switchyard.contracts.files import FileContent
from switchyard.domain.ids import FILE_NAME, FILE_NAME_RULE
from switchyard.domain.jobs.files import MAX_INPUT_FILES, OUTPUT_NAME, name_problem
from switchyard.domain.prompts.artifacts import ARTIFACTS, upload_key
from switchyard.domain.tasks.task import Task
from switchyard.ports import BlobStore
from switchyard.testing.job_runs.errors import JobTestError

FilesOfTest = Mapping[str, bytes | str | PathLike[str]]
"""Files by name: contents as bytes, or paths on this machine."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """An answer of an agent that leaves files in its folder `artifacts`, too."""

    files: Mapping[str, bytes]
    answer: Any


def leaves(files: Mapping[str, str | bytes], answer: Any = None) -> Leaves:
    """Answer, and leave these files behind as artifacts: texts or bytes by their names."""
    for name in files:
        problem = name_problem(name)
        if problem:
            raise JobTestError(f"leaves: {name!r} cannot be left as an artifact: {problem}")
    contents = {
        name: content.encode() if isinstance(content, str) else content
        for name, content in files.items()
    }
    return Leaves(contents, answer)


def uploaded_files(files: FilesOfTest, tenant: str, blobs: BlobStore) -> dict[str, FileContent]:
    """Store the files of a job as their upload would; return what the job names."""
    contents: dict[str, FileContent] = {}
    for name, content in _contents(files).items():
        digest = sha256(content).hexdigest()
        blobs.put(upload_key(tenant, digest), content, content_type="application/octet-stream")
        contents[name] = FileContent(sha256=digest, size=len(content))
    return contents


def _contents(files: FilesOfTest) -> dict[str, bytes]:
    given = {name: one for name, one in files.items() if isinstance(one, bytes)}
    for name in given:
        if not FILE_NAME.fullmatch(name):
            raise JobTestError(f"files: the name of a file must be {FILE_NAME_RULE}, not {name!r}")
    paths = {name: Path(one) for name, one in files.items() if not isinstance(one, bytes)}
    try:
        return given | {file.name: b"".join(file.pieces()) for file in local_files(paths)}
    except UnusableFile as problem:
        raise JobTestError(f"files: {problem}") from problem


def artifacts_of(task: Task, blobs: BlobStore) -> dict[str, bytes]:
    """Return what a task left behind, by name, without its output."""
    stored = task.outcome.artifacts if task.outcome else None
    if stored is None:
        return {}
    prefix = f"{stored}{ARTIFACTS}/"
    keys = [key for key in blobs.keys(prefix) if key != f"{prefix}{OUTPUT_NAME}"]
    return {key.removeprefix(prefix): blobs.get(key) for key in keys[:MAX_INPUT_FILES]}
