"""A YAML or JSON file: its value, and every problem with its file, line and field."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import NOT_REGISTERED
from switchyard.domain.text import did_you_mean
from switchyard_cli.errors import BadInput, InvalidFile
from switchyard_cli.files.json_source import parse_json
from switchyard_cli.files.yaml_source import NotReadable, Outline, Place, parse_yaml

HOW_TO_REGISTER: Final = (
    "; define it in this file below `definitions`, or register it with `switchyard definitions put`"
)


@dataclass(frozen=True)
class Document:
    file: Path
    value: Any
    outline: Outline

    def invalid(self, problems: Iterable[Problem]) -> InvalidFile:
        located = [(self.outline.line_of(problem.path), problem) for problem in problems]
        located.sort(key=lambda found: found[0])
        return InvalidFile([self._sentence(line, problem) for line, problem in located])

    def _sentence(self, line: int, problem: Problem) -> str:
        field = f"{field_name(problem.path)}: " if problem.path else ""
        fix = HOW_TO_REGISTER if problem.message.endswith(NOT_REGISTERED) else ""
        return f"{self.file}:{line}: {field}{problem.message}{fix}"


def read_document(file: Path) -> Document:
    text = _text_of(file)
    parse = parse_json if file.suffix == ".json" else parse_yaml
    try:
        value, outline = parse(text)
    except NotReadable as error:
        raise InvalidFile([f"{file}:{error.line}: {error}"]) from error
    except RecursionError as error:
        raise InvalidFile([f"{file}:1: the document is nested too deeply"]) from error
    except ValueError as error:  # an integer with thousands of digits
        raise InvalidFile([f"{file}:1: {error}"]) from error
    document = Document(file, value, outline)
    if outline.problems:
        raise document.invalid(outline.problems)
    _require_json(document)
    return document


def field_name(place: Place) -> str:
    """Return the place as one would write it in code: `tasks[2].dependsOn`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise BadInput(_not_there(file)) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not a text file in UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from error


def _not_there(file: Path) -> str:
    from switchyard_local.source_tree import example_names  # noqa: PLC0415 - only after a mistake

    if str(file) == "-":
        return "There is no file -, and standard input is not read: name a file."
    beside = [one.name for one in file.parent.iterdir()] if file.parent.is_dir() else []
    hint = did_you_mean(file.name, [*beside, *example_names()])
    if not hint and not file.suffix:
        hint = ", and no example of that name: `switchyard examples` lists them."
    return f"There is no file {file}{hint or '.'}"


def _require_json(document: Document) -> None:
    """Refuse halves of surrogate pairs and numbers beyond a float, which no JSON text can carry."""
    try:
        json.dumps(document.value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise document.invalid([Problem((), f"JSON cannot say this: {error}")]) from error
