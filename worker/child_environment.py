"""The child's environment, from an allowlist: nothing arrives by accident, `AWS_*` never."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import switchyard
import worker
from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from worker.folder import TEMPORARY
from worker.task.assignment import TASK_FILE

SYSTEM: Final = ("PATH", "HOME", "USER", "SHELL")
LOCALE: Final = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME")
TERMINAL: Final = ("TERM", "COLORTERM", "FORCE_COLOR")
CLAUDE: Final = (
    "CLAUDE_CODE_PATH",
    "CLAUDE_TIMEOUT",
    "MAX_CONCURRENT_CLAUDE",
    "CLAUDE_SKIP_PERMISSIONS",
)
ENDPOINT: Final = "ANTHROPIC_BASE_URL"
TRACEPARENT: Final = "TRACEPARENT"
"""Where OpenTelemetry looks for the span that a process is started in."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The one secret that a child may see."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"Credential({self.name})"

    @classmethod
    def found_in(cls, host: Mapping[str, str]) -> "Credential | None":
        names = [name for name in CLAUDE_CREDENTIALS if host.get(name)]
        return cls(names[0], host[names[0]]) if names else None


def child_environment(
    host: Mapping[str, str],
    folder: Path,
    *,
    credential: Credential | None,
    traceparent: str | None = None,
) -> dict[str, str]:
    """`credential` is `None` for an agent that needs none; it learns no endpoint either."""
    allowed = (*SYSTEM, *LOCALE, *TERMINAL, *CLAUDE, *((ENDPOINT,) if credential else ()))
    return {
        **{name: host[name] for name in allowed if name in host},
        **({credential.name: credential.value} if credential else {}),
        **({TRACEPARENT: traceparent} if traceparent else {}),
        "PWD": str(folder),
        "PYTHONPATH": _where_our_packages_are(),
        "INPUT_FILE": str(folder / TASK_FILE),
        # One of each per attempt: tasks of other tenants use the same machine.
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "TMPDIR": str(folder / TEMPORARY),
    }


def _where_our_packages_are() -> str:
    roots = [str(Path(next(iter(package.__path__))).parent) for package in (worker, switchyard)]
    return os.pathsep.join(dict.fromkeys(roots))
