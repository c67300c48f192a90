"""A worker's life with tasks: what is stored, told, uploaded and deleted."""

import json

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Payload
from tests.builders import a_task
from tests.worker.harness import WorkerHarness

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}, "count": {"type": "integer", "minimum": 3}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}


def test_a_task_runs_from_its_message_to_its_deletion(harness: WorkerHarness) -> None:
    harness.add_task(given={"shop": "Blue"}, definition={"output_schema": SCHEMA})

    harness.work(until=harness.quiet)

    task = harness.task()
    assert task.state is TaskState.COMPLETED
    assert task.attempt == 1
    assert harness.emitted == ["Task Processing Started", "Task Completed"]
    output = harness.memory.payloads.read(task.ref).output
    assert output["count"] >= 3
    assert json.loads(harness.blob("artifacts/task-result.json")) == output
    assert task.outcome is not None
    assert task.outcome.usage.input_tokens > 0
    assert task.outcome.usage.cost_usd == 0


def test_what_an_attempt_left_behind_is_uploaded_under_its_fence(harness: WorkerHarness) -> None:
    harness.add_task()

    harness.work(until=harness.quiet)

    prefix = f"task/logs/{harness.task().ref.request_id}/1/"
    assert {key.removeprefix(prefix) for key in harness.memory.blobs.blobs} == {
        "artifacts/task-result.json",
        "logs/summary.log",
        "traces/session_trace.json",
    }
    types = harness.memory.blobs.content_types
    assert types[f"{prefix}traces/session_trace.json"] == "application/json"
    assert harness.folder.exists()


def test_the_outputs_of_parents_are_in_the_prompt(harness: WorkerHarness) -> None:
    parent = a_task("parent", state=TaskState.COMPLETED)
    harness.memory.state.tasks[parent.ref] = parent
    harness.memory.state.payloads[parent.ref] = Payload(output={"pages": 42})
    harness.add_task(depends_on=("parent",))

    harness.work(until=harness.quiet)

    (step,) = json.loads(harness.blob("traces/session_trace.json"))["steps"]
    assert '"pages": 42' in step["prompt"]


def test_a_failure_that_may_pass_is_tried_again(harness: WorkerHarness) -> None:
    fail = {"category": "network", "message": "connection reset", "times": 1}
    harness.add_task(given={"offline": {"fail": fail}})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert harness.task().attempt == 2
    assert harness.task().last_error == "connection reset"
    assert harness.emitted == [
        "Task Processing Started",
        "Task Processing Failed",
        "Task Processing Started",
        "Task Completed",
    ]


def test_a_long_error_is_told_in_full_but_kept_short_while_the_task_is_open(
    harness: WorkerHarness,
) -> None:
    error = "connection reset " * 100
    harness.add_task(
        given={"offline": {"fail": {"category": "network", "message": error, "times": 1}}}
    )

    harness.work(until=harness.quiet)

    assert harness.task().last_error == error[:200]
    (emitted,) = [e for e in harness.memory.bus.events if e.event_type == "Task Processing Failed"]
    assert error.strip() in str(emitted)


def test_the_last_attempt_that_fails_fails_the_task(harness: WorkerHarness) -> None:
    harness.add_task(given={"offline": {"fail": {"category": "server-error"}}}, attempt=2)

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "server-error")
    assert harness.emitted[-1] == "Task Failed"
    assert "server-error" in harness.blob("logs/summary.log")


def test_a_permanent_failure_is_not_tried_again(harness: WorkerHarness) -> None:
    harness.add_task(given={"offline": {"fail": {"category": "auth", "message": "no"}}})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.FAILED
    assert harness.task().attempt == 1


def test_an_output_that_does_not_match_its_schema_is_a_failure(harness: WorkerHarness) -> None:
    harness.add_task(
        given={"offline": {"output": {"colour": 7}}}, definition={"output_schema": SCHEMA}
    )

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "parse")


def test_an_output_that_is_too_large_fails_but_is_uploaded(harness: WorkerHarness) -> None:
    large = "x" * 10_000_001
    harness.add_task(given={"offline": {"output": {"text": large}}})

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert outcome.state is TaskState.FAILED
    assert "10,000,000 are allowed" in (outcome.error or "")
    assert large in harness.blob("artifacts/task-result.json")


def test_an_attempt_that_takes_too_long_times_out(harness: WorkerHarness) -> None:
    harness.add_task(given={"offline": {"delayMs": 60_000}}, definition={"timeout": 1_000})

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.signal) == (TaskState.TIMED_OUT, "SIGTERM")
    assert outcome.duration_ms >= 1_000
    assert harness.emitted[-1] == "Task Timeout"
    assert "status    running task-step" in harness.blob("logs/summary.log")
    assert harness.blob("logs/task-step.prompt.md")


def test_a_definition_that_is_gone_is_not_retried(harness: WorkerHarness) -> None:
    harness.add_task()
    harness.change("a", definition_version=7)

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "validation")
    assert outcome.artifacts is None


def test_claude_without_a_credential_says_which_it_needs(harness: WorkerHarness) -> None:
    harness.add_task(definition={"backend": "claude-agent-sdk"})

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert outcome.error_category == "auth"
    assert "ANTHROPIC_API_KEY" in (outcome.error or "")


def test_a_producer_cannot_choose_scripted_answers_where_claude_answers(
    harness: WorkerHarness,
) -> None:
    harness.configure(agent_backend="claude-agent-sdk")
    harness.add_task(
        given={"offline": {"usage": {"costUsd": 9}}}, definition={"backend": "offline"}
    )

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.error_category, outcome.usage.cost_usd) == ("validation", 0)
    assert "this stage runs claude-agent-sdk only" in (outcome.error or "")


def test_tasks_run_side_by_side_up_to_the_number_of_slots(harness: WorkerHarness) -> None:
    harness.configure(max_concurrent_claude=2)
    for task_id in "abcd":
        harness.add_task(task_id, given={"offline": {"delayMs": 300}})
    most = 0

    def done() -> bool:
        nonlocal most
        states = [task.state for task in list(harness.memory.state.tasks.values())]
        most = max(most, states.count(TaskState.PROCESSING))
        return harness.quiet()

    harness.work(until=done)

    assert most == 2
