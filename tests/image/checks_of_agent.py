"""An agent's shell in the container: its tools, its HOME, and the real Claude CLI."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from switchyard_worker.parent.files.users import SlotUser, as_user
from tests.e2e.conftest import RunningCloud
from tests.fakes.servers.messages_api import messages_api
from tests.fakes.servers.messages_api_replies import answers, uses
from tests.image.checks_of_image import AGENTS
from tests.image.container import Container
from tests.image.report import Report, require
from tests.image.worker_container import WorkerContainers

TOOLS: Final = {
    "curl": "curl --version",
    "git": "git --version",
    "jq": "echo '{}' | jq .",
    "ps": "ps -e",
    "unzip": "unzip -v",
    "certificates": "test -s /etc/ssl/certs/ca-certificates.crt",
}
COMMIT: Final = (
    "set -e; cd $(mktemp -d -p /dev/shm); git init -q .; echo a > a; git add a; "
    "git commit -qm first; git log --format='%an on %D'"
)
SHELL: Final = (
    "set -e; id -u; grep NoNewPrivs /proc/self/status; echo mine > ~/note; cat ~/note; "
    "git init -q .; git status --short > /dev/null; curl -sS -o /dev/null -w 'http reached\\n' "
)
API_KEY: Final = "sk-ant-image-check"


def check_agent(
    report: Report, containers: WorkerContainers, cloud: RunningCloud, deployed: Mapping[str, str]
) -> None:
    with messages_api() as api:
        claude = {"ANTHROPIC_API_KEY": API_KEY, "ANTHROPIC_BASE_URL": api.url}
        command = f"{SHELL}{cloud.endpoint.api_url}"
        api.replies = (uses("Bash", command=command), answers({"colour": "blue"}))
        with containers.started({**deployed, **claude}) as container:
            _check_tools(report, containers, container)
            with report.check("a task of the bundled Claude CLI with a Bash call completes"):
                job = cloud.settled(cloud.submit(_job_of_claude()))
                require((job.status, container.process.poll()), ("completed", None))
        _check_shell(report, _output_of_tools(api.requests))


def _check_tools(report: Report, containers: WorkerContainers, container: Container) -> None:
    for tool, command in TOOLS.items():
        with report.check(f"the agent's user has {tool}"):
            _as_agent(containers, container, command)
    with report.check("the agent's user commits to a repository, under a name of its own"):
        said = _as_agent(containers, container, COMMIT)
        require(said.strip(), "Switchyard agent on HEAD -> main")


def _as_agent(containers: WorkerContainers, container: Container, script: str) -> str:
    """Run a script as the worker starts a child. Raise `AssertionError` if it fails."""
    command = as_user(["/bin/sh", "-c", script], SlotUser(AGENTS[-1]), folder=Path("/"))
    ended = container.run([*containers.image["Entrypoint"], *command])
    if ended.returncode != 0:
        raise AssertionError(f"exit code {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


def _check_shell(report: Report, output: str) -> None:
    for what, line in {
        "the CLI's shell is the user of the worker's first task": f"{AGENTS[0]}",
        "the CLI's shell has no_new_privs": "NoNewPrivs:\t1",
        "the CLI's shell writes to its HOME": "mine",
        "the CLI's shell uses git in its task's folder, and curl": "http reached",
    }.items():
        with report.check(what):
            if line not in output.splitlines():
                raise AssertionError(f"{line!r} is not in its output {output!r}")


def _output_of_tools(requests: Sequence[Mapping[str, Any]]) -> str:
    """Return what the model was sent last as the output of its tool calls."""
    blocks = [
        block
        for message in (requests[-1]["messages"] if requests else ())
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    contents = [block["content"] for block in blocks if block["type"] == "tool_result"]
    return "\n".join(
        content if isinstance(content, str) else "\n".join(part["text"] for part in content)
        for content in contents
    )


def _job_of_claude() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    definition = {
        "description": "Choose a colour.",
        "tag": "painter",
        "backend": "claude-agent-sdk",
        "model": "claude-haiku-4-5",
        "tools": ["Bash"],
        "outputSchema": schema,
    }
    return {
        "name": "colours",
        "definitions": {"choose": definition},
        "tasks": [{"taskId": "choose", "name": "choose"}],
    }
