"""Reads the usable parts of a file that has problems, so that all problems are found in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.task_requests import TaskRequest
from switchyard_cli.files.beside import LocalParts

if TYPE_CHECKING:
    from switchyard.domain.errors import Problem

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Readable:
    tasks: Mapping[int, TaskRequest]
    """The tasks by their position in the file, without fields that no task has."""
    definitions: Mapping[str, TaskDefinition]
    """The definitions by name, without the fields that are wrong."""
    defined: frozenset[str]
    """The names of all definitions, also of those that cannot be read."""
    is_whole: bool
    """Whether all tasks could be read: then their graph can be checked."""
    local: LocalParts | None = None
    """The things that lie beside the file, if that part could be read."""

    @classmethod
    def of(cls, content: Any) -> Readable:
        tasks, definitions = _list_in(content, "tasks"), _object_in(content, "definitions")
        read = {at: _without(task, TaskRequest, only_unknown=True) for at, task in enumerate(tasks)}
        known = {name: _without(one, TaskDefinition) for name, one in definitions.items()}
        return cls(
            tasks={at: task for at, task in read.items() if task is not None},
            definitions={name: one for name, one in known.items() if one is not None},
            defined=frozenset(definitions),
            is_whole=None not in read.values(),
            local=_without(_object_in(content, "local"), LocalParts),
        )

    @property
    def task_ids(self) -> set[str]:
        return {task.task_id for task in self.tasks.values()}


Check = Callable[[Readable], "list[Problem]"]


def nothing_more(_: object) -> list[Problem]:
    return []


def _without(value: Any, model: type[M], *, only_unknown: bool = False) -> M | None:
    """Read a value without its wrong fields, or its unknown ones; `None` if it cannot be read."""
    if not isinstance(value, dict):
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = {
            found["loc"][0]
            for found in error.errors()
            if found["loc"] and not (only_unknown and found["type"] != "extra_forbidden")
        }
    try:
        return model.model_validate({name: one for name, one in value.items() if name not in wrong})
    except ValidationError:
        return None


def _list_in(content: Any, field: str) -> list[Any]:
    found = content.get(field) if isinstance(content, dict) else None
    return found if isinstance(found, list) else []


def _object_in(content: Any, field: str) -> dict[str, Any]:
    found = content.get(field) if isinstance(content, dict) else None
    return found if isinstance(found, dict) else {}
