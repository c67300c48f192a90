"""Invariants of what workers did: when children ran, and what a lease promised."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from switchyard.domain.ids import JobRef
from switchyard.domain.states import TaskState
from tests.simulation.checks.history import History, Version
from tests.simulation.checks.versions import became, is_claim, is_the_owners, named, report
from tests.simulation.harness import Harness
from tests.simulation.stage.workers import NO_OUTCOME, SETTINGS, ChildRun

LATEST_START_SECONDS: Final = 5.0
"""After a cancel was accepted: what was read before that may still be under way to a worker."""


def started_after_a_cancel(harness: Harness) -> Iterator[str]:
    """Unless its worker was frozen between its last look at the job and the start."""
    runs = {
        (task, version.new.fence): _run_of_job(harness, version)
        for task, versions in harness.history.tasks.items()
        for version in versions
        if is_claim(version)
    }
    late: defaultdict[JobRef, list[ChildRun]] = defaultdict(list)
    for child in harness.children:
        accepted = harness.history.cancelled_at.get((child.ref.job, runs[child.ref, child.fence]))
        if accepted is None or child.node.froze_at or child.began <= accepted:
            continue
        late[child.ref.job].append(child)
        if child.began > accepted + LATEST_START_SECONDS:
            seconds = child.began - accepted
            yield f"{named(child.ref)} was started {seconds:.1f} s after its job was cancelled"
    for job, children in late.items():
        slots = SETTINGS.max_concurrent_claude * len({child.node for child in children})
        if len(children) > slots:
            yield f"of {job.job_id} {len(children)} were started after its cancel on {slots} slots"


def _run_of_job(harness: Harness, version: Version) -> int:
    """An item of a fan-out that was expanded in a later run of the job begins its own first."""
    ref = version.new.ref
    owner = harness.history.tasks[ref.job.task(ref.fan_out)] if ref.fan_out else []
    earlier = [one.new.run for one in owner if one.number < version.number]
    return max([version.new.run, *earlier[-1:]])


def shortened(history: History) -> Iterator[str]:
    """A worker trusts its last confirmed renewal: no earlier one may undo it."""
    for task, versions in history.tasks.items():
        for version in versions:
            old, new = version.old, version.new
            if old is None or old.state is not TaskState.PROCESSING:
                continue
            held = (new.state, new.owner, new.fence) == (old.state, old.owner, old.fence)
            if held and new.lease_until_ms < old.lease_until_ms:
                yield f"the lease of {named(task)} became shorter: {report([version])}"


def run_at_the_same_time(harness: Harness) -> Iterator[str]:
    """Unless a worker was frozen: then a lease may be taken while its child is still there."""
    steady = [child for child in harness.children if not child.node.froze_at]
    for one in steady:
        for other in steady:
            if one.ref == other.ref and one.fence < other.fence and _overlap(one, other):
                yield (
                    f"{named(one.ref)} ran twice at {other.began:.3f} s: on {one.node.name} under"
                    f" fence {one.fence}, on {other.node.name} under fence {other.fence}"
                )


def charged_for_a_sick_machine(history: History) -> Iterator[str]:
    """A full disk costs no task an attempt."""
    for task, versions in history.tasks.items():
        for version in versions:
            new = version.new
            errors = (new.last_error, new.outcome.error if new.outcome else None)
            if any(NO_OUTCOME in (error or "") for error in errors):
                yield f"{named(task)} was charged with a full disk: {report([version])}"


def failed_while_it_ran(harness: Harness) -> Iterator[str]:
    """Nobody gives up a task whose worker, which was never frozen, still runs it."""
    for task, versions in harness.history.tasks.items():
        for version in versions:
            if not became(version, TaskState.FAILED) or is_the_owners(version):
                continue
            for child in harness.children:
                if child.ref == task and not child.node.froze_at and _runs_at(child, version.at):
                    yield f"{named(task)} was failed while it ran: {report([version])}"


def _runs_at(child: ChildRun, at: float) -> bool:
    return child.began < at and (child.ended is None or child.ended > at)


def _overlap(one: ChildRun, other: ChildRun) -> bool:
    return one.ended is None or one.ended > other.began
