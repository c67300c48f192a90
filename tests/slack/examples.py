"""One incident of every kind, as `docs/alerts.md` shows them."""

from dataclasses import replace
from datetime import UTC, datetime

from switchyard.adapters.slack.blocks import news_of, pages_of
from switchyard.contracts.changes import DecisionView, ShownParent
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.job_incidents import job_incident, task_incident
from switchyard.domain.alerts.stage_incidents import (
    Alarm,
    DeadLetterFacts,
    DeadLettersSeen,
    alarm_incident,
    dead_letters_incident,
    health_incident,
)
from switchyard.domain.alerts.subjects import DeadLettersSubject
from switchyard.domain.health.health import CheckedTask, Health, HealthReport, worst_first
from switchyard.domain.ids import JobRef, bare_task
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskKind, TaskState
from switchyard.domain.tasks.task import Outcome, Task, Usage
from switchyard.usecases.alerts.approval_incidents import approval_incident, approval_state
from tests.fakes.slack.text import shown

REF = JobRef("acme", "job-7d9c1c1e-5b1f-4c53-9d0a-3f2f6f6f2a10")
JOB = Job(
    ref=REF,
    name="brand analysis",
    state=JobState.OPEN,
    total_tasks=3,
    created_at_ms=0,
    failure_detected_at_ms=1,
    failed_task_id="scrape-store",
)
FAILED = replace(JOB, state=JobState.FAILED)
REDRIVEN = replace(JOB, run=2, failure_detected_at_ms=None, state=JobState.OPEN)


def a_task(task_id: str, state: TaskState, *, cost: float = 0.0, error: str | None = None) -> Task:
    outcome = Outcome(
        state=state,
        usage=Usage(cost_usd=cost),
        error=error,
        error_category="network" if error else None,
    )
    return Task(
        ref=REF.task(task_id),
        state=state,
        definition=task_id,
        definition_version=1,
        attempt=3 if error else 1,
        outcome=outcome if state.settled else None,
    )


SCRAPE = a_task(
    "scrape-store", TaskState.FAILED, cost=0.0125, error="shop.example did not answer in 10 s"
)
COMPETITORS = a_task("analyze-competitors", TaskState.COMPLETED, cost=0.0417)
AT_FIRST = (SCRAPE, a_task("analyze-competitors", TaskState.PROCESSING))
IN_THE_END = (SCRAPE, COMPETITORS, a_task("compile-result", TaskState.SKIPPED))


def checked(task_id: str, health: Health, reason: str, *, elapsed: int, silent: int) -> CheckedTask:
    return CheckedTask(
        ref=REF.task(task_id),
        definition=task_id,
        health=health,
        reason=reason,
        elapsed_ms=elapsed * 60_000,
        silent_ms=silent * 60_000,
        last_event_type="Task Heartbeat",
        worker_id="worker-4f1c09d2a7be",
    )


ORDER = replace(
    SCRAPE,
    ref=bare_task("default", "order-4711"),
    outcome=Outcome(
        state=TaskState.FAILED,
        usage=Usage(cost_usd=0.0125),
        error="shop.example did not answer in 10 s",
        error_category="network",
        artifacts="task/logs/order-4711/3/",
    ),
)

STUCK = checked(
    "scrape-store", Health.CRITICAL, "no sign of life for 11 min", elapsed=14, silent=11
)
LATE = checked(
    "compile-result", Health.OVERTIME, "runs for 75 min, 60 min are allowed", elapsed=75, silent=0
)
QUIET = checked("color-tags", Health.WARNING, "no sign of life for 6 min", elapsed=9, silent=6)
IDLE = checked(
    "font-pairing",
    Health.NOT_PROGRESSING,
    "the same call of a tool 10 times in a row",
    elapsed=22,
    silent=0,
)


def health(*tasks: CheckedTask) -> Incident:
    return health_incident(HealthReport(checked_at_ms=0, tasks=worst_first(tasks)))


def dead_letters(queue: str, *letters: DeadLetterFacts) -> Incident:
    subject = DeadLettersSubject(queue)
    seen = DeadLettersSeen(subject=subject, count=len(letters), more=False, newest=letters)
    return dead_letters_incident(seen, stage="prod")


POISON = DeadLetterFacts(
    message_id="9c2f4d0e-5184-4424-865c-8c7950023ca0",
    queue="switchyard-prod-task-queue",
    reason="the body is not JSON",
    event_type=None,
    entity=None,
    parked_at="2027-01-15T08:00:00+00:00",
)
UNDELIVERED = DeadLetterFacts(
    message_id="1aac08c1-6737-40db-8d9c-2a17322a76cd",
    queue="switchyard-prod-undeliverable-events-dlq",
    reason="NO_PERMISSIONS: the queue's policy does not let the rule send to it",
    event_type="Task Completed",
    entity=f"{REF.job_id}__scrape-store",
    parked_at="2027-01-15T08:00:00+00:00",
)
BROKEN = Alarm(
    name="switchyard-prod-task-received-in-vain-unkept",
    raised=True,
    meaning="Dead letters are not handled: the function process-dead-letters is called and fails. "
    "Nothing is lost for 14 days. The log is /aws/lambda/switchyard-prod-process-dead-letters.",
    reason="Threshold Crossed: 5 datapoints were greater than the threshold (0.0).",
)

HELD = Task(
    ref=REF.task("release"),
    state=TaskState.HELD,
    definition="",
    definition_version=0,
    kind=TaskKind.APPROVAL,
)
DECIDED_ON = DecisionView(
    job_id=REF.job_id,
    task_id="release",
    kind="approval",
    status="held",
    run=1,
    question="Publish this draft?",
    held_until=datetime(2027, 1, 17, 8, 0, tzinfo=UTC),
    on_timeout="reject",
    basis="5d41402abc4b2a76",
    parents=(
        ShownParent(
            task_id="draft",
            status="completed",
            output={"title": "A quieter kettle"},
            files=("artifacts/draft.md",),
        ),
    ),
    job_cost_usd=0.0542,
)
DECISION = {"approved": True, "by": "ada (Slack U0123456789)", "comment": None}


def approval(task: Task, view: DecisionView, decision: dict[str, object] | None = None) -> Incident:
    state = approval_state(task, view.basis)
    return approval_incident(state, task.ref, view, decision=decision, stage="prod")


INCIDENTS = {
    "stuck and overtime": health(STUCK, LATE),
    "delayed heartbeats": health(QUIET),
    "not progressing": health(IDLE),
    "health recovered": health(),
    "partial failure": job_incident(JOB, AT_FIRST, stage="prod"),
    "failed job": job_incident(FAILED, IN_THE_END, stage="prod"),
    "job being redriven": job_incident(REDRIVEN, (COMPETITORS,), stage="prod"),
    "job completed after all": job_incident(
        replace(REDRIVEN, state=JobState.COMPLETED),
        (replace(SCRAPE, state=TaskState.COMPLETED), COMPETITORS),
        stage="prod",
    ),
    "failed task without a job": task_incident(ORDER),
    "waiting approval": approval(HELD, DECIDED_ON),
    "decided approval": approval(
        replace(HELD, state=TaskState.COMPLETED),
        DECIDED_ON.model_copy(update={"status": "completed"}),
        DECISION,
    ),
    "parked messages": dead_letters("switchyard-prod-task-queue", POISON),
    "undeliverable events": dead_letters("switchyard-prod-undeliverable-events-dlq", UNDELIVERED),
    "no more parked messages": dead_letters("switchyard-prod-task-queue"),
    "broken processor": alarm_incident(BROKEN, stage="prod"),
    "alarm is over": alarm_incident(replace(BROKEN, raised=False), stage="prod"),
}


def as_text(incident: Incident) -> str:
    """The message, and what is posted in its thread when the incident becomes like this."""
    message = "\n".join(shown(p.blocks) for p in pages_of(incident, with_buttons=True)).rstrip()
    return f"{message}\n\n↳ {shown(news_of(incident).blocks).strip()}"
