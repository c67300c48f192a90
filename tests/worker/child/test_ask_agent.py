"""How often a step is tried, how long it may take and what it may cost."""

import json
from pathlib import Path

import pytest

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import Effort
from switchyard_worker.agents.clock import sleep
from switchyard_worker.child import ask_agent
from switchyard_worker.child.results import write_outcome
from tests.worker.scripted import ScriptedAgent, a_folder, a_step, category, failed, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(ask_agent, "sleep_between", lambda *limits: asked.append(limits))
    return asked


class TestTryingAgain:
    def test_a_failure_that_cost_nothing_is_tried_again(
        self, folder: Path, pauses: list[tuple[int, int]]
    ) -> None:
        agent = ScriptedAgent(failed(FailureCategory.NETWORK), "late")

        assert run(folder, agent).output == "late"
        assert pauses == [(0, 1_000)]

    def test_three_times_at_most(self, folder: Path, pauses: list[tuple[int, int]]) -> None:
        agent = ScriptedAgent(*[failed(FailureCategory.SERVER_ERROR)] * 4)

        assert category(run(folder, agent)) is FailureCategory.SERVER_ERROR
        assert len(agent.asked) == 3
        assert pauses == [(0, 1_000), (0, 2_000)]

    @pytest.mark.usefixtures("pauses")
    def test_not_after_a_token(self, folder: Path) -> None:
        agent = ScriptedAgent(failed(FailureCategory.NETWORK, free=False), "never")

        result = run(folder, agent)

        assert category(result) is FailureCategory.NETWORK
        assert result.effort.cost_usd == 0.1

    def test_not_sooner_than_asked_to(self, folder: Path, pauses: list[tuple[int, int]]) -> None:
        limited = failed(FailureCategory.RATE_LIMIT, retry_after_ms=4_000)

        assert run(folder, ScriptedAgent(limited, "ok")).output == "ok"
        assert pauses == [(4_000, 5_000)]

    @pytest.mark.usefixtures("pauses")
    def test_not_when_there_is_no_time_for_it_and_the_worker_learns_how_long(
        self, folder: Path
    ) -> None:
        limited = failed(FailureCategory.RATE_LIMIT, retry_after_ms=90_000)

        result = run(folder, ScriptedAgent(limited))
        write_outcome(result, folder)

        assert category(result) is FailureCategory.RATE_LIMIT
        assert json.loads((folder / "outcome.json").read_text())["retryAfterMs"] == 90_000


class TestTime:
    def test_a_step_that_takes_too_long_fails_so_that_it_may_be_tried_again(
        self, folder: Path
    ) -> None:
        agent = ScriptedAgent(1, lambda: sleep(30))

        result = run(folder, agent, steps=[a_step("a"), a_step("b", timeout_ms=100)])

        assert category(result) is FailureCategory.TIMEOUT
        assert FailureCategory.TIMEOUT.transient
        assert result.failure is not None
        assert result.failure.error == "step 'b': the step took longer than 100 ms"

    def test_an_alarm_does_not_outlive_its_step(self, folder: Path) -> None:
        agent = ScriptedAgent(1, lambda: sleep(0.3))

        result = run(folder, agent, steps=[a_step("a", timeout_ms=150), a_step("b")])

        assert result.completed

    def test_no_step_is_promised_more_than_is_left(self, folder: Path) -> None:
        agent = ScriptedAgent(1, 2)

        run(folder, agent, timeout_ms=50_000, steps=[a_step("a"), a_step("b")])

        assert all(assignment.timeout_ms <= 50_000 for _, assignment in agent.asked)


class TestMoney:
    EFFORT = Effort(input_tokens=1, cost_usd=0.4)

    def test_a_step_may_spend_what_those_before_it_left(self, folder: Path) -> None:
        agent = ScriptedAgent(1, 2, effort=self.EFFORT)

        result = run(folder, agent, max_cost_usd=0.5, steps=[a_step("a"), a_step("b")])

        assert result.completed
        budgets = [assignment.max_cost_usd for _, assignment in agent.asked]
        assert budgets == [0.5, pytest.approx(0.1)]

    def test_no_step_begins_with_an_empty_purse(self, folder: Path) -> None:
        agent = ScriptedAgent(1, 2, effort=self.EFFORT)

        result = run(folder, agent, max_cost_usd=0.4, steps=[a_step("a"), a_step("b")])

        assert len(agent.asked) == 1
        assert category(result) is FailureCategory.VALIDATION
        assert result.effort.cost_usd == 0.4
