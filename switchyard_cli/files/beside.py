"""Reads the things beside a job file on this machine: packages of functions, and files to submit.

A job file may come from elsewhere, so it names nothing but what is below its own folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator, Field

from switchyard.client.uploads import with_ending
from switchyard.contracts.files import FileName
from switchyard.contracts.wire import Closed, at_most
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.files import MAX_JOB_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from switchyard_cli.files.document import Document
    from switchyard_cli.files.yaml_source import Place

MAX_PACKAGES: Final = 20


def _below(text: str) -> str:
    path = Path(text)
    if not path.parts or path.is_absolute() or ".." in path.parts or not text.isprintable():
        raise ValueError(f"{text!r} must be a path below the folder of this file, without ..")
    return text


PathBelow = Annotated[str, AfterValidator(_below)]


class LocalParts(Closed):
    """Paths of what `run` serves and of files to submit, relative to the folder of the job file."""

    functions: Annotated[tuple[PathBelow, ...], at_most(MAX_PACKAGES)] = ()
    """Folders of Python packages: their functions are registered, and `run` serves them."""
    files: Annotated[dict[FileName, PathBelow], at_most(MAX_JOB_FILES)] = Field(
        default_factory=dict
    )
    """Files that are submitted with the job, by their names in it."""

    @property
    def file_names(self) -> list[str]:
        """Return the names that the files have in the job."""
        return [with_ending(name, Path(path)) for name, path in self.files.items()]


@dataclass(frozen=True, slots=True)
class Beside:
    """The same, as paths on this machine."""

    functions: tuple[Path, ...] = ()
    files: tuple[tuple[str, Path], ...] = ()

    @classmethod
    def of(cls, document: Document, parts: LocalParts | None) -> Beside:
        """Raise `InvalidFile` for what is not there, or leads out of the folder by a link."""
        if parts is None:
            return cls()
        folder = document.file.parent
        problems = list(_problems(folder, parts))
        if problems:
            raise document.invalid(problems)
        return cls(
            tuple(folder / one for one in parts.functions),
            tuple((name, folder / path) for name, path in parts.files.items()),
        )


def _problems(folder: Path, parts: LocalParts) -> Iterator[Problem]:
    named: list[tuple[Place, str]] = [
        *((("local", "functions", at), one) for at, one in enumerate(parts.functions)),
        *((("local", "files", name), path) for name, path in parts.files.items()),
    ]
    for place, text in named:
        path = folder / text
        if not path.exists():
            yield Problem(place, f"there is no {path}")
        elif not path.resolve().is_relative_to(folder.resolve()):
            yield Problem(place, f"{text} leads out of the folder of this file")
