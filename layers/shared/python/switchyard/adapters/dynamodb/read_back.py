"""Writes on a control item whose answer may be lost: the item says whether they were done."""

from collections.abc import Callable
from dataclasses import dataclass

from switchyard.adapters.dynamodb.items import task_from, task_key
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.task import Task

Shows = Callable[[Task], bool]


@dataclass(frozen=True, slots=True)
class NotDone:
    """Refused; `found` is the task as it is."""

    found: Task | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    done: Shows
    """This very write happened, be it that it was asked for twice."""
    possible: Shows
    """It did not happen, and still could."""


class ReadBack:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def update(self, ref: TaskRef, update: Update, proof: Proof) -> Task | NotDone:
        """The task as the update left it. Raise `AnswerLost` when the task cannot tell."""

        def write() -> Task | NotDone:
            answer = self._table.update(task_key(ref), update)
            if not isinstance(answer, Refusal):
                return task_from(answer, ref.job)
            return NotDone(task_from(answer.item, ref.job) if answer.item else None)

        return self._resolved(ref, write, proof)

    def transact(
        self, expected: Task, *updates: tuple[Key, Update], proof: Proof
    ) -> Task | NotDone:
        """`expected` is the task as the updates leave it: a transaction does not show it."""

        def write() -> Task | NotDone:
            done = self._table.transact(*updates)
            return expected if done else NotDone(self._find(expected.ref))

        return self._resolved(expected.ref, write, proof)

    def _resolved(
        self, ref: TaskRef, write: Callable[[], Task | NotDone], proof: Proof
    ) -> Task | NotDone:
        try:
            answer = write()
        except AnswerLost:
            found = self._find(ref)
            if found is not None and proof.possible(found) and not proof.done(found):
                raise
            answer = NotDone(found)
        if isinstance(answer, NotDone) and answer.found is not None and proof.done(answer.found):
            return answer.found
        return answer

    def _find(self, ref: TaskRef) -> Task | None:
        try:
            item = self._table.get(task_key(ref))
        except Unavailable as outage:
            raise AnswerLost(f"{ref.request_id} could not be read back: {outage}") from outage
        return task_from(item, ref.job) if item else None
