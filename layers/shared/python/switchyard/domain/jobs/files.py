"""Files of jobs and tasks: their names, and the patterns by which a task names them.

Names of artifacts are an agent's, and patterns are a tenant's: both are bounded, and a pattern is
matched in time that grows with its length alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

MEGABYTE: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 100 * MEGABYTE
"""The size of the largest file that a job may have."""
MAX_JOB_FILES: Final = 100
MAX_INPUT_FILES: Final = 200
"""The most files that one task is given."""
MAX_INPUT_ITEMS: Final = 200
"""The most items of a fan-out whose artifacts one task may be given."""
MAX_INPUT_BYTES: Final = 500 * MEGABYTE
"""The most bytes that the files of one task have together."""
MAX_PATTERNS: Final = 50
"""The most patterns in the `files` or the `artifacts` of a task."""
MAX_PATTERN_CHARACTERS: Final = 200
MAX_NAME_BYTES: Final = 700
"""The longest name of an artifact: a key has 1,024 bytes, and its prefix takes some of them."""
MAX_PART_BYTES: Final = 255

OF_THE_JOB: Final = "job"
"""The word before the slash in the name of a file that was submitted with the job."""
OUTPUT_NAME: Final = "task-result.json"
"""The output of a task among its artifacts: no pattern with a wildcard means it."""

_ANY_FOLDERS: Final = "**"


@dataclass(frozen=True, slots=True, order=True)
class JobFile:
    """A file that was submitted with a job; its content is found by its checksum."""

    name: str
    sha256: str
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """An entry of a task's `files`: a pattern for files of the job, or of a task before it."""

    text: str
    source: str
    """The source: `job`, or the id of a task."""
    pattern: str

    @classmethod
    def parse(cls, text: str) -> "FileReference":
        """Raise `ValueError`, with a sentence about the text."""
        source, slash, pattern = text.partition("/")
        if not (source and slash and pattern):
            raise ValueError(
                f"{text!r} names no file: write job/NAME for a file of the job, or TASK/NAME for "
                "an artifact of a task before this one"
            )
        problem = pattern_problem(pattern)
        if problem:
            raise ValueError(problem)
        return cls(text, source, pattern)

    @property
    def of_the_job(self) -> bool:
        return self.source == OF_THE_JOB

    def among(self, names: Iterable[str]) -> list[str]:
        """Return the names that the pattern means, in their order."""
        matching = job_file_matches if self.of_the_job else matches
        return [name for name in names if matching(name, self.pattern)]


def pattern_problem(pattern: str) -> str | None:
    """Say what is wrong with a pattern for names of files; `None` if nothing is."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"a pattern has 1 to {MAX_PATTERN_CHARACTERS} characters, this one {len(pattern)}"
    if not pattern.isprintable() or "\\" in pattern:
        return f"{pattern!r} has a character that no pattern may have; folders are separated by /"
    parts = pattern.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        return f"{pattern!r} is no path below a folder: it has an empty part, or one of . and .."
    if sum(_ANY_FOLDERS in part for part in parts) > 1:
        return f"{pattern!r} has ** more than once"
    if any(_ANY_FOLDERS in part and part != _ANY_FOLDERS for part in parts):
        return f"{pattern!r} has ** beside other characters; between two slashes it stands alone"
    return None


def name_problem(name: str) -> str | None:
    """Say why a file of this name is not placed in a task's folder; `None` if it may be."""
    if not name.isprintable() or len(name.encode(errors="replace")) > MAX_NAME_BYTES:
        return "its name is too long, or has characters that cannot be printed"
    parts = name.split("/")
    if any(part in {"", ".", ".."} or len(part.encode()) > MAX_PART_BYTES for part in parts):
        return "its name is no path below a folder"
    return None


def matches(name: str, pattern: str) -> bool:
    """Return whether a pattern means the name: `*` and `?` stay in a folder, `**` is any folders.

    The output of a task is meant only by its own name: a task that wrote nothing has it, too. That
    of an item of a fan-out is in the item's folder.
    """
    parts, wanted = name.split("/"), pattern.split("/")
    if parts[-1] == OUTPUT_NAME and wanted[-1] != OUTPUT_NAME:
        return False
    if _ANY_FOLDERS not in wanted:
        return _all_match(parts, wanted)
    at = wanted.index(_ANY_FOLDERS)
    before, after = wanted[:at], wanted[at + 1 :] or ["*"]
    if len(parts) < len(before) + len(after):
        return False
    return _all_match(parts[:at], before) and _all_match(parts[-len(after) :], after)


def may_be_below(folder: str, pattern: str) -> bool:
    """Return whether a pattern can mean names of files in this folder."""
    parts, wanted = folder.split("/"), pattern.split("/")
    if _ANY_FOLDERS in wanted:
        before = wanted[: wanted.index(_ANY_FOLDERS)][: len(parts)]
        return _all_match(parts[: len(before)], before)
    return len(wanted) > len(parts) and _all_match(parts, wanted[: len(parts)])


def job_file_matches(name: str, pattern: str) -> bool:
    """Return whether a pattern means a job's file; without an ending, any ending is meant."""
    if matches(name, pattern):
        return True
    stem, dot, _ = name.rpartition(".")
    return bool(dot) and "." not in pattern and matches(stem, pattern)


def _all_match(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(parts) == len(wanted) and all(
        fnmatchcase(part, one.replace("[", "[[]")) for part, one in zip(parts, wanted, strict=True)
    )


def unmatched(patterns: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the patterns that mean none of these names."""
    return [one for one in patterns if not any(matches(name, one) for name in names)]


def first_conflict(names: Iterable[str]) -> str | None:
    """Return a name that would have to be a file and a folder at once, if there is one."""
    files = set(names)
    for name in sorted(files):
        parts = name.split("/")
        for end in range(1, len(parts)):
            folder = "/".join(parts[:end])
            if folder in files:
                return folder
    return None
