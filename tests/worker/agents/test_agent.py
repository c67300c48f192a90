import subprocess
import sys
from typing import Literal

import pytest

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.ids import SMOKE_TENANT
from switchyard.settings import AgentBackend
from switchyard_worker.agents.agent import AgentFailed, agent_for
from switchyard_worker.parent.attempts.backends import OfflineRefused, resolve_backend
from switchyard_worker.parent.supervision.child_environment import Credential

Backend = Literal["claude-agent-sdk", "messages", "offline"]

KEY = Credential("ANTHROPIC_API_KEY", "k")


def a_definition(backend: Backend | None) -> TaskDefinition:
    return TaskDefinition(description="d", tag="t", backend=backend)


@pytest.mark.parametrize(
    ("wish", "stage", "credential", "chosen"),
    [
        (None, "auto", None, "offline"),
        (None, "auto", KEY, "claude-agent-sdk"),
        (None, "messages", KEY, "messages"),
        ("messages", "auto", None, "messages"),
        ("messages", "claude-agent-sdk", KEY, "messages"),
        ("claude-agent-sdk", "messages", KEY, "claude-agent-sdk"),
        ("offline", "auto", KEY, "offline"),
        ("messages", "offline", None, "messages"),
    ],
)
def test_the_definition_chooses_then_the_stage(
    wish: Backend | None, stage: AgentBackend, credential: Credential | None, chosen: str
) -> None:
    definition = a_definition(wish)

    found = resolve_backend(definition, stage=stage, credential=credential, tenant="acme")
    assert found == chosen


@pytest.mark.parametrize("stage", ["claude-agent-sdk", "messages"])
def test_a_stage_of_claudes_refuses_the_offline_agent(stage: AgentBackend) -> None:
    with pytest.raises(OfflineRefused, match=f"runs {stage} only"):
        resolve_backend(a_definition("offline"), stage=stage, credential=KEY, tenant="acme")


@pytest.mark.parametrize("stage", ["claude-agent-sdk", "messages"])
def test_the_check_of_a_deployment_may_use_the_offline_agent_everywhere(
    stage: AgentBackend,
) -> None:
    wished = a_definition("offline")
    found = resolve_backend(wished, stage=stage, credential=KEY, tenant=SMOKE_TENANT)
    assert found == "offline"


@pytest.mark.parametrize(
    ("backend", "missing"),
    [("claude-agent-sdk", "claude_agent_sdk"), ("messages", "anthropic")],
)
def test_a_backend_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, backend: str, missing: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("switchyard_worker.agents.")]:
        if name not in {"switchyard_worker.agents.agent"}:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(AgentFailed, match=f"{missing} is not installed: run `make") as failure:
        agent_for(backend)

    assert failure.value.category == "not-found"


def test_an_agent_that_does_not_exist_is_a_wrong_definition() -> None:
    with pytest.raises(AgentFailed, match="no agent 'gpt'") as failure:
        agent_for("gpt")

    assert failure.value.category == "validation"


def test_the_offline_agent_comes_without_any_sdk() -> None:
    code = (
        "import sys\n"
        "from switchyard_worker.agents.agent import agent_for\n"
        "agent_for('offline')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    imported = set(said.stdout.split())
    assert "switchyard_worker" in imported
    assert not imported & {"anthropic", "asyncio", "claude_agent_sdk", "httpx2", "pydantic"}
