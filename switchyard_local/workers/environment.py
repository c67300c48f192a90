"""Makes the environment of a worker process from the deployed task definition."""

from collections.abc import Mapping
from typing import Any

from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS

# The stacks name one Claude credential as a secret; a developer may have the other, or a gateway.
DEVELOPERS_OWN = ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL")


def container_environment(container: Mapping[str, Any], host: Mapping[str, str]) -> dict[str, str]:
    """Return the container's variables: as deployed, with secrets from the host."""
    variables = {entry["name"]: entry["value"] for entry in container.get("environment", [])}
    wanted = (*secret_names(container), *DEVELOPERS_OWN)
    return {**variables, **{name: host[name] for name in wanted if host.get(name)}}


def agent_of(environment: Mapping[str, str]) -> str:
    """Name the agent that a worker with this environment uses by default, and who pays for it."""
    for credential in CLAUDE_CREDENTIALS:
        if environment.get(credential):
            return f"Claude ({credential} is set): its tasks cost money"
    return "the offline agent: its tasks cost nothing"


def secret_names(container: Mapping[str, Any]) -> list[str]:
    """MiniStack capitalises the keys of secrets, AWS does not."""
    entries = container.get("secrets", [])
    return [entry["Name"] if "Name" in entry else entry["name"] for entry in entries]
