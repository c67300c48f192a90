"""Looks back at a harness's whole history and says which invariants did not hold.

- I1  every accepted task reaches exactly one terminal state
- I2  one accepted completion per task
- I3  terminal is for ever within a run
- I4  a stale fence changes nothing: no state, no result, no event
- I5  attempts stay within their maximum; only poison is never settled
- I6  a task starts only when all it waits for is settled, and is claimed once per attempt
- I7  the log tells the same as the state table, in any order
- I8  nothing crosses tenants
- I6  nothing of a job is started later than some seconds after its cancellation was accepted, and
      meanwhile no more than there are slots
- I9  once the weather is calm, everything is settled within a bounded time
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.earlier_items import has_left_the_list
from switchyard.domain.ids import BARE_PREFIX, END, TaskRef, is_made_by, makers_of
from switchyard.domain.states import JobState, TaskState
from tests.simulation.checks.event_log import log_differences
from tests.simulation.checks.history import History, Version
from tests.simulation.checks.versions import became, is_claim, left_waiting, named, report
from tests.simulation.checks.workers import (
    charged_for_a_sick_machine,
    failed_while_it_ran,
    run_at_the_same_time,
    shortened,
    started_after_a_cancel,
)
from tests.simulation.harness import Harness

LONGEST_RECOVERY_SECONDS: Final = 40 * 60.0
"""After a storm, in which pauses between nudges doubled. No job's hourly audit comes so early: what
only an audit would find is too late."""


@dataclass(frozen=True, slots=True)
class Violation:
    invariant: str
    text: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.text}"


def violations(harness: Harness) -> list[Violation]:
    checks = (
        ("I1", unsettled(harness.history)),
        ("I1", miscounted(harness.history)),
        ("I1", unadopted(harness)),
        ("I2", completed_twice(harness.history)),
        ("I3", reopened(harness.history)),
        ("I4", changed_by_a_zombie(harness.history)),
        ("I4", results_of_a_zombie(harness)),
        ("I5", beyond_their_attempts(harness.history)),
        ("I5", parked_wrongly(harness)),
        ("I5", charged_for_a_sick_machine(harness.history)),
        ("I6", started_too_early(harness.history)),
        ("I6", decided_twice(harness.history)),
        ("I6", run_though_cancelled(harness.history)),
        ("I6", started_after_a_cancel(harness)),
        ("I6", shortened(harness.history)),
        ("I6", run_at_the_same_time(harness)),
        ("I1", failed_while_it_ran(harness)),
        ("I7", log_differences(harness.cloud, harness.history, harness.dice)),
        ("I8", crossed_tenants(harness)),
        ("I9", recovered_late(harness)),
        ("bug", (repr(bug) for bug in harness.bugs)),
    )
    return [Violation(name, text) for name, texts in checks for text in texts]


def unsettled(history: History) -> Iterator[str]:
    """Return the unsettled tasks of one run; the last, if a job was redriven."""
    for ref, job in history.jobs.items():
        if job.state is JobState.WRITING:
            continue
        if not job.state.settled:
            yield f"{ref.job_id} is still {job.state}"
        for task, versions in history.tasks.items():
            unsettled_one = task.job == ref and not versions[-1].new.state.settled
            if unsettled_one and history.can_run(task):
                yield f"{named(task)} is still {versions[-1].new.state}"


def miscounted(history: History) -> Iterator[str]:
    """A job knows how many tasks it has, and is in the middle of nothing."""
    count = Counter(
        task.job
        for task, versions in history.tasks.items()
        if history.is_visible(task) and not has_left_the_list(versions[-1].new)
    )
    for ref, job in history.jobs.items():
        if job.state is not JobState.WRITING and job.total_tasks != count[ref]:
            yield f"{ref.job_id} has {count[ref]} tasks and counts {job.total_tasks}"
        if job.redrive_key:
            yield f"{ref.job_id} is still being redriven"


def unadopted(harness: Harness) -> Iterator[str]:
    for ref in harness.foreign:
        versions = harness.history.tasks.get(ref, [])
        if not versions or not versions[-1].new.state.settled:
            yield f"{ref.request_id} is {versions[-1].new.state if versions else 'not adopted'}"


def completed_twice(history: History) -> Iterator[str]:
    for task, versions in history.tasks.items():
        completions = [v for v in versions if became(v, TaskState.COMPLETED)]
        for run, count in Counter(v.new.run for v in completions).items():
            if count > 1:
                yield f"{named(task)} completed {count} times in run {run}: {report(completions)}"


def reopened(history: History) -> Iterator[str]:
    for task, versions in history.tasks.items():
        for version in versions:
            old, new = version.old, version.new
            if old is None or not old.state.settled:
                continue
            if old.run != new.run:
                yield from _redriven_wrongly(version, again=task.job in history.asked_again)
            elif (old.state, old.fence, old.outcome) != (new.state, new.fence, new.outcome):
                yield f"{named(task)} was {old.state} and changed: {report([version])}"


def _redriven_wrongly(version: Version, *, again: bool) -> Iterator[str]:
    """What completed is kept, unless that was asked for; what is redriven begins its next run.

    An item that is made anew begins a later one: that of its job.
    """
    old, new = version.old, version.new
    if old is None:
        return
    stays = not (again or old.ref.task_id == END or old.fans_out)
    if old.state is TaskState.COMPLETED and stays:
        yield f"{named(new.ref)} had completed and was redriven: {report([version])}"
    may_skip = again and old.ref.fan_out is not None
    next_run = new.run > old.run if may_skip else new.run == old.run + 1
    if (next_run, new.fence, new.attempt) != (True, old.fence + 1, 0):
        yield f"{named(new.ref)} was redriven from run {old.run}: {report([version])}"


def changed_by_a_zombie(history: History) -> Iterator[str]:
    """Find writes of a process that is not the owner and did not raise the fence."""
    for task, versions in history.tasks.items():
        for version in versions:
            old, new = version.old, version.new
            if old is None:
                continue
            if new.fence < old.fence:
                yield f"the fence of {named(task)} went back: {report([version])}"
            if old.state is not TaskState.PROCESSING or (old.owner or "").startswith(
                f"{version.by}/"
            ):
                continue
            decided = (new.state, new.owner, new.lease_until_ms, new.attempt, new.outcome)
            before = (old.state, old.owner, old.lease_until_ms, old.attempt, old.outcome)
            if new.fence == old.fence and decided != before:
                yield f"{named(task)} of {old.owner} was changed unfenced: {report([version])}"


def results_of_a_zombie(harness: Harness) -> Iterator[str]:
    """A completed task's output was made under the fence that completed it."""
    for task, versions in harness.history.tasks.items():
        completed = versions[-1].new
        if task.hidden or completed.fans_out or completed.state is not TaskState.COMPLETED:
            continue
        made_under = harness.output_of(task).get("fence")
        if made_under not in {None, completed.fence}:
            yield f"{named(task)} completed at fence {completed.fence} with what {made_under} made"


def beyond_their_attempts(history: History) -> Iterator[str]:
    for task, versions in history.tasks.items():
        for version in versions:
            if not 0 <= version.new.attempt <= version.new.max_attempts:
                yield f"{named(task)} is at attempt {version.new.attempt}: {report([version])}"


def parked_wrongly(harness: Harness) -> Iterator[str]:
    """Check that exactly the poison is parked, and that no dead letters are left."""
    objects = harness.cloud.s3.objects
    prefixes = ("parked/", "quarantine/")  # the second is that of version 0.1.0
    keys = [key for key in objects if key.startswith(prefixes)]
    stored = {json.loads(objects[key])["body"] for key in keys}
    for poison in set(harness.poison) - stored:
        yield f"poison is not parked: {poison!r}"
    for good in stored - set(harness.poison):
        yield f"parked, and no poison: {good!r}"
    for message in harness.cloud.dead_letters.messages.values():
        yield f"still among the dead letters: {message.body!r}"


def started_too_early(history: History) -> Iterator[str]:
    for task, versions in history.tasks.items():
        for version in (v for v in versions if is_claim(v)):
            old, new = version.old, version.new
            if old is None or (new.fence, new.attempt) != (old.fence + 1, old.attempt + 1):
                yield f"{named(task)} was claimed twice in one attempt: {report([version])}"
        for version in (v for v in versions if is_claim(v) or left_waiting(v)):
            for parent in _awaited(history, task, version):
                if _was_added_in_a_later_run(history.tasks[parent], versions, version):
                    continue
                if not history.settled_before(parent, version.number):
                    yield f"{named(task)} went before {named(parent)}: {report([version])}"


def _awaited(history: History, task: TaskRef, version: Version) -> list[TaskRef]:
    """The tasks it waited for: a fan-out's items only once they may run.

    An item that is made anew waits for what was not there when it was made first.
    """
    parents = [one for one in history.parents(task) if not _is_later_start(history, one, version)]
    if _has_items(version):
        return parents
    return [parent for parent in parents if not is_made_by(parent.task_id, task.task_id)]


def _is_later_start(history: History, parent: TaskRef, version: Version) -> bool:
    later = history.tasks[parent] and history.tasks[parent][0].number > version.number
    return bool(later) and parent.hidden and bool(makers_of(parent.task_id))


def _has_items(version: Version) -> bool:
    """Whether a fan-out waited for its items, and not yet for what comes before it."""
    return version.old is not None and version.old.child_count is not None


def _was_added_in_a_later_run(
    parent: Sequence[Version], versions: Sequence[Version], decided: Version
) -> bool:
    """Whether the task had been reopened before its parent was added to the job."""
    if not parent:
        return False
    before = [version for version in versions if version.number < parent[0].number]
    return bool(before) and before[-1].new.run > decided.new.run


def decided_twice(history: History) -> Iterator[str]:
    """What waited is ready, or settled, once in each run; a fan-out once more with its items."""
    for task, versions in history.tasks.items():
        decided = [v for v in versions if left_waiting(v)]
        for (run, _), count in Counter((v.new.run, _has_items(v)) for v in decided).items():
            if count > 1:
                yield f"{named(task)} was decided {count} times in run {run}: {report(decided)}"


def run_though_cancelled(history: History) -> Iterator[str]:
    """Find tasks that were started by a process that had seen the flag."""
    for task, versions in history.tasks.items():
        for version in versions:
            old, new = version.old, version.new
            if old is None or not old.cancel_requested or old.run != new.run:
                continue
            if is_claim(version) or (left_waiting(version) and new.state is TaskState.READY):
                yield f"{named(task)} was to be cancelled, and went on: {report([version])}"


def crossed_tenants(harness: Harness) -> Iterator[str]:
    for record in harness.cloud.dynamodb.items(harness.cloud.events):
        tenant = record["tenantId"]["S"]
        if record["PK"]["S"] != f"TENANT#{tenant}":
            yield f"an event of {tenant} is kept under {record['PK']['S']}"
    for item in harness.cloud.dynamodb.items(harness.cloud.state):
        output = item.get("output", {}).get("S", "")
        job_id = item["PK"]["S"].rpartition("#")[2].removeprefix(BARE_PREFIX)
        if "hold" in item:  # what a person or time made of it names no job
            continue
        if output not in {"", "null"} and job_id not in output:
            yield f"{item['PK']['S']} holds the output of another: {output[:80]}"


def recovered_late(harness: Harness) -> Iterator[str]:
    for late in harness.recoveries:
        if late > LONGEST_RECOVERY_SECONDS:
            yield f"the last task settled {late:.0f} s after the storm"
