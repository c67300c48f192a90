"""`smoke`: each step with its time, an exit code, and a key that never outlives the check."""

import json

import httpx
import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.events import (
    CreatedTask,
    JobCompleted,
    JobCreated,
    TaskCompleted,
    TaskPending,
    TaskProcessingStarted,
    UsageFigures,
)
from switchyard.contracts.jobs import JobAccepted
from switchyard.domain.access.api_keys import ApiKey
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.ids import SMOKE_TENANT
from switchyard_cli.actions.smoke_check import ADVICE, Step
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    NOW_MS,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.keys import FakeKeys
from tests.unit.cli.fakes.rollout import FakeRollout

OF_TASK = {"request_id": f"{JOB_ID}__smoke", "job_id": JOB_ID, "run": 1}
WAITING = a_job("pending", a_task("smoke", "waiting"))
QUEUED = a_job("pending", a_task("smoke", "pending"))
RUNNING = a_job("processing", a_task("smoke", "processing"))
DONE = a_job("completed", a_task("smoke", "completed"))
DEAD = a_job("failed", a_task("smoke", "failed", error="no such backend"))
THERE = PresentWorker(
    worker_id="worker-1", started_at_ms=NOW_MS, seen_at_ms=NOW_MS, slots=3, busy=0, version="1"
)
WORKED = [*Step]


@pytest.fixture
def log(api: FakeApi) -> FakeLog:
    created = JobCreated(
        job_id=JOB_ID,
        request_id=JOB_ID,
        run=1,
        tasks=(CreatedTask(task_id="smoke", name="smoke"),),
        total_tasks=1,
    )
    started = TaskProcessingStarted(
        **OF_TASK, fence=3, effective_until=1, worker_id="w", process_id=1
    )
    ended = TaskCompleted(
        **OF_TASK, fence=3, output={}, duration_ms=1, exit_code=0, usage=UsageFigures()
    )
    log = FakeLog(
        an_event(created),
        an_event(TaskPending(**OF_TASK, fence=1, name="smoke"), 1),
        an_event(started, 2),
        an_event(ended, 3),
        an_event(JobCompleted(job_id=JOB_ID, run=1, total_tasks=1, task_statuses={}), 4),
    )
    api.on(f"GET /jobs/{JOB_ID}/events", log)
    return log


@pytest.fixture(autouse=True)
def stage(api: FakeApi, log: FakeLog, environment: dict[str, str]) -> FakeLog:
    """A stage that works."""
    environment["SWITCHYARD_API_URL"] = "https://api.example.com/api"
    definition = RegisteredDefinition(
        name="smoke", version=1, description="d", tag="t", backend="offline"
    )
    api.on("PUT /task-definitions/smoke", answer(definition))
    accepted = JobAccepted(
        job_id=JOB_ID, status="pending", created_at=CREATED, total_tasks=1, root_tasks=("smoke",)
    )
    api.on("POST /jobs", answer(accepted, 201))
    api.on(f"GET /jobs/{JOB_ID}", *map(answer, (WAITING, QUEUED, RUNNING, DONE)))
    task = DONE.tasks[0]
    api.on(f"GET /jobs/{JOB_ID}/tasks/smoke", answer(a_task_view(task, output={})))
    return log


def issued(keys: FakeKeys, stage: str = "dev") -> tuple[ApiKey, ...]:
    return keys.stages[stage].all(SMOKE_TENANT)


def report(switchyard: Switchyard, *options: str) -> dict[str, object]:
    result = switchyard("smoke", "--stage", "dev", "--json", *options)
    found: dict[str, object] = json.loads(result.stdout)
    assert result.exit_code == (0 if found["passed"] else 1)
    return found


def test_a_stage_that_works_is_shown_step_by_step(
    switchyard: Switchyard, keys: FakeKeys, api: FakeApi
) -> None:
    result = switchyard("smoke", "--stage", "dev")

    *steps, verdict = result.stdout.splitlines()
    assert [line.split(" s  ")[1] for line in steps] == WORKED
    assert verdict == "The stage dev works: one task ran in it, from the API to the log."
    assert result.exit_code == 0
    (key,) = issued(keys)
    assert key.revoked_at_ms is not None
    (definition,) = api.sent("PUT /task-definitions/smoke")
    assert definition["backend"] == "offline"
    submitted = next(request for request in api.requests if request.method == "POST")
    assert submitted.headers["idempotency-key"] == "a-new-key"
    assert submitted.headers["x-api-key"] == f"swy.{SMOKE_TENANT}.from-dev"


def test_json_is_all_there_is_on_stdout(switchyard: Switchyard) -> None:
    found = report(switchyard)

    assert (found["stage"], found["passed"], found["jobId"]) == ("dev", True, JOB_ID)
    steps = found["steps"]
    assert isinstance(steps, list)
    assert [step["step"] for step in steps] == WORKED
    assert found["failedStep"] is None


def test_the_local_cloud_is_checked_without_a_key_of_its_own(
    switchyard: Switchyard, keys: FakeKeys
) -> None:
    result = switchyard("smoke")

    assert result.exit_code == 0
    assert keys.asked == [("local", "http://127.0.0.1:4580")] * 2


@pytest.mark.parametrize(
    ("job", "workers", "step"),
    [
        (WAITING, False, Step.QUEUED),
        (QUEUED, False, Step.WORKER),
        (QUEUED, True, Step.RUNNING),
        (RUNNING, True, Step.COMPLETED),
    ],
    ids=["queued", "worker", "running", "completed"],
)
def test_a_step_that_does_not_happen_in_time_says_what_to_look_at(
    job: object,
    workers: bool,
    step: Step,
    switchyard: Switchyard,
    api: FakeApi,
    keys: FakeKeys,
    releases: FakeRollout,
) -> None:
    if workers:
        releases.presence.seen(THERE)
    api.on(f"GET /jobs/{JOB_ID}", answer(job))  # type: ignore[arg-type]

    result = switchyard("smoke", "--stage", "dev", "--timeout", "30")

    *_, revoked, failed, look_at = result.stdout.splitlines()
    assert revoked.endswith(Step.REVOKED)
    assert failed.split("  ")[-1].strip() == f"{step}: It did not happen within 30 seconds."
    assert look_at == ADVICE[step].format(option=" --stage dev")
    assert result.exit_code == 1
    assert all(key.revoked_at_ms is not None for key in issued(keys))


def test_a_job_that_fails_ends_the_check_at_once(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(DEAD))

    found = report(switchyard)

    assert found["failedStep"] == Step.COMPLETED
    assert found["problem"] == "The job ended as failed: no such backend."


def test_a_log_that_lacks_an_event_is_a_failure(switchyard: Switchyard, stage: FakeLog) -> None:
    del stage.events[3]

    found = report(switchyard, "--timeout", "20")

    assert found["failedStep"] == Step.LOGGED
    assert "does not agree" in str(found["problem"])


def test_an_api_that_does_not_answer_is_a_step_that_failed(
    switchyard: Switchyard, api: FakeApi, keys: FakeKeys
) -> None:
    api.on("PUT /task-definitions/smoke", httpx.ConnectError("refused"))

    found = report(switchyard)

    assert found["failedStep"] == Step.API
    assert found["jobId"] is None
    assert all(key.revoked_at_ms is not None for key in issued(keys))


def test_a_refused_job_is_a_step_that_failed(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("POST /jobs", problem(400, "there is no definition smoke"))

    assert report(switchyard)["failedStep"] == Step.ACCEPTED


def test_without_credentials_nothing_is_asked_of_the_api(
    switchyard: Switchyard, keys: FakeKeys, api: FakeApi
) -> None:
    keys.outage = Unavailable("Unable to locate credentials")

    found = report(switchyard)

    assert found["failedStep"] == Step.KEY
    assert found["problem"] == "Unable to locate credentials."
    assert api.requests == []


def test_ctrl_c_revokes_the_key(switchyard: Switchyard, api: FakeApi, keys: FakeKeys) -> None:
    api.on(f"GET /jobs/{JOB_ID}", KeyboardInterrupt())

    result = switchyard("smoke", "--stage", "dev")

    assert result.exit_code == 130
    (key,) = issued(keys)
    assert key.revoked_at_ms is not None


def test_a_key_that_cannot_be_revoked_is_reported_beside_the_failure(
    switchyard: Switchyard, api: FakeApi, keys: FakeKeys
) -> None:
    def goes_down(_: httpx.Request) -> httpx.Response:
        keys.outage = Unavailable("the table is down")
        return answer(DEAD)

    api.on(f"GET /jobs/{JOB_ID}", goes_down)

    result = switchyard("smoke", "--stage", "dev")

    assert "The job ended as failed" in result.stdout
    assert "The API key is not revoked: the table is down." in result.stderr
    assert f"switchyard keys list {SMOKE_TENANT} --stage dev" in result.stderr
    assert result.exit_code == 1
