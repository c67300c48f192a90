"""Plans a redrive when it is asked for; the dispatcher carries it out (`redrive.py`)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from switchyard.contracts.changes import (
    MAX_NAMED,
    MAX_PLANNED,
    OlderVersion,
    PlannedTask,
    RedriveAccepted,
    RedriveJob,
)
from switchyard.contracts.redrive_plans import plan_key, stored_plan
from switchyard.domain.access.limits import WIDEST_CEILINGS, Asked, Ceilings
from switchyard.domain.errors import Conflict, Invalid, NotNow, Problem, UnknownTask
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.limits import MAX_DOCUMENT_BYTES
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.redrive import (
    Changes,
    NotRedrivable,
    RedrivePlan,
    plan_redrive,
    select,
    select_again,
)
from switchyard.domain.jobs.relays import Edges
from switchyard.domain.nested_jobs.scopes import as_called_by
from switchyard.domain.prompts.references import reference_problems
from switchyard.domain.redrives.preview import Planned, outdated, planned_tasks, stale_tasks
from switchyard.domain.scheduling.placement import Renewal, needs_input, renewal_of
from switchyard.domain.states import task_status
from switchyard.domain.tasks.task import Json, Overrides, Task
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    DispatchQueue,
    JobStore,
    Payloads,
    Redriving,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.queues.named_queues import NO_NAMED_QUEUES, NamedQueues


@dataclass(frozen=True)
class _Asked:
    """A redrive as it is planned, with what was read for it."""

    picture: JobPicture
    edges: Edges
    chosen: tuple[Task, ...]
    plan: RedrivePlan
    latest: Mapping[str, Pinned]
    """The latest versions of the definitions that the chosen tasks run."""

    def answer(self, *, dry_run: bool) -> RedriveAccepted:
        plan, job = self.plan, self.picture.job
        planned = planned_tasks(self.picture, plan)
        versions = {name: pinned.version for name, pinned in self.latest.items()}
        older = islice(outdated(self.chosen, plan, versions), MAX_NAMED)
        return RedriveAccepted(
            job_id=job.ref.job_id,
            status="planned" if dry_run else "redriving",
            run=plan.run + 1,
            ready_tasks=tuple(one.task_id for one in plan.ready),
            reopened_tasks=len(planned),
            cost_usd=sum(one.cost_usd for one in planned),
            planned_tasks=tuple(map(_shown, planned[:MAX_PLANNED])) if dry_run else (),
            stale_tasks=tuple(stale_tasks(self.picture, plan, self.edges)[:MAX_NAMED]),
            older_versions=tuple(_older(task, latest) for task, latest in older),
        )


@dataclass(frozen=True, kw_only=True)
class RedriveRequests:
    jobs: JobStore
    redriving: Redriving
    blobs: BlobStore
    dispatches: DispatchQueue
    clock: Clock
    ceilings: Ceilings = WIDEST_CEILINGS
    open_tasks: OpenTaskLimit | None = None
    """The limit of open tasks; `None` for operators, who are not limited."""
    definitions: DefinitionStore | None = None
    """The definitions; `None` where the latest version cannot be asked for."""
    payloads: Payloads | None = None
    """Where the inputs are that keys of limits are read from; `None` as above."""
    queues: NamedQueues = NO_NAMED_QUEUES

    def request_redrive(
        self, ref: JobRef, request: RedriveJob, *, run: int | None = None, by: str | None = None
    ) -> RedriveAccepted:
        """The plan first: the flip of the job is what makes it valid.

        `run` is the one that was looked at, if that matters; `by` a person, where one is known.
        """
        self._require_allowed(request)
        picture = self.jobs.picture(ref)
        self._require_settled(picture, request.run if run is None else run)
        asked = self._planned(picture, request)
        plan = replace(asked.plan, requested_by=by)
        answer = asked.answer(dry_run=request.dry_run)
        if self.open_tasks is not None:
            self.open_tasks.require_room(ref, tasks=answer.reopened_tasks)
        if request.dry_run:
            return answer
        document = stored_plan(plan)
        key = plan_key(ref, plan, document)
        self.blobs.put(key, document, content_type="application/json")
        if not self.redriving.begin(picture.job, key=key, now_ms=self.clock.now_ms()):
            raise Conflict(f"{ref.job_id} was changed at the same time")
        self.dispatches.send([ref])
        return answer

    def _require_allowed(self, request: RedriveJob) -> None:
        problems = self.ceilings.problems_with(
            Asked(
                model=request.model,
                max_turns=request.max_turns,
                timeout_ms=request.timeout,
                max_cost_usd=request.max_cost_usd,
                max_tokens=request.max_tokens,
            )
        )
        if problems:
            raise Invalid(problems)

    def _require_settled(self, picture: JobPicture, run: int | None) -> None:
        job = picture.job
        problem = job.problem_with_run(run)
        if problem:
            raise Conflict(problem)
        if job.redrive_key:
            self.dispatches.send([job.ref])  # perhaps no function works on it any more
            raise Conflict(f"{job.ref.job_id} is being redriven already")
        if not job.state.settled:
            raise Conflict(f"{job.ref.job_id} has not settled yet; only then can it be redriven")
        if any(task.due_at_ms is not None for task in picture.tasks):
            raise NotNow(f"{job.ref.job_id} is still emitting its events; try again in a minute")

    def _planned(self, picture: JobPicture, request: RedriveJob) -> _Asked:
        _check(request, picture)
        again = select_again(picture, request.from_)
        selected = () if request.from_ and not request.tasks else select(picture, request.tasks)
        if isinstance(selected, NotRedrivable):
            raise Conflict(selected.reason)
        if isinstance(again, NotRedrivable):
            raise Conflict(again.reason)
        chosen = (*selected, *again)
        latest = self._latest(picture, chosen, pinning=request.latest)
        edges = self.redriving.edges(picture.job.ref)
        plan = plan_redrive(
            picture,
            edges,
            selected,
            self._changes(request, latest, chosen),
            now_ms=self.clock.now_ms(),
            again=again,
        )
        return _Asked(picture, edges, chosen, plan, latest)

    def _latest(
        self, picture: JobPicture, chosen: tuple[Task, ...], *, pinning: bool
    ) -> Mapping[str, Pinned]:
        """Read the latest versions of what the chosen tasks run. Raise `Invalid` if one that is to
        be run is not allowed here."""
        names = sorted({task.definition for task in chosen if task.definition})
        if self.definitions is None or not names:
            return {}
        found = self.definitions.latest(picture.job.ref.tenant, names)
        problems = [
            Problem(("latest",), f"definition {name!r}: {problem}")
            for name, definition in found.items()
            for problem in definition.problems_with(self.ceilings)
        ]
        missing = [name for name in names if name not in found]
        if missing:
            said = f"definition {missing[0]!r} was deleted: register it, or redrive without"
            problems.append(Problem(("latest",), said))
        if pinning and problems:
            raise Invalid(problems)
        return {name: definition.pin for name, definition in found.items()}

    def _changes(
        self, request: RedriveJob, latest: Mapping[str, Pinned], chosen: tuple[Task, ...]
    ) -> Changes:
        named = (*request.tasks, *request.from_)
        inputs = {named[0]: request.input} if request.gives_input else {}
        return Changes(
            overrides=Overrides(
                model=request.model,
                max_turns=request.max_turns,
                timeout_ms=request.timeout,
                max_cost_usd=request.max_cost_usd,
                max_tokens=request.max_tokens,
            ),
            inputs=inputs,
            pinned=latest if request.latest else {},
            renewals=self._renewals(latest, chosen, inputs) if request.latest else {},
        )

    def _renewals(
        self, latest: Mapping[str, Pinned], chosen: tuple[Task, ...], inputs: Mapping[str, Json]
    ) -> Mapping[str, Renewal]:
        """Return what the latest versions say of limits and attempts, by task id."""
        tasks = [task for task in chosen if task.definition in latest]
        if not tasks:
            return {}
        queues = self.queues.read(tasks[0].ref.tenant, [task.queue for task in tasks])
        keyed = [task.ref for task in tasks if needs_input(latest[task.definition].terms)]
        read = self.payloads.read_many(keyed) if self.payloads and keyed else {}
        given = {name: payload.input for name, payload in read.items()} | dict(inputs)
        return {
            task.ref.task_id: renewal_of(
                task,
                latest[task.definition].terms,
                max_attempts=latest[task.definition].max_attempts,
                queue=queues.get(task.queue or ""),
                given=given.get(task.ref.task_id),
            )
            for task in tasks
        }


def _check(request: RedriveJob, picture: JobPicture) -> None:
    known = {task.ref.task_id for task in picture.visible_tasks}
    for name in (*request.tasks, *request.from_):
        if name not in known:
            raise UnknownTask(picture.job.ref.task(name).request_id)
    if request.gives_input:
        problems = _input_problems(request, picture)
        if problems:
            raise Invalid(problems)


def _input_problems(request: RedriveJob, picture: JobPicture) -> list[Problem]:
    named = (*request.tasks, *request.from_)
    if len(named) != 1:
        return [Problem(("input",), "is one task's: name exactly one in tasks or from")]
    size = len(request.model_dump_json(by_alias=True).encode())
    if size > MAX_DOCUMENT_BYTES:
        return [Problem(("input",), f"{size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are accepted")]
    [name] = named
    made = [t.ref.task_id for t in picture.tasks if {t.expanded, t.child_count} != {None}]
    if name in request.tasks and name in made:
        said = (
            f"{name}'s items were made of the input it had; name the items that need another, or "
            f"name {name} in from to make all of them anew"
        )
        return [Problem(("input",), said)]
    parents, declared = as_called_by(name, picture.follows())
    spec = TaskSpec(task_id=name, name="", depends_on=parents, input=request.input)
    problems = reference_problems([spec], declared=declared)
    return [Problem(problem.path[2:], problem.message) for problem in problems]


def _shown(one: Planned) -> PlannedTask:
    return PlannedTask(
        task_id=one.task.ref.task_id,
        status=task_status(one.task.state, attempt=one.task.attempt),
        at_once=one.at_once,
        cost_usd=one.cost_usd,
        items=one.items,
    )


def _older(task: Task, latest: int) -> OlderVersion:
    return OlderVersion(
        task_id=task.ref.task_id,
        definition=task.definition,
        version=task.definition_version,
        latest=latest,
    )
