"""What a submission accepts, refuses and answers."""

from dataclasses import replace

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.events import JobCreated
from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import InvalidJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job_filters import JobFilter
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.list_jobs import list_jobs
from switchyard.usecases.jobs.read_jobs import read_job, read_task
from tests.builders import DIAMOND, TENANT, a_definition, a_submission
from tests.fakes.harnesses.submitting import a_submitter
from tests.fakes.task_files import files_of


@pytest.fixture
def harness() -> MemoryHarness:
    harness = MemoryHarness(ManualClock())
    harness.definitions.put(TENANT, "scrape", a_definition())
    return harness


def submit(harness: MemoryHarness, request: SubmitJob) -> JobAccepted:
    return a_submitter(harness, clock=ManualClock(), ids=SystemIds()).submit(TENANT, request)


def problems(harness: MemoryHarness, request: SubmitJob) -> list[str]:
    with pytest.raises(InvalidJob) as refused:
        submit(harness, request)
    assert harness.state.jobs == {}
    assert harness.bus.events == []
    return [str(problem) for problem in refused.value.problems]


def test_the_answer_names_job_roots_and_total(harness: MemoryHarness) -> None:
    accepted = submit(harness, a_submission())
    assert accepted.status == "created"
    assert (accepted.total_tasks, set(accepted.root_tasks)) == (
        5,
        {"scrape-store", "analyze-competitors"},
    )


def test_a_definition_above_the_stages_ceilings_is_refused_at_its_first_task(
    harness: MemoryHarness,
) -> None:
    """It may have been registered before there was such a ceiling."""
    dear = a_definition(max_cost_usd=500.0, model="dearest", max_turns=200)
    harness.definitions.put(TENANT, "scrape", dear)
    submitter = replace(
        a_submitter(harness, clock=ManualClock(), ids=SystemIds()),
        ceilings=Ceilings(max_cost_usd=50, max_turns=100, models=("small",)),
    )
    with pytest.raises(InvalidJob) as refused:
        submitter.submit(TENANT, a_submission())
    assert [(problem.path, problem.message) for problem in refused.value.problems] == [
        (("tasks", 0, "name"), f"definition 'scrape': {said}")
        for said in (
            "maxCostUsd: is 500.0; this stage allows at most 50",
            "maxTurns: is 200; this stage allows at most 100",
            "model: 'dearest' is not allowed in this stage; allowed: small",
        )
    ]
    assert harness.state.jobs == {}


def test_a_submitted_job_can_be_read_and_listed(harness: MemoryHarness) -> None:
    accepted = submit(harness, a_submission(tags={"team": "web"}))
    view = read_job(TENANT, accepted.job_id, jobs=harness.jobs)
    assert (view.status, view.progress) == ("processing", {"waiting": 5})
    assert {t.task_id: sorted(t.depends_on) for t in view.tasks} == {
        name: sorted(parents) for name, parents in DIAMOND.items()
    }
    assert view.tags == {"team": "web"}
    page = list_jobs(TENANT, wanted=JobFilter(), limit=5, cursor=None, jobs=harness.jobs)
    assert [job.job_id for job in page.jobs] == [accepted.job_id]


@pytest.mark.parametrize("edges", [DIAMOND, {f"t{n}": [] for n in range(1_001)}], ids=len)
def test_whom_a_job_names_is_stored_and_shown_however_large_the_job_is(
    harness: MemoryHarness, edges: dict[str, list[str]]
) -> None:
    named = {"webhook": "https://hooks.example/in"}
    accepted = submit(harness, a_submission(edges, notify=named))
    job = harness.jobs.find(JobRef(TENANT, accepted.job_id))
    assert job is not None
    assert job.notify == NotifyTarget(webhook="https://hooks.example/in")
    view = read_job(TENANT, accepted.job_id, jobs=harness.jobs)
    assert view.model_dump(mode="json", exclude_none=True)["notify"] == named


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://hooks.example/", "must begin with https://"),
        ("https://hooks.example:8443/", "must not name another port than 443"),
        ("https://169.254.169.254/", "169.254.169.254 is link-local"),
    ],
)
def test_a_webhook_that_the_stage_does_not_allow_is_refused(
    harness: MemoryHarness, url: str, problem: str
) -> None:
    named = a_submission(notify={"webhook": url})
    assert problems(harness, named) == [f"notify.webhook: {problem}"]


def test_a_stage_may_allow_webhooks_nearby(harness: MemoryHarness) -> None:
    submitter = a_submitter(harness, clock=ManualClock(), ids=SystemIds())
    allowed = replace(submitter, webhooks_may_reach_private=True)
    assert allowed.submit(TENANT, a_submission(notify={"webhook": "http://127.0.0.1:8080/in"}))


def test_a_task_can_be_read(harness: MemoryHarness) -> None:
    accepted = submit(harness, a_submission())
    view = read_task(
        TENANT,
        accepted.job_id,
        "compile-result",
        graph=harness.graph,
        payloads=harness.payloads,
        files=files_of(harness),
    )
    assert view.request_id == f"{accepted.job_id}__compile-result"
    assert view.depends_on == ("color-tags", "font-pairing")
    assert view.input == {"for": "compile-result"}


def test_a_cycle_is_named(harness: MemoryHarness) -> None:
    (problem,) = problems(harness, a_submission({"a": ["b"], "b": ["a"]}))
    assert "a → b → a" in problem or "b → a → b" in problem


def test_a_task_that_waits_for_itself_is_a_cycle(harness: MemoryHarness) -> None:
    (problem,) = problems(harness, a_submission({"a": ["a"]}))
    assert "a → a" in problem


def test_every_problem_is_listed_at_once(harness: MemoryHarness) -> None:
    request = SubmitJob.model_validate(
        {
            "tasks": [
                {"taskId": "a", "name": "nobody"},
                {"taskId": "a", "name": "scrape", "dependsOn": ["missing"]},
                {"taskId": "__mine", "name": "scrape"},
            ]
        }
    )
    found = problems(harness, request)
    assert "tasks.0.name: 'nobody' is not a registered task definition" in found
    assert "tasks.1.dependsOn: 'a' depends on 'missing', which does not exist" in found
    assert "tasks.2.taskId: '__mine': ids beginning with __ are reserved" in found
    assert sum("used 2 times" in problem for problem in found) == 2


@pytest.mark.parametrize("count", [0, 10_001])
def test_a_job_has_a_bounded_number_of_tasks(harness: MemoryHarness, count: int) -> None:
    tasks = tuple(TaskRequest(task_id=f"t{n}", name="scrape") for n in range(count))
    (problem,) = problems(harness, SubmitJob(tasks=tasks))
    assert "1 to 10,000 tasks" in problem


def a_job_of(*sizes: int) -> SubmitJob:
    tasks = [
        {"taskId": f"t{n}", "name": "scrape", "input": "x" * size} for n, size in enumerate(sizes)
    ]
    return SubmitJob.model_validate({"tasks": tasks})


def test_a_job_may_be_large(harness: MemoryHarness) -> None:
    submit(harness, a_job_of(2_000_000, 2_900_000))
    (emitted,) = harness.bus.events
    assert isinstance(emitted.properties, JobCreated)
    assert [len(task.input) for task in emitted.properties.tasks] == [2_000_000, 2_900_000]


def test_a_job_too_large_to_take_in_is_refused_with_its_largest_part(
    harness: MemoryHarness,
) -> None:
    (problem,) = problems(harness, a_job_of(1_000_000, 3_000_000, 1_000_000))
    assert problem.startswith("tasks.1.input: has 3,000,0")
    assert problem.endswith("at most 5,000,000 are accepted")


def test_a_task_may_be_tried_as_often_as_its_definition_says(harness: MemoryHarness) -> None:
    harness.definitions.put(TENANT, "scrape", a_definition(retry={"max_attempts": 2}))
    accepted = submit(harness, a_submission({"a": []}))
    harness.definitions.put(TENANT, "scrape", a_definition(retry={"max_attempts": 1}))
    task = harness.graph.find(JobRef(TENANT, accepted.job_id).task("a"))
    assert task is not None
    assert (task.definition_version, task.max_attempts) == (2, 2)


def test_a_job_names_no_channel_but_those_of_its_tenants_list(harness: MemoryHarness) -> None:
    named = a_submission(notify={"channel": "#brand"})
    (problem,) = problems(harness, named)
    assert problem.startswith("notify.channel: #brand is not one of the channels that jobs of acme")
    harness.tenants.change("other", slack_channels=("#brand",))
    assert problems(harness, named)
    harness.tenants.change(TENANT, slack_channels=("#brand",))
    assert submit(harness, named)


FILES = {"files": {"type": "array"}, "rules": {"type": "string"}}
CLOSED = {"type": "object", "properties": FILES, "additionalProperties": False}


def a_fan_out_over(for_each: str, refers_to: str = "files") -> SubmitJob:
    tasks = [
        {"taskId": "list", "name": "scrape"},
        {
            "taskId": "review",
            "name": "scrape",
            "dependsOn": ["list"],
            "forEach": for_each,
            "input": {"file": "${item}", "of": f"${{tasks.list.output.{refers_to}}}"},
        },
    ]
    return SubmitJob.model_validate({"tasks": tasks})


def test_a_reference_that_the_schema_makes_impossible_is_refused(harness: MemoryHarness) -> None:
    harness.definitions.put(TENANT, "scrape", a_definition(output_schema=CLOSED))

    assert problems(harness, a_fan_out_over("${tasks.list.output.rules}", "fils")) == [
        "tasks.1.input.of: ${tasks.list.output.fils}: the output schema of 'list' names no 'fils'; "
        "did you mean 'files'?",
        "tasks.1.forEach: ${tasks.list.output.rules}: the output schema of 'list' makes it a text, "
        "and forEach needs a list",
    ]


def test_what_a_schema_does_not_forbid_is_accepted(harness: MemoryHarness) -> None:
    harness.definitions.put(
        TENANT, "scrape", a_definition(output_schema={"type": "object", "properties": FILES})
    )

    assert submit(harness, a_fan_out_over("${tasks.list.output.files}", "fils"))


def test_an_output_that_is_processed_is_not_compared_with_its_schema(
    harness: MemoryHarness,
) -> None:
    processed = a_definition(output_schema=CLOSED, process_output="first")
    harness.definitions.put(TENANT, "scrape", processed)

    assert submit(harness, a_fan_out_over("${tasks.list.output.rules}"))
