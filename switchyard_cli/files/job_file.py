"""Job files: what is submitted, with the task definitions it needs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, Field, ValidationError

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import AddTasks, SubmitJob, size_problems
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.wire import Closed, DefinitionName
from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.requests import fan_out_problems_in
from switchyard.domain.ids import HIDDEN_PREFIX
from switchyard.domain.jobs.file_checks import file_problems, references_elsewhere
from switchyard.domain.jobs.graph import TaskSpec, problems_in
from switchyard.domain.jobs.limits import MAX_TASKS, size_problem
from switchyard.domain.prompts.references import reference_problems
from switchyard.domain.signals.subscriptions import event_problems_in
from switchyard_cli.errors import InvalidFile
from switchyard_cli.files.beside import Beside, LocalParts
from switchyard_cli.files.document import Document, read_document
from switchyard_cli.files.field_names import with_suggestions
from switchyard_cli.files.readable import Check, Readable, nothing_more

if TYPE_CHECKING:
    from switchyard_cli.files.yaml_source import Place

M = TypeVar("M", bound=BaseModel)

Definitions = dict[DefinitionName, TaskDefinition]


NOT_SENT: Final = ("definitions", "local")
"""The fields of a file that its request lacks."""


class JobFile(SubmitJob):
    definitions: Definitions = Field(default_factory=dict)
    local: LocalParts | None = None
    """The things beside the file on this machine: `{functions: [my_functions], files: {…}}`."""

    def submission(self) -> SubmitJob:
        return SubmitJob.model_validate(self.model_dump(exclude=set(NOT_SENT), exclude_unset=True))

    @property
    def file_names(self) -> list[str]:
        """Return the names of the files that the job itself names, uploaded or on this machine."""
        return [*self.files, *(self.local.file_names if self.local else ())]


class AdditionFile(AddTasks):
    definitions: Definitions = Field(default_factory=dict)

    def addition(self) -> AddTasks:
        return AddTasks.model_validate(self.model_dump(exclude={"definitions"}, exclude_unset=True))

    @property
    def expected(self) -> tuple[str, ...]:
        """Return the ids of parents that are not in the file, and so have to be in the job."""
        new = {task.task_id for task in self.tasks}
        return tuple(sorted({name for task in self.tasks for name in task.depends_on} - new))


class DefinitionsFile(Closed, extra="ignore"):
    """The `definitions` of any file, so that a job file serves as well."""

    definitions: Definitions = Field(min_length=1)


@dataclass(frozen=True)
class SourcedJob:
    """A valid job, and the document that problems found later refer to."""

    document: Document
    content: JobFile

    def beside(self) -> Beside:
        """Raise `InvalidFile` for what is not there."""
        return Beside.of(self.document, self.content.local)


@dataclass(frozen=True)
class SourcedAddition:
    document: Document
    content: AdditionFile


class FieldsRefused(InvalidFile):
    """The fields of a file are not those of its kind."""

    def __init__(self, document: Document, problems: list[Problem]) -> None:
        super().__init__([str(document.invalid(problems))])
        self.problems = problems


def read_job(
    file: Path, also: Check = nothing_more, *, files: Sequence[str] | None = None
) -> SourcedJob:
    """Raise `InvalidFile` with every problem, those that `also` finds included.

    `files` are the names of those that are submitted with the job, where they are known.
    """
    document = read_document(file)
    refuse_kind(document, "triggers", "tasks", "a trigger file: `switchyard triggers apply {}`")
    _refuse_too_many(document)
    content, problems = _validated_or_problems(document, JobFile)
    readable = Readable.of(document.value)
    if readable.is_whole:
        specs = [task.spec() for task in readable.tasks.values()]
        problems += [
            *problems_in(specs),
            *fan_out_problems_in(specs),
            *event_problems_in(specs),
            *reference_problems(specs, elsewhere=references_elsewhere(specs)),
        ]
        if files is not None:
            names = [*files, *(content.file_names if content else ())]
            problems += file_problems(specs, names, advice="submit it with --file {}=PATH")
    if content is not None:
        problems += size_problems(content, not_sent=NOT_SENT)
    problems += also(readable)
    if content is None or problems:
        raise document.invalid(problems)
    return SourcedJob(document, content)


def read_addition(file: Path, also: Check = nothing_more) -> SourcedAddition:
    """Check whatever can be checked without the job."""
    document = read_document(file)
    refuse_kind(document, "triggers", "tasks", "a trigger file: `switchyard triggers apply {}`")
    _refuse_too_many(document)
    content, problems = _validated_or_problems(document, AdditionFile)
    if content is not None:
        problems += size_problems(content, not_sent=NOT_SENT)
        given = [task.spec() for task in content.tasks]
        there = [name for name in content.expected if not name.startswith(HIDDEN_PREFIX)]
        problems += problems_in([*given, *(TaskSpec(task_id=name, name="") for name in there)])
        problems += [*fan_out_problems_in(given), *event_problems_in(given)]
    problems += also(Readable.of(document.value))
    if content is None or problems:
        raise document.invalid(problems)
    return SourcedAddition(document, content)


def _validated_or_problems(document: Document, model: type[M]) -> tuple[M | None, list[Problem]]:
    try:
        return validated(document, model), []
    except FieldsRefused as refused:
        return None, refused.problems


def read_definitions(file: Path) -> tuple[Document, Definitions]:
    document = read_document(file)
    return document, validated(document, DefinitionsFile).definitions


def refuse_kind(document: Document, field: str, instead_of: str, answer: str) -> None:
    """Refuse a file of another kind by the field that only that kind has."""
    value = document.value
    if isinstance(value, dict) and field in value and instead_of not in value:
        raise document.invalid([Problem((), f"this is {answer.format(document.file)}")])


def _refuse_too_many(document: Document) -> None:
    """Refuse a file by its number of tasks before all of them are looked at."""
    tasks = document.value.get("tasks") if isinstance(document.value, dict) else None
    if isinstance(tasks, list) and len(tasks) > MAX_TASKS:
        raise document.invalid([Problem(("tasks",), size_problem(len(tasks), edges=0) or "")])


def validated(document: Document, model: type[M]) -> M:
    if not isinstance(document.value, dict):
        raise document.invalid([Problem((), f"expected fields, found {_kind(document.value)}")])
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        errors = [{**found, "loc": _in_body(found["loc"])} for found in error.errors()]
        raise FieldsRefused(
            document, with_suggestions(validation_problems(errors), model)
        ) from error


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else f"only {value!r:.40}"


def _in_body(location: Place) -> Place:
    """The file is the body of the request that it becomes.

    Pydantic marks a problem with a mapping's key by a last element of its own.
    """
    return ("body", *(location[:-1] if location[-1] == "[key]" else location))
