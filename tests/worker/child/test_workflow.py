"""A task's steps: in order, each with its own prompt, output and trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import AgentFailed, Effort
from tests.worker.scripted import ScriptedAgent, a_folder, a_step, category, failed, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path)


def test_without_steps_the_task_is_its_one_step(folder: Path) -> None:
    agent = ScriptedAgent({"n": 1})

    result = run(folder, agent)

    assert result.output == {"n": 1}
    assert [step.name for step in result.steps] == ["task-step"]
    assert json.loads((folder / "artifacts/task-result.json").read_text()) == {"n": 1}
    assert "# Task\n\nDo it." in agent.asked[0][0]


def test_what_a_step_made_reaches_the_prompts_after_it(folder: Path) -> None:
    agent = ScriptedAgent({"title": "Blue"}, "done")
    steps = [a_step("plan"), a_step("write", "Write about {{steps.plan.output.title}}.")]

    result = run(folder, agent, steps=steps)

    assert result.output == "done"
    written = 'Write about <data from="steps.plan.output.title">"Blue"</data>.'
    assert written in agent.asked[1][0]
    assert sorted(path.name for path in (folder / "artifacts").iterdir()) == [
        "plan.json",
        "task-result.json",
        "write.json",
    ]
    trace = json.loads((folder / "traces/session_trace.json").read_text())
    assert [(step["name"], step["status"]) for step in trace["steps"]] == [
        ("plan", "completed"),
        ("write", "completed"),
    ]
    assert trace["steps"][1]["prompt"] == agent.asked[1][0]


def test_each_agent_is_told_its_own_step(folder: Path) -> None:
    agent = ScriptedAgent(1, 2)
    steps = [
        a_step("a", tools=("Read",), output_schema={"type": "integer"}, timeout_ms=5_000),
        a_step("b", max_turns=7),
    ]

    run(folder, agent, steps=steps)

    first, second = (assignment for _, assignment in agent.asked)
    assert (first.step_name, first.tools, first.timeout_ms) == ("a", ("Read",), 5_000)
    assert first.output_schema == {"type": "integer"}
    assert (second.step_name, second.max_turns, second.output_schema) == ("b", 7, None)


def test_the_first_step_that_fails_ends_the_task_and_is_named(folder: Path) -> None:
    agent = ScriptedAgent(1, failed(FailureCategory.AUTH), 3)

    result = run(folder, agent, steps=[a_step("a"), a_step("b"), a_step("c")])

    assert len(agent.asked) == 2
    assert result.failure is not None
    assert result.failure.error == "step 'b': it broke"
    assert result.output is None
    summary = (folder / "logs/summary.log").read_text()
    assert "step      a: completed" in summary
    assert "error     auth: step 'b': it broke" in summary


def test_what_all_steps_cost_is_added_up(folder: Path) -> None:
    effort = Effort(turns=2, input_tokens=10, output_tokens=5, cache_read_tokens=1, cost_usd=0.25)

    result = run(folder, ScriptedAgent(1, 2, effort=effort), steps=[a_step("a"), a_step("b")])

    assert (result.effort.turns, result.effort.input_tokens) == (4, 20)
    assert (result.effort.output_tokens, result.effort.cost_usd) == (10, 0.5)


def test_a_placeholder_without_a_value_fails_before_anybody_is_asked(folder: Path) -> None:
    agent = ScriptedAgent()

    result = run(folder, agent, description="Look at {{input.shop}}.", input={})

    assert category(result) is FailureCategory.VALIDATION
    assert result.failure is not None
    assert "{{input.shop}}" in result.failure.error
    assert not agent.asked


class TestProcessing:
    def test_an_output_is_processed_before_it_is_kept(self, folder: Path) -> None:
        result = run(
            folder, ScriptedAgent({"a": None, "b": [None]}), process_output="without-nulls"
        )

        assert result.output == {"b": [None]}
        assert json.loads((folder / "artifacts/task-result.json").read_text()) == {"b": [None]}

    def test_an_unknown_process_fails_the_task_and_says_which_there_are(self, folder: Path) -> None:
        agent = ScriptedAgent(1, effort=Effort(cost_usd=0.3))

        result = run(folder, agent, process_output="os-system")

        assert category(result) is FailureCategory.VALIDATION
        assert result.failure is not None
        assert "trimmed-text, unique-items, without-nulls" in result.failure.error
        assert result.effort.cost_usd == 0.3

    @pytest.mark.parametrize(
        ("name", "output", "stored"),
        [
            ("trimmed-text", {"a": [" x\n", 1]}, {"a": ["x", 1]}),
            ("unique-items", [1, True, 1, {"a": 2}, {"a": 2}], [1, True, {"a": 2}]),
            ("unique-items", ["b", "a", "b"], ["b", "a"]),
            ("without-nulls", {"a": {"b": None}}, {"a": {}}),
        ],
    )
    def test_what_the_built_in_ones_do(
        self, folder: Path, name: str, output: Any, stored: Any
    ) -> None:
        result = run(folder, ScriptedAgent(output), process_output=name)

        assert json.dumps(result.output) == json.dumps(stored)


def test_a_bug_fails_the_task_but_what_was_paid_before_it_is_told(folder: Path) -> None:
    agent = ScriptedAgent(1, RuntimeError("oops"), effort=Effort(cost_usd=0.3))

    result = run(folder, agent, steps=[a_step("a"), a_step("b")])

    assert category(result) is FailureCategory.PROGRAMMING
    assert result.failure is not None
    assert result.failure.error == "RuntimeError: oops"
    assert result.effort.cost_usd == 0.3
    assert "error     programming: RuntimeError: oops" in (folder / "logs/summary.log").read_text()


def test_an_error_is_told_without_the_secrets_in_it(folder: Path) -> None:
    leak = AgentFailed(FailureCategory.AUTH, "bad key sk-ant-" + "x1" * 20)

    result = run(folder, ScriptedAgent(leak))

    assert result.failure is not None
    assert result.failure.error == "bad key [redacted]"
    assert "sk-ant" not in (folder / "logs/summary.log").read_text()


def test_no_step_builds_on_what_does_not_match_its_schema(folder: Path) -> None:
    agent = ScriptedAgent([], "never asked")
    steps = [a_step("plan", output_schema={"type": "array", "minItems": 1}), a_step("write")]

    result = run(folder, agent, steps=steps)

    assert category(result) is FailureCategory.PARSE
    assert len(agent.asked) == 1
    assert not (folder / "artifacts" / "plan.json").exists()
