"""A task's steps in this process, with an agent that does as it is told."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import AgentFailed, Answer, Effort
from switchyard_worker.boundary import Assignment, Step
from switchyard_worker.child.results import TaskResult
from switchyard_worker.child.workflow import Workflow

Reply = Any | Exception | Callable[[], Any]


class ScriptedAgent:
    """Answers in order; an exception is raised, anything callable is called."""

    def __init__(self, *replies: Reply, effort: Effort | None = None) -> None:
        self._replies = list(replies)
        self._effort = effort or Effort(input_tokens=1)
        self.asked: list[tuple[str, Assignment]] = []

    def run(self, prompt: str, assignment: Assignment) -> Answer:
        self.asked.append((prompt, assignment))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Answer(output=reply() if callable(reply) else reply, effort=self._effort)


def a_folder(path: Path) -> Path:
    for name in ("artifacts", "logs", "traces"):
        (path / name).mkdir()
    return path


def a_step(name: str, description: str = "Do.", **facts: Any) -> Step:
    known: dict[str, Any] = {"output_file": f"{name}.json", "max_turns": 3, "timeout_ms": 60_000}
    return Step(name=name, description=description, **known | facts)


def run(
    folder: Path, agent: ScriptedAgent, *, steps: Sequence[Step] = (), **facts: Any
) -> TaskResult:
    known: dict[str, Any] = {
        "request_id": "r",
        "attempt": 1,
        "backend": "scripted",
        "model": "m",
        "tag": "t",
        "description": "Do it.",
        "max_turns": 9,
        "timeout_ms": 60_000,
    }
    assignment = Assignment(**known | facts, steps=steps)
    return Workflow(assignment, folder, lambda _backend: agent).run()


def failed(category: FailureCategory, *, free: bool = True, **facts: Any) -> AgentFailed:
    effort = Effort() if free else Effort(input_tokens=5, cost_usd=0.1)
    return AgentFailed(category, "it broke", effort=effort, **facts)


def category(result: TaskResult) -> FailureCategory | None:
    return result.failure.category if result.failure else None
