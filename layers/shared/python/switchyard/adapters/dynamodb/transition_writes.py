"""Transitions of tasks, jobs and limits as conditional updates of items in the state table."""

from collections.abc import Callable
from typing import Any, Final

from switchyard.adapters.dynamodb.items import (
    due_attributes,
    field_attribute,
    job_from,
    job_key,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import DUE_AT, DUE_SHARD, limit_partition
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.scheduling.limits import LimitRef
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import (
    Absent,
    AnyOf,
    Compared,
    Contains,
    Due,
    Entity,
    Guard,
    NoItem,
    OneOf,
    OtherField,
    Present,
    Sized,
    Term,
    Transition,
    TransitionRefused,
    applied,
    refusal,
)

Write = tuple[Key, Update]

LIMIT_SORT_KEY: Final = "LIMIT"
_DUE_ATTRIBUTES: Final = (DUE_SHARD, DUE_AT)


def limit_key(ref: LimitRef) -> Key:
    return limit_partition(ref.tenant, ref.name), LIMIT_SORT_KEY


def _key_and_name(ref: TaskRef | JobRef | LimitRef) -> tuple[Key, str]:
    match ref:
        case TaskRef():
            return task_key(ref), ref.request_id
        case JobRef():
            return job_key(ref), ref.job_id
    return limit_key(ref), ref.name


def write_of(ref: TaskRef | JobRef | LimitRef, transition: Transition) -> Write:
    """Return the one conditional update that writes the transition, and the key of its item."""
    key, name = _key_and_name(ref)
    not_due = _DUE_ATTRIBUTES if transition.due is Due.REMOVED else ()
    due = {} if isinstance(transition.due, Due) else due_attributes(name, transition.due)
    values: dict[str, Any] = {}
    return key, Update(
        set={name: field_attribute(value) for name, value in transition.sets.items()} | due,
        remove=(*transition.removes, *not_due),
        add=transition.adds,
        delete=transition.deletes,
        condition=_condition(transition.guard, values),
        values=values,
    )


class TransitionWriter:
    """Writes transitions. A caller that repeats a written one gets the item as it is."""

    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def write_job(self, ref: JobRef, transition: Transition) -> Job | TransitionRefused[Job]:
        answer = self._table.update(*write_of(ref, transition))
        if not isinstance(answer, FailedCondition):
            return job_from(answer, ref.tenant)
        return _answer(_job(answer.item, ref), transition)

    def write_task(self, ref: TaskRef, transition: Transition) -> Task | TransitionRefused[Task]:
        answer = self._table.update(*write_of(ref, transition))
        if not isinstance(answer, FailedCondition):
            return task_from(answer, ref.job)
        return _answer(_task(answer.item, ref), transition)

    def write_job_surely(self, ref: JobRef, transition: Transition) -> Job | TransitionRefused[Job]:
        """Write it like `write_job`, and read the job if the answer is lost.

        Raise `AnswerLost` when that cannot show whether the transition was written.
        """
        return _resolved(
            transition,
            lambda: self.write_job(ref, transition),
            lambda: _job(self._table.get(job_key(ref)), ref),
        )

    def write_task_surely(
        self, ref: TaskRef, transition: Transition
    ) -> Task | TransitionRefused[Task]:
        """Write it like `write_task`, and read the task if the answer is lost.

        Raise `AnswerLost` when that cannot show whether the transition was written.
        """
        return _resolved(
            transition, lambda: self.write_task(ref, transition), lambda: self.find(ref)
        )

    def write_task_with(
        self, before: Task, transition: Transition, *others: Write
    ) -> Task | TransitionRefused[Task]:
        """Write it like `write_task_surely`, together with something else or not at all.

        A transaction does not show the task as it leaves it: `before` shows it.
        """

        def write() -> Task | TransitionRefused[Task]:
            if self._table.transact_patiently(write_of(before.ref, transition), *others):
                return applied(before, transition)
            return _answer(self.find(before.ref), transition)

        return _resolved(transition, write, lambda: self.find(before.ref))

    def find(self, ref: TaskRef) -> Task | None:
        """Read the task consistently. Raise `AnswerLost` if it cannot be read."""
        try:
            return _task(self._table.get(task_key(ref)), ref)
        except Unavailable as outage:
            raise AnswerLost(f"{ref.request_id} could not be read back: {outage}") from outage


def _resolved(
    transition: Transition,
    write: Callable[[], Entity | TransitionRefused[Entity]],
    find: Callable[[], Entity | None],
) -> Entity | TransitionRefused[Entity]:
    try:
        return write()
    except AnswerLost:
        found = find()
        answer = _answer(found, transition)
        if (
            found
            and isinstance(answer, TransitionRefused)
            and transition.may_still_happen_to(found)
        ):
            raise
        return answer


def _job(item: Item | None, ref: JobRef) -> Job | None:
    return job_from(item, ref.tenant) if item else None


def _task(item: Item | None, ref: TaskRef) -> Task | None:
    return task_from(item, ref.job) if item else None


def _answer(found: Entity | None, transition: Transition) -> Entity | TransitionRefused[Entity]:
    """Answer a caller that was refused, or whose answer was lost, from the item as it is."""
    if found is not None and transition.was_written_to(found):
        return found
    return refusal(found, transition)


def _condition(guard: Guard, values: dict[str, Any]) -> str:
    """Return the condition expression of a guard; the values that it names join `values`.

    DynamoDB refuses redundant parentheses.
    """
    if len(guard) == 1:
        return _expression(guard[0], values)
    texts = [(isinstance(term, AnyOf), _expression(term, values)) for term in guard]
    return " AND ".join(f"({text})" if several else text for several, text in texts)


def _expression(term: Term, values: dict[str, Any]) -> str:
    match term:
        case Compared(name, sign, value):
            return f"#{name} {sign} {_named(value, values)}"
        case OneOf(name, options):
            return f"#{name} IN ({', '.join(_named(option, values) for option in options)})"
        case Contains() | Sized():
            return _set_expression(term, values)
        case Present(name):
            return f"attribute_exists(#{name})"
        case Absent(name):
            return f"attribute_not_exists(#{name})"
        case NoItem():
            return "attribute_not_exists(#PK)"
        case AnyOf(alternatives):
            texts = [(len(guard) > 1, _condition(guard, values)) for guard in alternatives]
            return " OR ".join(f"({text})" if several else text for several, text in texts)


def _set_expression(term: Contains | Sized, values: dict[str, Any]) -> str:
    if isinstance(term, Contains):
        return f"contains(#{term.field}, {_named(term.member, values)})"
    return f"size(#{term.field}) {term.sign} {_named(term.number, values)}"


def _named(value: Any, values: dict[str, Any]) -> str:
    if isinstance(value, OtherField):
        return f"#{value.name}"
    name = f"g{len(values)}"
    values[name] = value
    return f":{name}"
