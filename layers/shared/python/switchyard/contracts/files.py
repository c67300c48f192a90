"""Files of jobs on the wire: how an upload is asked for, and how jobs and tasks name files."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from switchyard.contracts.wire import Closed, Written, at_most, described_by
from switchyard.domain.ids import FILE_NAME, FILE_NAME_RULE, SHA256
from switchyard.domain.jobs.files import (
    MAX_FILE_BYTES,
    MAX_JOB_FILES,
    MAX_PATTERN_CHARACTERS,
    MAX_PATTERNS,
    MEGABYTE,
    FileReference,
    pattern_problem,
)


def _file_name(name: str) -> str:
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"the name of a file must be {FILE_NAME_RULE}")
    return name


def _sha256(text: str) -> str:
    if not SHA256.fullmatch(text):
        raise ValueError("must be the SHA-256 of the file: 64 of 0-9 a-f")
    return text


def _size(size: int) -> int:
    if not 0 <= size <= MAX_FILE_BYTES:
        raise ValueError(
            f"a file has at most {MAX_FILE_BYTES // MEGABYTE} MB ({MAX_FILE_BYTES:,} bytes)"
        )
    return size


def _reference(text: str) -> str:
    return FileReference.parse(text).text


def problem_with_list_file(given: Any) -> str | None:
    """Say what is wrong with `{file: job/items.jsonl}`, which names the list of a fan-out."""
    name = given.get("file") if isinstance(given, dict) and len(given) == 1 else None
    if not isinstance(name, str):
        return "a list in a file is named by {file: job/NAME} or {file: TASK/NAME}, and no more"
    try:
        FileReference.parse(name)
    except ValueError as problem:
        return str(problem)
    return f"{name!r} has a wildcard; a list is in one file" if set(name) & set("*?") else None


def _pattern(text: str) -> str:
    problem = pattern_problem(text)
    if problem:
        raise ValueError(problem)
    return text


FileName = Annotated[str, AfterValidator(_file_name), described_by(FILE_NAME)]
Checksum = Annotated[str, AfterValidator(_sha256), described_by(SHA256)]
FileSize = Annotated[
    int, AfterValidator(_size), Field(json_schema_extra={"maximum": MAX_FILE_BYTES})
]
FileReferences = Annotated[
    tuple[Annotated[str, AfterValidator(_reference)], ...], at_most(MAX_PATTERNS)
]
"""Names of a task's files: `job/NAME`, or `TASK/NAME` for artifacts of a task before it."""
ArtifactPatterns = Annotated[
    tuple[
        Annotated[
            str,
            AfterValidator(_pattern),
            Field(json_schema_extra={"maxLength": MAX_PATTERN_CHARACTERS}),
        ],
        ...,
    ],
    at_most(MAX_PATTERNS),
]
"""Patterns of the files that a task has to leave in its folder `artifacts`."""


class ListInFile(Closed):
    """A file of JSON Lines: each of its lines is an item of a list."""

    file: str = Field(max_length=MAX_PATTERN_CHARACTERS)
    """The file's name: `job/NAME`, or `TASK/NAME` for an artifact of a task before."""


class FileContent(Closed):
    """The content of a file, by its checksum; it is uploaded before a job names it."""

    sha256: Checksum
    size: FileSize
    """Bytes."""


JobFileNames = Annotated[dict[FileName, FileContent], at_most(MAX_JOB_FILES)]


class UploadLink(Written):
    sha256: str
    size: int
    uploaded: bool
    """Whether the content is there already, so that nothing has to be sent."""
    url: str | None = None
    """Takes the content, and no other, by PUT, without a key."""
    headers: dict[str, str] = Field(default_factory=dict)
    """The headers that the request has to have; the link is signed for them."""
    expires_at: datetime | None = None
