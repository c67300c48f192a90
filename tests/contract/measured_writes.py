"""Every write there is, once, on a yard of its own: each answers what it cost."""

from dataclasses import replace

import pytest

from switchyard.contracts.events import (
    LastActivity,
    MemoryUsage,
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
from switchyard.domain.tasks.readiness import Verdict
from switchyard.domain.tasks.task import Lease, Outcome, Usage
from switchyard.ports import KeyTaken
from tests.contract.metered_yard import (
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
    MeteredYard,
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


def write_job(yard: MeteredYard) -> int:
    return yard.cost(yard.written)


def take_key(yard: MeteredYard) -> int:
    return yard.cost(lambda: yard.submission_keys.take(TENANT, "k" * 43, KEY_TAKEN))


def take_key_over(yard: MeteredYard) -> int:
    yard.submission_keys.take(TENANT, "k" * 43, KEY_TAKEN, kind=KeyKind.TRIGGER)
    yard.written()
    other = replace(KEY_TAKEN, job_id=JOB.job_id.replace("7", "8"))
    return yard.cost(
        lambda: yard.submission_keys.take_over(
            TENANT, "k" * 43, other, instead_of=JOB.job_id, kind=KeyKind.TRIGGER
        )
    )


def accept_job(yard: MeteredYard) -> int:
    return yard.cost(lambda: yard.intake.accept(_large(yard)))


def note_written(yard: MeteredYard) -> int:
    yard.intake.accept(_large(yard))
    return yard.cost(lambda: yard.intake.note_written(yard.plan.job, 2_000))


def _large(yard: MeteredYard) -> Job:
    return replace(yard.plan.job, document_key=document_key(TENANT, JOB.job_id))


def open_job(yard: MeteredYard) -> int:
    yard.written()
    return yard.cost(lambda: yard.intake.open(yard.plan, now_ms=NOW_MS))


def note_failure(yard: MeteredYard) -> int:
    job = yard.opened()
    return yard.cost(lambda: yard.jobs.note_failure(job, task_id=PARENTS[0], now_ms=NOW_MS))


def settle_job(yard: MeteredYard) -> int:
    job = yard.opened()
    return yard.cost(lambda: yard.jobs.settle(job, JobState.COMPLETED, now_ms=NOW_MS))


def remove_edge(yard: MeteredYard) -> int:
    yard.opened()
    return yard.cost(lambda: yard.graph.remove_edges(CHILD, {TOKENS[0]: False}))


def remove_edges(yard: MeteredYard) -> int:
    yard.opened()
    return yard.cost(lambda: yard.graph.remove_edges(CHILD, dict.fromkeys(TOKENS, False)))


def remove_edges_again(yard: MeteredYard) -> int:
    """Three of five are gone: refused, and asked again for the others."""
    yard.opened()
    yard.graph.remove_edges(CHILD, dict.fromkeys(TOKENS[:3], False))
    return yard.cost(lambda: yard.graph.remove_edges(CHILD, dict.fromkeys(TOKENS, False)))


def decide_ready(yard: MeteredYard) -> int:
    task, verdict = yard.without_edges(), Verdict(TaskState.READY, "all settled")
    return yard.cost(lambda: yard.graph.decide(task, verdict, now_ms=NOW_MS))


def decide_skipped(yard: MeteredYard) -> int:
    task, verdict = yard.without_edges(), Verdict(TaskState.SKIPPED, f"{PARENTS[0]} failed")
    return yard.cost(lambda: yard.graph.decide(task, verdict, now_ms=NOW_MS))


def mark_queued(yard: MeteredYard) -> int:
    task = yard.ready()
    return yard.cost(lambda: yard.graph.mark_queued(task, now_ms=NOW_MS + 12))


def claim(yard: MeteredYard) -> int:
    yard.queued()
    return yard.cost(yard.claim)


def claim_refused(yard: MeteredYard) -> int:
    yard.claimed()
    return yard.cost(lambda: yard.claim(owner="another"))


def renew(yard: MeteredYard) -> int:
    return _renewed(yard, yard.claimed())


def renew_after_a_retry(yard: MeteredYard) -> int:
    return _renewed(yard, yard.retried())


def _renewed(yard: MeteredYard, lease: Lease) -> int:
    return yard.cost(
        lambda: yard.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=LONG_SIGNS)
    )


def release(yard: MeteredYard) -> int:
    lease = yard.claimed()
    return yard.cost(
        lambda: yard.leases.release(
            lease, not_before_ms=NOW_MS, now_ms=NOW_MS, give_attempt_back=False, error="e" * 200
        )
    )


def settle_small(yard: MeteredYard) -> int:
    return _settled(yard, COMPLETED, {"text": "x" * 700})


def settle_inline(yard: MeteredYard) -> int:
    return _settled(yard, COMPLETED, "x" * 3_990)


def settle_large(yard: MeteredYard) -> int:
    return _settled(yard, COMPLETED, "x" * 3_000_000)


def settle_failed(yard: MeteredYard) -> int:
    return _settled(yard, FAILED, None)


def _settled(yard: MeteredYard, outcome: Outcome, output: object) -> int:
    lease = yard.claimed()
    return yard.cost(lambda: yard.leases.settle(lease, outcome, output=output, now_ms=NOW_MS + 999))


def settle_refused(yard: MeteredYard) -> int:
    stale = replace(yard.claimed(), owner="another")

    def settle() -> None:
        with pytest.raises(LeaseLost):
            yard.leases.settle(stale, COMPLETED, output=1, now_ms=NOW_MS)

    return yard.cost(settle)


def give_up(yard: MeteredYard) -> int:
    yard.queued()
    task = yard.child()
    return yard.cost(lambda: yard.leases.give_up(task, FAILED, now_ms=NOW_MS + 999))


def adopt(yard: MeteredYard) -> int:
    ref = bare_task(TENANT, "order-7d9f2b64-0c1e-4e0a-9d53-1f2a6b8c4e75")
    task = adopted_task(ref, definition=DEFINITION, pinned=Pinned(12), now_ms=NOW_MS)
    return yard.cost(lambda: yard.adoption.adopt(Adoption(task, {"text": "x" * 500})))


def clear_due(yard: MeteredYard) -> int:
    yard.leases.settle(yard.claimed(), COMPLETED, output=1, now_ms=NOW_MS)
    task = yard.child()
    return yard.cost(lambda: yard.graph.clear_due(task))


def move_due(yard: MeteredYard) -> int:
    yard.queued()
    task = yard.child()
    return yard.cost(lambda: yard.overdue.move_due(task, NOW_MS + 654_321, count=True))


def move_due_of_job(yard: MeteredYard) -> int:
    job = yard.opened()
    return yard.cost(lambda: yard.overdue.move_due(job, NOW_MS + 654_321))


def abandon(yard: MeteredYard) -> int:
    yard.written()
    return yard.cost(lambda: yard.overdue.abandon(yard.plan.job))


def heartbeat(yard: MeteredYard) -> int:
    activity = LastActivity(type="step_running", step_name="analyse-prices", timestamp=NOW_MS)
    return yard.tell(
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


def lifecycle(yard: MeteredYard) -> int:
    return yard.tell(TaskPending(**OF_THE_CHILD, name=DEFINITION, depends_on=PARENTS))


def lifecycle_again(yard: MeteredYard) -> int:
    lifecycle(yard)
    return lifecycle(yard)


def completed(yard: MeteredYard) -> int:
    return yard.tell(
        TaskCompleted(
            **OF_THE_CHILD,
            name=DEFINITION,
            output={"text": "x" * 700},
            duration_ms=123_457,
            exit_code=0,
            usage=UsageFigures(**FIGURES, cost_usd=1.234567),
        )
    )
