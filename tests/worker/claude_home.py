"""Where tests run a Claude SDK: nothing of this machine's environment, a home of its own."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.agents.agent import AgentFailed, Answer, agent_for
from switchyard_worker.boundary import Assignment
from tests.fakes.servers.messages_api import MessagesApi
from tests.fakes.servers.messages_api_replies import Reply
from tests.worker.proxied import SharedProxy

API_KEY = "sk-ant-test-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


def move_in(monkeypatch: pytest.MonkeyPatch, home: Path, *, api: str, key: str = API_KEY) -> None:
    path = os.environ["PATH"]
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in {
        "PATH": path,
        "HOME": str(home),
        "ANTHROPIC_API_KEY": key,
        "ANTHROPIC_BASE_URL": api,
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)


def an_assignment(backend: str, **facts: Any) -> Assignment:
    known: dict[str, Any] = {
        "request_id": "r",
        "attempt": 1,
        "model": "claude-haiku-4-5",
        "tag": "painter",
        "description": "Choose.",
        "max_turns": 4,
        "timeout_ms": 30_000,
        "output_schema": SCHEMA,
    }
    return Assignment(backend=backend, **known | facts)


@dataclass(frozen=True)
class Run:
    """Runs an agent in this process, through a proxy that the tests of a module share."""

    backend: str
    shared: SharedProxy
    home: Path
    monkeypatch: pytest.MonkeyPatch

    def answering(self, *replies: Reply) -> AbstractContextManager[MessagesApi]:
        """The API that the next runs reach."""
        return self.shared.standing.answering(*replies)

    def __call__(self, prompt: str = "Choose.", **facts: Any) -> Answer:
        assignment = an_assignment(self.backend, **facts)
        with self.shared.access(models=[assignment.model]) as access:
            given = access.given
            move_in(self.monkeypatch, self.home, api=given.endpoint, key=given.token)
            return agent_for(self.backend).run(prompt, assignment)

    def failure(self, *replies: Reply, **facts: Any) -> tuple[AgentFailed, MessagesApi]:
        with self.answering(*replies) as api, pytest.raises(AgentFailed) as failure:
            self(**facts)
        return failure.value, api
