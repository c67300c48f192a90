"""Whole jobs in one process: scripted agents, decisions, signals, waits, retries and code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from switchyard.client.job import Job, Task
from switchyard.testing import JobTestError, approve, fails, in_turn, reject, run_job, takes

GREETING = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
DEFINITIONS: Mapping[str, Any] = {
    "greet": {"tag": "host", "description": "Greet {{input.name}}.", "outputSchema": GREETING},
    "count": {"tag": "clerk", "description": "Count."},
}
SHOUT = '''
from switchyard.functions import task


@task(retries=1)
def shout(text: str) -> str:
    """Say it louder."""
    if text == "quiet":
        raise RuntimeError("too quiet")
    print("shouting")
    return text.upper()
'''


def a_job(*names: str) -> Job:
    """Return a chain of tasks, each of which asks `greet`."""
    job = Job("chain")
    before: list[Task] = []
    for name in names:
        before = [job.task(name, name="greet", input={"name": name}, after=before)]
    return job


def ran(job: Job, **how: Any) -> Any:
    return run_job(job, definitions=DEFINITIONS, **how)


def test_a_chain_runs_in_order_with_the_inputs_that_references_bring() -> None:
    job = Job("two")
    first = job.task("first", name="greet", input={"name": "Ann"})
    job.task("second", name="greet", input={"name": first.output("text")}, after=[first])

    result = ran(job, agents={"greet": lambda given: {"text": f"Hello {given['name']}"}})

    assert result.status == "completed"
    assert result.started == ("first", "second")
    assert result.outputs["second"] == {"text": "Hello Hello Ann"}
    assert result["second"].inputs == ({"name": "Hello Ann"},)
    assert result.seconds == 0
    assert [event.event_type for event in result.events][-1] == "Job Completed"


def test_a_script_of_a_task_comes_before_that_of_its_definition() -> None:
    agents = {"greet": {"text": "all"}, "b": {"text": "only b"}}

    result = ran(a_job("a", "b"), agents=agents)

    assert result.outputs == {"a": {"text": "all"}, "b": {"text": "only b"}}


def test_a_script_with_two_parameters_is_given_the_outputs_of_the_parents() -> None:
    def answer(given: Any, context: dict[str, Any]) -> Any:
        return {"text": f"{given['name']} after {sorted(context)}"}

    assert ran(a_job("a", "b"), agents={"greet": answer}).outputs["b"] == {"text": "b after ['a']"}


def test_an_agent_without_a_script_is_named() -> None:
    with pytest.raises(JobTestError, match=r"no agent 'greet' is scripted.*task 'a'"):
        ran(a_job("a"))


def test_a_script_that_no_task_asks_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(JobTestError, match=r"agents names 'greeet'.*did you mean 'greet'"):
        ran(a_job("a"), agents={"greeet": {}})


def test_an_output_is_held_against_its_schema() -> None:
    result = ran(a_job("a", "b"), agents={"greet": {"txt": "Hello"}})

    assert result.statuses == {"a": "failed", "b": "skipped"}
    assert "does not match its schema" in result.errors["a"]
    assert result.errors["b"] == "did not complete: a"


def test_a_failure_that_may_pass_is_tried_again_later_by_the_clock_of_the_test() -> None:
    agents = {"greet": in_turn(fails("overloaded"), fails("again"), {"text": "Hello"})}

    result = ran(a_job("a"), agents=agents)

    assert result["a"].status == "completed"
    assert result["a"].attempts == 3
    assert result.started == ("a", "a", "a")
    assert result.seconds > 1


def test_a_failure_that_cannot_pass_ends_the_task_at_once() -> None:
    result = ran(a_job("a"), agents={"greet": fails("no such page", "not-found")})

    assert (result["a"].status, result["a"].attempts) == ("failed", 1)
    assert result.errors == {"a": "no such page"}


def test_an_exception_of_a_script_fails_the_attempt_and_an_assertion_the_test() -> None:
    def wrong(_given: Any) -> Any:
        raise ValueError("not today")

    def judging(given: Any) -> Any:
        assert given == {"name": "somewhere else"}

    assert ran(a_job("a"), agents={"greet": wrong}).errors == {"a": "ValueError: not today"}
    with pytest.raises(AssertionError):
        ran(a_job("a"), agents={"greet": judging})


def test_answers_in_turn_that_are_used_up_are_an_error_of_the_test() -> None:
    with pytest.raises(JobTestError, match="has 1 answers in turn"):
        ran(a_job("a"), agents={"greet": in_turn(fails("overloaded"))})


def test_an_answer_that_takes_too_long_times_the_task_out() -> None:
    result = ran(a_job("a"), agents={"greet": takes(301, {"text": "late"})})

    assert result.errors == {"a": "timed out after 300000 ms"}
    assert result.seconds == 300


def test_a_category_that_does_not_exist_is_refused() -> None:
    with pytest.raises(JobTestError, match="category 'sad' is none of auth"):
        fails("no", "sad")


def a_release() -> Job:
    job = Job("release")
    gate = job.approval("gate", "Publish?", timeout="2d", on_timeout="reject")
    job.task("publish", name="count", after=[gate], when="${tasks.gate.output.approved}")
    return job


def test_an_approval_is_decided_as_the_test_says() -> None:
    said = {"gate": approve("well done", value={"title": "New"}, decided_by="ann")}

    result = ran(a_release(), agents={"count": 1}, decisions=said)

    assert result.statuses == {"gate": "completed", "publish": "completed"}
    assert result.outputs["gate"]["by"] == "ann (test)"
    assert result.outputs["gate"]["value"] == {"title": "New"}


@pytest.mark.parametrize(
    ("decisions", "seconds"), [({"gate": "reject"}, 0), ({"gate": reject("no")}, 0), ({}, 172_800)]
)
def test_a_rejection_and_a_decision_that_never_comes_skip_what_follows(
    decisions: dict[str, Any], seconds: float
) -> None:
    result = ran(a_release(), agents={"count": 1}, decisions=decisions)

    assert result.statuses == {"gate": "completed", "publish": "skipped"}
    assert "does not hold" in result.errors["publish"]
    assert seconds <= result.seconds < seconds + 120


def test_a_decision_on_what_is_no_approval_is_refused() -> None:
    with pytest.raises(JobTestError, match="decisions names 'publish'"):
        ran(a_release(), decisions={"publish": "approve"})
    with pytest.raises(JobTestError, match="write 'approve', 'reject'"):
        ran(a_release(), decisions={"gate": True})


def test_a_wait_and_a_signal_take_no_time_of_the_test() -> None:
    job = Job("slow")
    pause = job.wait("pause", span="30d")
    paid = job.signal("paid", after=[pause])
    job.task("thank", name="count", input=paid.output("sum"), after=[paid])

    result = ran(job, agents={"count": lambda given: given + 1}, signals={"paid": {"sum": 3}})

    assert result.outputs["thank"] == 4
    assert result.seconds >= 30 * 24 * 3600


def test_a_signal_that_never_comes_fails_when_its_time_is_up() -> None:
    job = Job("unpaid")
    job.signal("paid", timeout="7d")

    assert ran(job).statuses == {"paid": "failed"}


def test_code_runs_for_real_with_its_own_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loud_functions.py").write_text(SHOUT)
    job = Job("code")
    job.task("works", name="shout", input={"text": "hello"})
    job.task("fails", name="shout", input={"text": "quiet"})
    job.task("refused", name="shout", input={"text": 3})

    result = ran(job, functions=[str(tmp_path / "loud_functions.py")])

    assert result.outputs == {"works": "HELLO"}
    assert result.errors["fails"] == "RuntimeError: too quiet"
    assert result["fails"].attempts == 2
    assert "the input does not match its schema" in result.errors["refused"]
    assert capsys.readouterr().out == "shouting\n"


def test_code_that_no_package_serves_is_named() -> None:
    served = {"kind": "code", "function": "elsewhere.text:split", "codeHash": "0" * 64}
    job = Job("code")
    job.task("split")

    with pytest.raises(JobTestError, match=r"runs elsewhere@0000.*functions=\['my_functions'\]"):
        run_job(job, definitions={"split": served})


def test_a_program_runs_for_real() -> None:
    job = Job("program")
    job.task("lines")

    result = run_job(job, definitions={"lines": {"kind": "code", "command": ["true"]}})

    assert result.outputs == {"lines": {"exitCode": 0}}


def test_steps_are_scripted_by_their_names() -> None:
    steps = [
        {"name": "plan", "description": "Plan.", "outputSchema": GREETING},
        {"name": "write", "description": "Write about {{steps.plan.output.text}}."},
    ]
    described = {"essay": {"tag": "writer", "description": "Write.", "steps": steps}}
    job = Job("essay")
    job.task("essay")

    agents = {"essay/plan": {"text": "winter"}, "essay": {"pages": 3}}
    assert run_job(job, definitions=described, agents=agents).outputs == {"essay": {"pages": 3}}
    with pytest.raises(JobTestError, match="no agent 'essay/plan' is scripted"):
        run_job(job, definitions=described, agents={"essay": {}})
    wrong = run_job(job, definitions=described, agents={**agents, "essay/plan": {}})
    assert "step 'plan': its output does not match its schema" in wrong.errors["essay"]


def test_a_job_that_the_api_would_refuse_is_refused_with_the_same_words(tmp_path: Path) -> None:
    job = Job("unknown")
    job.task("nobody")
    file = tmp_path / "job.yaml"
    file.write_text("tasks: [{taskId: a, name: b, dependsOn: [z]}]")

    with pytest.raises(JobTestError, match=r"the job is refused: .*nobody"):
        run_job(job)
    with pytest.raises(JobTestError, match=r"job\.yaml"):
        run_job(file)
    with pytest.raises(JobTestError, match="absent"):
        run_job(tmp_path / "absent.yaml")


@pytest.mark.slow
def test_a_job_that_the_dispatcher_has_to_write_runs_as_well() -> None:
    job = Job("large")
    root = job.task("root", name="count")
    for number in range(1_001):
        job.task(f"after-{number}", name="count", after=[root])

    result = ran(job, agents={"count": fails("no", "auth")})

    assert result.started == ("root",)
    assert list(result.statuses.values()).count("skipped") == 1_001
