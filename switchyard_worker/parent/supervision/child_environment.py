"""The child's environment, from an allowlist: nothing arrives by accident, `AWS_*` never."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import switchyard
import switchyard_worker
from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard_worker.boundary import TASK_FILE, WORKER_MARK, mark_of_worker
from switchyard_worker.parent.files.folder import HOME, TEMPORARY

SYSTEM: Final = ("PATH", "USER", "SHELL")
LOCALE: Final = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME")
TERMINAL: Final = ("TERM", "COLORTERM", "FORCE_COLOR")
CLAUDE: Final = (
    "CLAUDE_CODE_PATH",
    "CLAUDE_TIMEOUT",
    "MAX_CONCURRENT_CLAUDE",
    "CLAUDE_SKIP_PERMISSIONS",
)
ENDPOINT: Final = "ANTHROPIC_BASE_URL"
PROXY: Final = "CHILD_HTTPS_PROXY"
"""The proxy of a stage whose outgoing traffic is restricted, if its agents may use it."""
WITHOUT_PROXY: Final = "localhost,127.0.0.1"
"""The hosts at which the worker's own proxy for Claude answers."""
TRACEPARENT: Final = "TRACEPARENT"
"""The variable in which OpenTelemetry looks for the span that a process is started in."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The platform's own credential for Claude, which no child may see."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"Credential({self.name})"

    @classmethod
    def found_in(cls, host: Mapping[str, str]) -> "Credential | None":
        names = [name for name in CLAUDE_CREDENTIALS if host.get(name)]
        return cls(names[0], host[names[0]]) if names else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildAccess:
    """A token for one attempt, which a child gets in place of the credential."""

    name: str
    token: str
    endpoint: str

    def __repr__(self) -> str:
        return f"ChildAccess({self.name}, {self.endpoint})"


def child_environment(
    host: Mapping[str, str],
    folder: Path,
    *,
    access: ChildAccess | None,
    traceparent: str | None = None,
) -> dict[str, str]:
    """Build the environment; `access` is `None` for an agent that needs no token."""
    allowed = (*SYSTEM, *LOCALE, *TERMINAL, *CLAUDE)
    return {
        **{name: host[name] for name in allowed if name in host},
        **({access.name: access.token, ENDPOINT: access.endpoint} if access else {}),
        **({TRACEPARENT: traceparent} if traceparent else {}),
        **_proxy(host.get(PROXY)),
        WORKER_MARK: mark_of_worker(),
        "PWD": str(folder),
        "PYTHONPATH": package_paths(),
        "INPUT_FILE": str(folder / TASK_FILE),
        # One of each per attempt: tasks of other tenants use the same machine.
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "TMPDIR": str(folder / TEMPORARY),
        "CLAUDE_CODE_TMPDIR": str(folder / TEMPORARY),
        "HOME": str(folder / HOME),
    }


def _proxy(url: str | None) -> dict[str, str]:
    """Return the variables in both spellings: programs differ in which of them they read."""
    if not url:
        return {}
    variables = {"HTTPS_PROXY": url, "NO_PROXY": WITHOUT_PROXY}
    return variables | {name.lower(): value for name, value in variables.items()}


def package_paths() -> str:
    """Return the path that our own packages are imported from."""
    roots = [
        str(Path(next(iter(package.__path__))).parent)
        for package in (switchyard_worker, switchyard)
    ]
    return os.pathsep.join(dict.fromkeys(roots))
