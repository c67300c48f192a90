"""A job, described in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from switchyard.client.errors import UnusableJob
from switchyard.contracts.jobs import AddTasks, SubmitJob
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.states import Rule, TaskKind

if TYPE_CHECKING:
    from switchyard.domain.errors import Problem


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a job: others may come after it and use what it makes."""

    task_id: str

    def output(self, *path: str | int) -> str:
        """Stands for its output, or a part of it, in the input of a task that comes after it.

        `store.output("products", 0, "name")` is the name of the first product.
        """
        steps = "".join(f"[{json.dumps(step)}]" for step in path)
        return f"${{tasks.{self.task_id}.output{steps}}}"


class Job:
    """Tasks, and which of them come after which. Nothing is sent before `Client.submit`.

    For `Client.add` it is what joins a job: its tasks may come after that one's, too.
    """

    def __init__(
        self,
        name: str = "job",
        *,
        tags: Mapping[str, str] | None = None,
        notify: Mapping[str, str | Sequence[str]] | None = None,
        queue: str | None = None,
        priority: str | None = None,
    ) -> None:
        """`notify` names where failures are published: `{"channel": …}` or `{"webhook": …}`; with
        `"on": ["failed", "completed"]` success is published as well. `queue` and `priority` are
        the work queue and the class of its tasks, unless they name their own.
        """
        self._name = name
        self._tags = dict(tags or {})
        self._notify = notify
        self._placed = {"queue": queue, "priority": priority}
        self._tasks: dict[str, TaskRequest] = {}

    def task(
        self,
        task_id: str,
        *,
        name: str | None = None,
        input: Any = None,  # noqa: A002 - the API's word
        after: Sequence[Task | str] = (),
        rule: Rule = Rule.ALL_COMPLETED,
        when: str | None = None,
        files: Sequence[str] = (),
        artifacts: Sequence[str] = (),
        **how: Any,
    ) -> Task:
        """Add a task. `name` is that of its definition, if it is not called like the task.

        It runs once the tasks it comes `after` have settled as its `rule` asks, if `when`, a
        condition on what they made, holds. It reads what they made. It is given `files`, such as
        `job/brief` or `draft/*.md`, and has to leave `artifacts` behind. `how` may have
        `commitments`, such as `[{"kind": "file", "path": "report.md"}]`: it counts as completed
        only if they are met; and `queue`, `priority` and `metadata`. Raise `UnusableJob`.
        """
        described = {
            "name": name or task_id,
            "input": input,
            "files": tuple(files) or None,
            "artifacts": tuple(artifacts) or None,
            **how,
        }
        return self._add(task_id, described, after=after, rule=rule, when=when)

    def fan_out(
        self,
        task_id: str,
        for_each: str | Sequence[str] | Mapping[str, str],
        *,
        name: str | None = None,
        input: Any = None,  # noqa: A002 - the API's word
        after: Sequence[Task | str] = (),
        rule: Rule = Rule.ALL_COMPLETED,
        when: str | None = None,
        **how: Any,
    ) -> Task:
        """Add a task that runs once for each item of a list, such as `listed.output("files")`.

        `{"file": "job/items.jsonl"}` is a list, too: each line of the file is an item.

        `${item.name}` and `${index}` in its `input` stand for the item. Its output is the list of
        theirs. `how` may have `key`, which names an item, and `tolerate`, such as `"5 %"`.
        """
        whole = isinstance(for_each, str | Mapping)
        each = for_each if whole else tuple(for_each)
        described = {"name": name or task_id, "input": input, "for_each": each, **how}
        return self._add(task_id, described, after=after, rule=rule, when=when)

    def approval(
        self,
        task_id: str,
        question: str | None = None,
        *,
        after: Sequence[Task | str] = (),
        rule: Rule = Rule.ALL_COMPLETED,
        when: str | None = None,
        **how: Any,
    ) -> Task:
        """Hold the job until a person decides; its output says `approved`, `by` and `comment`.

        `how` may have `timeout`, such as `"2d"`, `on_timeout`, `on_reject` and `value_schema`.
        """
        described = {"kind": TaskKind.APPROVAL, "question": question, **how}
        return self._add(task_id, described, after=after, rule=rule, when=when)

    def wait(
        self,
        task_id: str,
        *,
        span: str | int | None = None,
        until: datetime | None = None,
        after: Sequence[Task | str] = (),
        when: str | None = None,
    ) -> Task:
        """Wait for a `span`, such as `"2h"`, or `until` a moment."""
        described = {"kind": TaskKind.WAIT, "wait_for": span, "until": until}
        return self._add(task_id, described, after=after, when=when)

    def signal(
        self,
        task_id: str,
        *,
        after: Sequence[Task | str] = (),
        when: str | None = None,
        **how: Any,
    ) -> Task:
        """Wait for `Client.signal`, whose value is the output; `how` as for an approval."""
        return self._add(task_id, {"kind": TaskKind.SIGNAL, **how}, after=after, when=when)

    def _add(
        self,
        task_id: str,
        described: Mapping[str, Any],
        *,
        after: Sequence[Task | str],
        rule: Rule = Rule.ALL_COMPLETED,
        when: str | None = None,
    ) -> Task:
        if task_id in self._tasks:
            raise UnusableJob(f"The job has a task {task_id!r} already.")
        said = {
            **described,
            "depends_on": tuple(map(id_of, after)) or None,
            "rule": None if rule is Rule.ALL_COMPLETED else rule,
            "when": when,
        }
        given = {name: value for name, value in said.items() if value is not None}
        try:
            self._tasks[task_id] = TaskRequest(task_id=task_id, **given)
        except ValidationError as error:
            raise _unusable(f"The task {task_id!r} cannot be:", error) from error
        return Task(task_id)

    def submission(self) -> SubmitJob:
        """Return the request as it is sent to the API. Raise `UnusableJob`."""
        said: dict[str, Any] = {"tags": self._tags} if self._tags else {}
        if self._notify is not None:
            said["notify"] = self._notify
        said |= {name: value for name, value in self._placed.items() if value is not None}
        try:
            return SubmitJob(name=self._name, tasks=self._requests(), **said)
        except ValidationError as error:
            raise _unusable("The job cannot be:", error) from error

    def addition(self) -> AddTasks:
        return AddTasks(tasks=self._requests())

    def _requests(self) -> tuple[TaskRequest, ...]:
        return tuple(self._tasks.values())


def require_job(given: object) -> None:
    """Raise `TypeError` for what is no job, such as a dictionary."""
    if not isinstance(given, Job) and not hasattr(given, "submission"):
        raise TypeError(
            f"This takes a Job, not a {type(given).__name__}: make one with Job(name) and its "
            "method task, or submit a job file with `switchyard submit`."
        )


def id_of(task: Task | str) -> str:
    return task if isinstance(task, str) else task.task_id


def _unusable(sentence: str, error: ValidationError) -> UnusableJob:
    problems: list[Problem] = validation_problems(error.errors())
    return UnusableJob(sentence, problems)
