"""Reads what a job that is a task is made of, and what it returns.

A version of a template never changes, nor does what its input refers to: the same task makes the
same tasks whenever it is asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from switchyard.contracts.json_schema import mismatch
from switchyard.domain.fan_out.fan_outs import MAX_GATHERED_BYTES, MAX_LIST_BYTES
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.fan_out.plan import Expansion
from switchyard.domain.ids import in_scope
from switchyard.domain.jobs.job import Job
from switchyard.domain.json_values import problem_in
from switchyard.domain.nested_jobs.expansion import plan_job_task, returned, tasks_returned
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.prompts.references import (
    NotAReference,
    UnresolvedReference,
    references_in,
    resolve,
)
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.ports import DefinitionStore, Payloads
from switchyard.usecases.queues.named_queues import NO_NAMED_QUEUES, NamedQueues


@dataclass(frozen=True, kw_only=True)
class NestedJobs:
    payloads: Payloads
    definitions: DefinitionStore | None
    """The definitions; `None` where nothing is expanded."""
    queues: NamedQueues = NO_NAMED_QUEUES

    def planned(self, job: Job, task: Task, payload: Payload) -> Expansion:
        """Raise `NotExpandable` or `Rejected`."""
        schema, template = self._template(task)
        given = self._given(task, payload)
        problem = mismatch(given, schema) if schema else None
        if problem:
            raise NotExpandable(f"input: does not match the template's inputSchema: {problem}")
        placing = self.queues.of_template(task.ref.tenant, template, task.queue)
        return plan_job_task(job, task, template, given, placing=placing)

    def output(self, task: Task) -> Json:
        """Return what a job makes whose tasks have settled. Raise `UnresolvedReference`, or
        `TooMuch`."""
        _, template = self._template(task)
        return returned(template, self._outputs(task, task.ref.task_id, tasks_returned(template)))

    def _given(self, task: Task, payload: Payload) -> Json:
        try:
            named = [reference.task_id for reference in references_in(payload.input)]
            outputs = self._outputs(task, payload.scope, named, max_bytes=MAX_LIST_BYTES)
            given = resolve(payload.input, outputs)
        except (NotAReference, UnresolvedReference) as error:
            raise NotExpandable(f"input: {error}") from error
        problem = problem_in(given)
        if problem:
            raise NotExpandable(f"input: with what its references bring in, {problem}")
        return given

    def _outputs(
        self,
        task: Task,
        scope: str | None,
        names: Iterable[str],
        *,
        max_bytes: int = MAX_GATHERED_BYTES,
    ) -> dict[str, Json]:
        ids = {in_scope(scope, name): name for name in names}
        found = self.payloads.outputs(task.ref.job, list(ids), max_bytes=max_bytes)
        return {ids[name]: value for name, value in found.items()}

    def _template(self, task: Task) -> tuple[dict[str, Json] | None, JobTemplate]:
        if self.definitions is None:
            raise LookupError("a job that is a task is left to the dispatcher")
        definition = self.definitions.version(
            task.ref.tenant, task.definition, task.definition_version
        )
        template = definition.template
        if template is None:
            raise NotExpandable(f"name: {task.definition!r} is not the template of a job")
        return definition.input_schema, template
