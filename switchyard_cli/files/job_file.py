"""Job files: what is submitted, with the task definitions it needs beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import AddTasks, SubmitJob, TaskRequest
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.wire import Closed, DefinitionName
from switchyard.domain.errors import Problem
from switchyard.domain.ids import HIDDEN_PREFIX
from switchyard.domain.jobs.graph import TaskSpec, problems_in
from switchyard.domain.prompts.references import reference_problems
from switchyard_cli.errors import InvalidFile
from switchyard_cli.files.document import Document, read_document
from switchyard_cli.files.field_names import with_suggestions

if TYPE_CHECKING:
    from switchyard_cli.files.yaml_source import Place

M = TypeVar("M", bound=BaseModel)

Definitions = dict[DefinitionName, TaskDefinition]


class JobFile(SubmitJob):
    definitions: Definitions = Field(default_factory=dict)

    def submission(self) -> SubmitJob:
        return SubmitJob.model_validate(
            self.model_dump(exclude={"definitions"}, exclude_unset=True)
        )


class AdditionFile(AddTasks):
    definitions: Definitions = Field(default_factory=dict)

    def addition(self) -> AddTasks:
        return AddTasks.model_validate(self.model_dump(exclude={"definitions"}, exclude_unset=True))

    @property
    def expected(self) -> tuple[str, ...]:
        """Whom its tasks follow that is not in the file, and so has to be in the job."""
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


@dataclass(frozen=True)
class SourcedAddition:
    document: Document
    content: AdditionFile


class FieldsRefused(InvalidFile):
    """The fields of a file are not those of its kind."""

    def __init__(self, document: Document, problems: list[Problem]) -> None:
        super().__init__([str(document.invalid(problems))])
        self.problems = problems


def read_job(file: Path) -> SourcedJob:
    document = read_document(file)
    try:
        content = validated(document, JobFile)
    except FieldsRefused as refused:
        specs = _specs_in(document.value.get("tasks"))
        more = [*problems_in(specs), *reference_problems(specs)] if specs else []
        raise document.invalid([*refused.problems, *more]) from refused
    specs = [task.spec() for task in content.tasks]
    problems = [*problems_in(specs), *reference_problems(specs)]
    if problems:
        raise document.invalid(problems)
    return SourcedJob(document, content)


def _specs_in(tasks: Any) -> list[TaskSpec]:
    """Return what can be read of tasks in a file with other problems; nothing if one cannot be."""
    if not isinstance(tasks, list):
        return []
    try:
        return [TaskRequest.model_validate(_known_fields(task)).spec() for task in tasks]
    except ValidationError:
        return []


def _known_fields(task: Any) -> Any:
    if not isinstance(task, dict):
        return task
    known = {field.alias or name for name, field in TaskRequest.model_fields.items()}
    return {name: value for name, value in task.items() if name in known}


def read_addition(file: Path) -> SourcedAddition:
    """Whatever can be checked without the job."""
    document = read_document(file)
    content = validated(document, AdditionFile)
    given = [task.spec() for task in content.tasks]
    there = [name for name in content.expected if not name.startswith(HIDDEN_PREFIX)]
    problems = problems_in([*given, *(TaskSpec(task_id=name, name="") for name in there)])
    if problems:
        raise document.invalid(problems)
    return SourcedAddition(document, content)


def read_definitions(file: Path) -> tuple[Document, Definitions]:
    document = read_document(file)
    return document, validated(document, DefinitionsFile).definitions


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
