"""A task of a job, as producers describe it: what runs it or holds it, and when."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from switchyard.contracts.commitments import Commitments
from switchyard.contracts.files import (
    ArtifactPatterns,
    FileReferences,
    ListInFile,
    problem_with_list_file,
)
from switchyard.contracts.json_schema import SimpleJsonSchema
from switchyard.contracts.scheduling import Metadata, Priority, QueueName
from switchyard.contracts.signals import EventPattern
from switchyard.contracts.wire import (
    CleanText,
    Closed,
    DefinitionName,
    JsonValue,
    described_by,
    unless_absent,
)
from switchyard.domain.errors import InvalidCondition
from switchyard.domain.fan_out.fan_outs import MAX_LEVELS, FanOut, Tolerance
from switchyard.domain.ids import ANY_TASK_ID, TASK_ID, TASK_ID_RULE
from switchyard.domain.jobs.condition_parser import MAX_CHARACTERS, parse_condition
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.limits import size_problem
from switchyard.domain.moments import span_ms
from switchyard.domain.prompts.references import MAX_LENGTH
from switchyard.domain.states import Rule, TaskKind
from switchyard.domain.tasks.holds import LONGEST_MS, SHORTEST_MS, Hold, OnReject, OnTimeout

MAX_QUESTION: Final = 2_000
_DAY_MS: Final = 24 * 60 * 60 * 1000


def _task_id(value: str) -> str:
    if not TASK_ID.fullmatch(value):
        raise ValueError(f"must be {TASK_ID_RULE}")
    return value


def _any_task_id(value: str) -> str:
    if not ANY_TASK_ID.fullmatch(value):
        raise ValueError(f"must be {TASK_ID_RULE}, perhaps with the key of an item, like a[0]")
    return value


def _condition(text: str) -> str:
    try:
        parse_condition(text)
    except InvalidCondition as error:
        raise ValueError(str(error)) from error
    return text


def _span(given: Any) -> Any:
    milliseconds = span_ms(given) if isinstance(given, str) else given
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int):
        raise ValueError("must be a span like 90s, 15m, 2h or 3d, or milliseconds")
    if not SHORTEST_MS <= milliseconds <= LONGEST_MS:
        raise ValueError(f"must be from 1s to {LONGEST_MS // _DAY_MS}d")
    return milliseconds


TaskId = Annotated[str, AfterValidator(_task_id), described_by(TASK_ID)]
AnyTaskId = Annotated[str, AfterValidator(_any_task_id), described_by(ANY_TASK_ID)]
"""The id of a task, also of an item of a fan-out."""
ConditionText = Annotated[
    str, AfterValidator(_condition), Field(json_schema_extra={"maxLength": MAX_CHARACTERS})
]
Text = Annotated[str, Field(min_length=1, max_length=MAX_LENGTH)]
Texts = Text | Annotated[tuple[Text, ...], Field(min_length=1, max_length=MAX_LEVELS)]
"""A text, or one for each of two levels."""
RequestedKind = Literal[TaskKind.APPROVAL, TaskKind.WAIT, TaskKind.SIGNAL, TaskKind.JOB]
Span = Annotated[int | str, AfterValidator(_span)]
"""Milliseconds, which people may write as `90s`, `15m`, `2h` or `3d`."""

_OF_A_KIND: Final[dict[str, tuple[TaskKind, ...]]] = {
    "question": (TaskKind.APPROVAL,),
    "on_timeout": (TaskKind.APPROVAL,),
    "on_reject": (TaskKind.APPROVAL,),
    "timeout": (TaskKind.APPROVAL, TaskKind.SIGNAL),
    "value_schema": (TaskKind.APPROVAL, TaskKind.SIGNAL),
    "wait_for": (TaskKind.WAIT,),
    "until": (TaskKind.WAIT,),
    "event": (TaskKind.SIGNAL,),
}
_ARTICLES: Final = {TaskKind.APPROVAL: "an"}


class TaskRequest(Closed):
    task_id: TaskId
    kind: RequestedKind | None = unless_absent()
    """The kind of a task that no worker runs."""
    name: DefinitionName | None = unless_absent(validate_default=True)
    """The definition that a worker runs, or of kind `job` the template; others have none."""
    depends_on: tuple[TaskId, ...] = ()
    input: JsonValue = None
    rule: Rule = Rule.ALL_COMPLETED
    for_each: Texts | ListInFile | None = unless_absent()
    """The place of a list: one task is made for each of its items. A second one is in each item."""
    key: Texts | None = unless_absent()
    """The name of an item; its number when absent."""
    tolerate: int | str | None = unless_absent()
    """The most items that may fail without failing the task: a number, or a share like `5 %`."""
    when: ConditionText | None = unless_absent()
    """The condition on parents' outputs that has to hold for it to run; else it is skipped."""
    question: CleanText | None = unless_absent(min_length=1, max_length=MAX_QUESTION)
    """The question to a person."""
    timeout: Span | None = unless_absent()
    """The time that a decision or a signal may take; a year when absent."""
    on_timeout: OnTimeout | None = unless_absent()
    on_reject: OnReject | None = unless_absent()
    value_schema: SimpleJsonSchema | None = unless_absent()
    """The schema that an edited value, or the value of a signal, has to match."""
    wait_for: Span | None = unless_absent(alias="for")
    """The time that a wait takes, from when its parents have settled."""
    until: AwareDatetime | None = unless_absent()
    """The time at which a wait ends."""
    event: EventPattern | None = unless_absent()
    """The pattern of an event of the bus that ends a signal, beside the API."""
    files: FileReferences | None = unless_absent(min_length=1)
    """The files that it is given in its folder `inputs`."""
    artifacts: ArtifactPatterns | None = unless_absent(min_length=1)
    """The files that it has to leave in its folder `artifacts`; else it fails."""
    commitments: Commitments | None = unless_absent(min_length=1)
    """What has to hold before it counts as completed, beside what its definition commits to."""
    queue: QueueName | None = unless_absent()
    """The work queue that it waits in; else its job's, its definition's, or `default`."""
    priority: Priority | None = unless_absent()
    """The class of the task; else its job's, its definition's, or its queue's."""
    metadata: Metadata | None = unless_absent()
    """Texts by name, shown beside it."""

    @field_validator("name")
    @classmethod
    def _has_one(cls, name: str | None, known: ValidationInfo) -> str | None:
        kind = known.data.get("kind", ...)
        if name is None and kind is TaskKind.JOB:
            raise ValueError("is required: that of a definition of kind job, the template")
        if name is None and kind is None:
            raise ValueError("is required; only an approval, a wait or a signal has none")
        return name

    @field_validator("for_each", mode="before")
    @classmethod
    def _is_no_list(cls, given: Any) -> Any:
        problem = problem_with_list_file(given) if isinstance(given, dict) else None
        if problem:
            raise ValueError(problem)
        if isinstance(given, list) and not all(map(_is_expression, given)):
            raise ValueError(
                "put the list into the input, like items: [1, 2], and say forEach: ${input.items}"
            )
        return given

    @field_validator("tolerate")
    @classmethod
    def _is_tolerance(cls, given: int | str | None) -> int | str | None:
        if given is not None:
            Tolerance.read(given)
        return given

    @model_validator(mode="after")
    def _fields_of_a_fan_out(self) -> "TaskRequest":
        if self.for_each is None:
            for field in ("key", "tolerate"):
                if getattr(self, field) is not None:
                    raise ValueError(f"{field} belongs to a fan-out: a task with forEach")
        elif self._is_held:
            raise ValueError(f"has kind {self.kind} and forEach; the items of a list need a name")
        return self

    @model_validator(mode="after")
    def _fields_of_its_kind(self) -> "TaskRequest":
        if self._is_held and self.name is not None:
            raise ValueError(
                f"has kind {self.kind} and name; a task that is held has no definition"
            )
        for field in ("files", "artifacts", "commitments"):
            if self.kind is not None and getattr(self, field):
                raise ValueError(f"{field} belongs to a task that a worker runs, with a name")
        for field, kinds in _OF_A_KIND.items():
            if getattr(self, field) is not None and self.kind not in kinds:
                raise ValueError(_out_of_place(field, kinds))
        if self.kind is TaskKind.WAIT and (self.wait_for is None) == (self.until is None):
            raise ValueError(
                "a wait needs either for, like 2h, or until, like 2027-01-31T12:00:00Z"
            )
        return self

    @model_validator(mode="after")
    def _fields_of_workers(self) -> "TaskRequest":
        for field in ("queue", "priority"):
            if self._is_held and getattr(self, field) is not None:
                said = f"{field} belongs to a task with a name"
                raise ValueError(f"{said}: no worker runs one of kind {self.kind}")
        return self

    def spec(self) -> TaskSpec:
        return TaskSpec(
            task_id=self.task_id,
            name=self.name or "",
            depends_on=self.depends_on,
            input=self.input,
            rule=self.rule,
            when=self.when,
            hold=self._hold(self.kind) if self.kind and self._is_held else None,
            files=self.files or (),
            artifacts=self.artifacts or (),
            commitments=tuple(one.stored() for one in self.commitments or ()),
            fan_out=self._fan_out(self.for_each) if self.for_each else None,
            nested=self.kind is TaskKind.JOB,
            queue=self.queue,
            priority=self.priority,
            metadata=self.metadata or {},
        )

    @property
    def _is_held(self) -> bool:
        return self.kind not in {None, TaskKind.JOB}

    def _fan_out(self, for_each: str | tuple[str, ...] | ListInFile) -> FanOut:
        in_file = isinstance(for_each, ListInFile)
        return FanOut(
            for_each=_several(for_each.file if isinstance(for_each, ListInFile) else for_each),
            in_file=in_file,
            key=_several(self.key or ()),
            tolerate=Tolerance.read(self.tolerate or 0),
        )

    def _hold(self, kind: TaskKind) -> Hold:
        return Hold(
            kind=kind,
            for_ms=int(self.wait_for or self.timeout or LONGEST_MS),
            until_ms=_milliseconds(self.until) if self.until else None,
            on_timeout=self.on_timeout or OnTimeout.FAIL,
            on_reject=self.on_reject or OnReject.COMPLETE,
            question=self.question,
            value_schema=self.value_schema,
            event=self.event.stored() if self.event else None,
        )

    @property
    def needs_newer(self) -> bool:
        """Whether versions before 0.2 would not understand it, and run it all the same."""
        of_workers = (self.files, self.artifacts, self.commitments, self.queue)
        return any(one is not None for one in (self.kind, self.when, self.for_each, *of_workers))


def _is_expression(given: Any) -> bool:
    return isinstance(given, str) and given.startswith("${")


def _several(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _out_of_place(field: str, kinds: tuple[TaskKind, ...]) -> str:
    alias = TaskRequest.model_fields[field].alias or field
    named = " or ".join(f"{_ARTICLES.get(kind, 'a')} {kind}" for kind in kinds)
    return f"{alias} belongs to {named}: a task with kind: {kinds[0]}"


def _few_enough(tasks: Any) -> Any:
    """Refuse too many tasks or edges before each is looked at, in the words of a refused job."""
    if not isinstance(tasks, list) or not tasks:
        return tasks
    problem = size_problem(len(tasks), sum(map(_edges, tasks)))
    if problem:
        raise ValueError(problem)
    return tasks


def _edges(task: Any) -> int:
    """Count the items of a task's lists, whatever they are called, without those of its input."""
    given = task.items() if isinstance(task, dict) else ()
    return sum(len(part) for name, part in given if name != "input" and isinstance(part, list))


TaskRequests = Annotated[tuple[TaskRequest, ...], BeforeValidator(_few_enough)]
