"""`verify`: does the log agree with the state table?"""

import json
from datetime import timedelta
from typing import Any

import pytest

from switchyard.contracts.events import (
    CreatedTask,
    JobCompleted,
    JobCreated,
    TaskCompleted,
    TaskPending,
    TaskProcessingStarted,
    UsageFigures,
)
from switchyard.contracts.jobs import JobView
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)
from tests.unit.cli.fakes.event_log import FakeLog, an_event

OUTPUT = {"title": "Shop"}
SCRAPE = a_task("scrape", "completed", cost_usd=0.5)
LONG_AGO = CREATED - timedelta(hours=1)
AGREE = "1 task, 5 events: the log and the state table agree.\n"


def of(fence: int) -> dict[str, Any]:
    return {"request_id": f"{JOB_ID}__scrape", "job_id": JOB_ID, "run": 1, "fence": fence}


@pytest.fixture
def log(api: FakeApi) -> FakeLog:
    usage = UsageFigures(cost_usd=0.5)
    log = FakeLog(
        an_event(
            JobCreated(
                job_id=JOB_ID,
                request_id=JOB_ID,
                run=1,
                tasks=(CreatedTask(task_id="scrape", name="scrape"),),
                total_tasks=1,
            )
        ),
        an_event(TaskPending(**of(1), name="scrape"), 1),
        an_event(TaskProcessingStarted(**of(3), effective_until=1, worker_id="w", process_id=1), 2),
        an_event(TaskCompleted(**of(3), output=OUTPUT, duration_ms=1, exit_code=0, usage=usage), 3),
        an_event(JobCompleted(job_id=JOB_ID, run=1, total_tasks=1, task_statuses={}), 4),
    )
    api.on(f"GET /jobs/{JOB_ID}/events", log)
    table(api, a_job("completed", SCRAPE))
    return log


def table(api: FakeApi, *jobs: JobView, output: Any = OUTPUT, settled_ago: bool = False) -> None:
    when = {"completed_at": LONG_AGO} if settled_ago else {}
    api.on(f"GET /jobs/{JOB_ID}", *[answer(job.model_copy(update=when)) for job in jobs])
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(a_task_view(SCRAPE, output=output)))


@pytest.mark.usefixtures("log")
def test_agreement_is_one_line(switchyard: Switchyard) -> None:
    result = switchyard("verify", JOB_ID)

    assert (result.stdout, result.stderr, result.exit_code) == (AGREE, "", 0)


@pytest.mark.usefixtures("log")
def test_every_difference_is_told_with_both_sides(switchyard: Switchyard, api: FakeApi) -> None:
    wrong = a_job("failed", SCRAPE.model_copy(update={"attempt": 2}))
    table(api, wrong, output={"title": "\x1b[2JShop"}, settled_ago=True)

    result = switchyard("verify", JOB_ID)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "1 task, 5 events: 3 differences between the log and the state table.",
        "job.status",
        "  log    completed",
        "  table  failed",
        "tasks.scrape.attempt",
        "  log    1",
        "  table  2",
        "tasks.scrape.output.title",
        "  log    Shop",
        "  table  \\x1b[2JShop",
    ]


def test_a_lost_event_shows(switchyard: Switchyard, api: FakeApi, log: FakeLog) -> None:
    table(api, a_job("completed", SCRAPE), settled_ago=True)
    del log.events[3]

    result = switchyard("verify", JOB_ID, "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "jobId": JOB_ID,
        "agree": False,
        "tasks": 1,
        "events": 4,
        "differences": [
            {
                "path": "tasks.scrape.status",
                "log": "processing",
                "table": "completed",
                "mayBeDelay": False,
            }
        ],
    }
    assert len(log.asked) == 1


def test_an_event_on_its_way_is_waited_for(switchyard: Switchyard, log: FakeLog) -> None:
    last = log.events.pop()

    def arrive(reads: int) -> None:
        if reads == 3:
            log.events.append(last)

    log.on_read = arrive

    result = switchyard("verify", JOB_ID)

    assert (result.stdout, result.exit_code) == (AGREE, 0)


def test_what_may_be_delay_is_told_so(switchyard: Switchyard, log: FakeLog) -> None:
    log.events.pop()

    result = switchyard("verify", JOB_ID)

    assert result.exit_code == 1
    assert "job.status  (may be delay)\n  log    processing\n  table  completed" in result.stdout
    assert result.stderr == "What may be delay: events travel. Try again in a moment.\n"
    assert 5 < len(log.asked) < 20


def test_a_job_under_way_is_looked_at_again_until_both_stand_alike(
    switchyard: Switchyard, api: FakeApi, log: FakeLog
) -> None:
    running = a_job("processing", a_task("scrape", "processing"))
    table(api, running, running, a_job("completed", SCRAPE))

    assert switchyard("verify", JOB_ID).stdout == AGREE


def test_outputs_are_read_once(switchyard: Switchyard, api: FakeApi, log: FakeLog) -> None:
    log.events.pop()

    switchyard("verify", JOB_ID)

    reads = [r for r in api.requests if r.url.path.endswith("/tasks/scrape")]
    assert len(reads) == 1


def test_a_task_that_did_not_complete_costs_no_request(
    switchyard: Switchyard, api: FakeApi, log: FakeLog
) -> None:
    table(api, a_job("processing", a_task("scrape", "processing")))
    log.events = log.events[:3]

    result = switchyard("verify", JOB_ID)

    assert result.exit_code == 0, result.stdout
    assert not [r for r in api.requests if "/tasks/" in r.url.path]


def test_an_unknown_job_is_refused(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", problem(404, f"there is no job {JOB_ID}"))

    assert switchyard("verify", JOB_ID).exit_code == 2
    assert switchyard("verify", "nonsense").exit_code == 2
