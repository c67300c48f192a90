"""Every write there is, once, on a harness of its own: each answers what it cost."""

from dataclasses import replace

import pytest

from switchyard.contracts.events import (
    MemoryUsage,
    ReportedActivity,
    TaskCompleted,
    TaskHeartbeat,
    TaskPending,
    UsageFigures,
)
from switchyard.domain.errors import LeaseLost
from switchyard.domain.ids import bare_task
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.prompts.artifacts import document_key
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, Outcome, Usage
from switchyard.ports import KeyTaken
from tests.contract.costs.metered_harness import (
    CHILD,
    DEFINITION,
    JOB,
    LEASE_MS,
    LONG_SIGNS,
    NOW_MS,
    PARENTS,
    TENANT,
    TOKENS,
    WORKER,
    MeteredHarness,
)

FIGURES = {"input_tokens": 123_457, "output_tokens": 98_761, "cache_read_tokens": 1_234_567}
COMPLETED = Outcome(
    state=TaskState.COMPLETED,
    duration_ms=123_457,
    exit_code=0,
    usage=Usage(**FIGURES, cost_usd=1.234567),
    artifacts=f"task/logs/{CHILD.request_id}/3/",
)
FAILED = Outcome(
    state=TaskState.FAILED, duration_ms=123_457, error="e" * 500, error_category="server-error"
)
KEY_TAKEN = KeyTaken(job_id=JOB.job_id, body_hash="f" * 64, created_at_ms=NOW_MS)
OF_THE_CHILD = {"request_id": CHILD.request_id, "job_id": JOB.job_id, "run": 1, "fence": 3}


def write_job(harness: MeteredHarness) -> int:
    return harness.cost(harness.written)


def take_key(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.submission_keys.take(TENANT, "k" * 43, KEY_TAKEN))


def take_key_over(harness: MeteredHarness) -> int:
    harness.submission_keys.take(TENANT, "k" * 43, KEY_TAKEN, kind=KeyKind.TRIGGER)
    harness.written()
    other = replace(KEY_TAKEN, job_id=JOB.job_id.replace("7", "8"))
    return harness.cost(
        lambda: harness.submission_keys.take_over(
            TENANT, "k" * 43, other, instead_of=JOB.job_id, kind=KeyKind.TRIGGER
        )
    )


def accept_job(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.intake.accept(_large(harness)))


def note_written(harness: MeteredHarness) -> int:
    harness.intake.accept(_large(harness))
    return harness.cost(lambda: harness.intake.note_written(harness.plan.job, 2_000))


def _large(harness: MeteredHarness) -> Job:
    return replace(harness.plan.job, document_key=document_key(TENANT, JOB.job_id))


def open_job(harness: MeteredHarness) -> int:
    harness.written()
    return harness.cost(lambda: harness.intake.open(harness.plan, now_ms=NOW_MS))


def note_failure(harness: MeteredHarness) -> int:
    job = harness.opened()
    return harness.cost(lambda: harness.jobs.note_failure(job, task_id=PARENTS[0], now_ms=NOW_MS))


def settle_job(harness: MeteredHarness) -> int:
    job = harness.opened()
    return harness.cost(lambda: harness.jobs.settle(job, JobState.COMPLETED, now_ms=NOW_MS))


def remove_edge(harness: MeteredHarness) -> int:
    harness.opened()
    return harness.cost(lambda: harness.graph.remove_edges(CHILD, {TOKENS[0]: False}))


def remove_edges(harness: MeteredHarness) -> int:
    harness.opened()
    return harness.cost(lambda: harness.graph.remove_edges(CHILD, dict.fromkeys(TOKENS, False)))


def remove_edges_again(harness: MeteredHarness) -> int:
    """Three of five are gone: refused, and asked again for the others."""
    harness.opened()
    harness.graph.remove_edges(CHILD, dict.fromkeys(TOKENS[:3], False))
    return harness.cost(lambda: harness.graph.remove_edges(CHILD, dict.fromkeys(TOKENS, False)))


def decide_ready(harness: MeteredHarness) -> int:
    task, verdict = harness.without_edges(), Readiness(TaskState.READY, "all settled")
    return harness.cost(lambda: harness.graph.decide(task, verdict, now_ms=NOW_MS))


def decide_skipped(harness: MeteredHarness) -> int:
    task, verdict = harness.without_edges(), Readiness(TaskState.SKIPPED, f"{PARENTS[0]} failed")
    return harness.cost(lambda: harness.graph.decide(task, verdict, now_ms=NOW_MS))


def mark_queued(harness: MeteredHarness) -> int:
    task = harness.ready()
    return harness.cost(lambda: harness.graph.mark_queued(task, now_ms=NOW_MS + 12))


def claim(harness: MeteredHarness) -> int:
    harness.queued()
    return harness.cost(harness.claim)


def claim_refused(harness: MeteredHarness) -> int:
    harness.claimed()
    return harness.cost(lambda: harness.claim(owner="another"))


def renew(harness: MeteredHarness) -> int:
    return _renewed(harness, harness.claimed())


def renew_after_a_retry(harness: MeteredHarness) -> int:
    return _renewed(harness, harness.retried())


def _renewed(harness: MeteredHarness, lease: Lease) -> int:
    return harness.cost(
        lambda: harness.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=LONG_SIGNS)
    )


def release(harness: MeteredHarness) -> int:
    lease = harness.claimed()
    return harness.cost(
        lambda: harness.leases.release(
            lease, not_before_ms=NOW_MS, now_ms=NOW_MS, give_attempt_back=False, error="e" * 200
        )
    )


def settle_small(harness: MeteredHarness) -> int:
    return _settled(harness, COMPLETED, {"text": "x" * 700})


def settle_inline(harness: MeteredHarness) -> int:
    return _settled(harness, COMPLETED, "x" * 3_990)


def settle_large(harness: MeteredHarness) -> int:
    return _settled(harness, COMPLETED, "x" * 3_000_000)


def settle_failed(harness: MeteredHarness) -> int:
    return _settled(harness, FAILED, None)


def _settled(harness: MeteredHarness, outcome: Outcome, output: object) -> int:
    lease = harness.claimed()
    return harness.cost(
        lambda: harness.leases.settle(lease, outcome, output=output, now_ms=NOW_MS + 999)
    )


def settle_refused(harness: MeteredHarness) -> int:
    stale = replace(harness.claimed(), owner="another")

    def settle() -> None:
        with pytest.raises(LeaseLost):
            harness.leases.settle(stale, COMPLETED, output=1, now_ms=NOW_MS)

    return harness.cost(settle)


def give_up(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.leases.give_up(task, FAILED, now_ms=NOW_MS + 999))


def adopt(harness: MeteredHarness) -> int:
    ref = bare_task(TENANT, "order-7d9f2b64-0c1e-4e0a-9d53-1f2a6b8c4e75")
    task = adopted_task(ref, definition=DEFINITION, pinned=Pinned(12), now_ms=NOW_MS)
    return harness.cost(lambda: harness.adoption.adopt(Adoption(task, {"text": "x" * 500})))


def clear_due(harness: MeteredHarness) -> int:
    harness.leases.settle(harness.claimed(), COMPLETED, output=1, now_ms=NOW_MS)
    task = harness.child()
    return harness.cost(lambda: harness.graph.clear_due(task))


def move_due(harness: MeteredHarness) -> int:
    harness.queued()
    task = harness.child()
    return harness.cost(lambda: harness.overdue.move_due(task, NOW_MS + 654_321, count=True))


def move_due_of_job(harness: MeteredHarness) -> int:
    job = harness.opened()
    return harness.cost(lambda: harness.overdue.move_due(job, NOW_MS + 654_321))


def abandon(harness: MeteredHarness) -> int:
    harness.written()
    return harness.cost(lambda: harness.overdue.abandon(harness.plan.job))


def heartbeat(harness: MeteredHarness) -> int:
    activity = ReportedActivity(type="step_running", step_name="analyse-prices", timestamp=NOW_MS)
    return harness.report(
        TaskHeartbeat(
            **OF_THE_CHILD,
            effective_until=NOW_MS + LEASE_MS,
            heartbeat_number=123,
            elapsed_ms=123_457,
            worker_id=WORKER,
            process_id=32_101,
            memory_usage=MemoryUsage(rss=123_457_536),
            last_activity=activity,
        )
    )


def lifecycle(harness: MeteredHarness) -> int:
    return harness.report(TaskPending(**OF_THE_CHILD, name=DEFINITION, depends_on=PARENTS))


def lifecycle_again(harness: MeteredHarness) -> int:
    lifecycle(harness)
    return lifecycle(harness)


def completed(harness: MeteredHarness) -> int:
    return harness.report(
        TaskCompleted(
            **OF_THE_CHILD,
            name=DEFINITION,
            output={"text": "x" * 700},
            duration_ms=123_457,
            exit_code=0,
            usage=UsageFigures(**FIGURES, cost_usd=1.234567),
        )
    )
