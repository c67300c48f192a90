"""What `events` says of each type, in a few words."""

import pytest

from switchyard.contracts.events import (
    CreatedTask,
    HealthSummary,
    JobFailed,
    JobFailureDetected,
    JobTasksAdded,
    MemoryUsage,
    Properties,
    ReportedActivity,
    TaskCancelled,
    TaskExpanded,
    TaskFailed,
    TaskHealthCheck,
    TaskHeartbeat,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskRedriven,
    TaskReleased,
    TaskSkipped,
    TaskTimeout,
)
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, NOW_MS
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.events import of, of_job

pytestmark = pytest.mark.usefixtures("in_a_known_zone")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (TaskExpanded(**of(), items=1_200), "1,200 items"),
        (
            TaskProcessingStarted(**of(), effective_until=1, worker_id="w-1", process_id=7),
            "w-1, process 7",
        ),
        (
            TaskProcessingFailed(**of(), attempt_number=1, error="reset", error_category="network"),
            "attempt 1, network, reset",
        ),
        (
            TaskFailed(
                **of(), error="bad", error_category="validation", retry_count=2, source="worker"
            ),
            "attempt 3, validation, bad",
        ),
        (
            TaskTimeout(**of(), timeout_ms=300_000, elapsed_ms=300_400, signal="SIGKILL"),
            "SIGKILL after 5 min 00 s of 5 min 00 s",
        ),
        (
            TaskReleased(**of(), reason="the worker is stopping", not_before=NOW_MS),
            "the worker is stopping, not before 09:00:00",
        ),
        (TaskSkipped(**of(), reason="did not complete: a"), "did not complete: a"),
        (TaskCancelled(**of(), reason="asked"), "asked"),
        (TaskRedriven(**of(run=2), job_run=2, previous_status="failed"), "was failed, run 2"),
        (
            TaskHeartbeat(
                **of(),
                effective_until=1,
                heartbeat_number=4,
                elapsed_ms=61_000,
                worker_id="w",
                process_id=1,
                memory_usage=MemoryUsage(rss=52_000_000),
                last_activity=ReportedActivity(type="step_running", step_name="read", timestamp=1),
            ),
            "beat 4, 1 min 01 s, 52 MB, read",
        ),
        (JobFailureDetected(**of_job(), failed_task_id="a", task_statuses={}), "a failed first"),
        (
            JobFailed(
                **of_job(),
                total_tasks=3,
                task_statuses={"a": "failed", "b": "skipped", "c": "skipped"},
            ),
            "1 failed, 2 skipped",
        ),
        (
            JobTasksAdded(
                **of_job(),
                chunk=1,
                new_tasks=(CreatedTask(task_id="x", name="x"),),
                previous_total_tasks=1,
                total_tasks_now=2,
            ),
            "1 more, 2 tasks",
        ),
        (
            TaskHealthCheck(
                checked_at=1,
                tasks=(),
                summary=HealthSummary(
                    total_processing=3,
                    healthy=1,
                    warning=0,
                    critical=1,
                    overtime=0,
                    not_progressing=1,
                ),
            ),
            "3 processing, 1 healthy, 1 critical, 1 not progressing",
        ),
        (TaskPending(**of(), name="n", depends_on=("a", "b")), "n, after a and b"),
    ],
    ids=lambda value: value.event_type if isinstance(value, Properties) else "",
)
def test_each_type_says_what_matters(
    switchyard: Switchyard, log: FakeLog, said: Properties, words: str
) -> None:
    log.events = [an_event(said)]

    line = switchyard("events", JOB_ID).stdout.splitlines()[-1]

    assert said.event_type in line
    assert line.endswith(f"  {words}")
