"""What a stage lets its tenants ask for: models, tools, and the limits of an attempt.

Checked when a definition is registered, when a job is submitted, extended or redriven, and once
more where an attempt is planned: a definition may be older than the ceiling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a definition, one of its steps or a redrive asks for; `None`: it does not say."""

    model: str | None = None
    tools: Sequence[str] = ()
    max_turns: int | None = None
    timeout_ms: int | None = None
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    default_cost_usd: float = 5.0
    """What an attempt may spend if its definition does not say."""
    max_cost_usd: float = 10_000.0
    default_turns: int = 10
    max_turns: int = 200
    default_timeout_ms: int = 300_000
    max_timeout_ms: int = 12 * 60 * 60 * 1000
    models: tuple[str, ...] | None = None
    """The models that tenants may name; `None`: any."""
    tools: tuple[str, ...] | None = None
    """The tools that tenants may grant to agents; `None`: any."""
    max_open_tasks: int = 100_000
    """How many tasks one tenant's unsettled jobs may have together."""

    def __post_init__(self) -> None:
        for default, most, field in (
            (self.default_cost_usd, self.max_cost_usd, "maxCostUsd"),
            (self.default_turns, self.max_turns, "maxTurns"),
            (self.default_timeout_ms, self.max_timeout_ms, "timeout"),
        ):
            if not 0 < default <= most:
                raise ValueError(f"the default of {field} must be above 0 and at most {most:,}")
        if self.max_open_tasks < 1:
            raise ValueError("maxOpenTasks must be 1 or more")

    def cost_usd(self, asked: float | None) -> float:
        return min(self.default_cost_usd if asked is None else asked, self.max_cost_usd)

    def turns(self, asked: int | None) -> int:
        return min(self.default_turns if asked is None else asked, self.max_turns)

    def timeout_ms(self, asked: int | None) -> int:
        return min(self.default_timeout_ms if asked is None else asked, self.max_timeout_ms)

    def problems_with(self, asked: Asked, *, at: tuple[str | int, ...] = ()) -> list[Problem]:
        """Name each field that asks for more than the stage allows, and what it allows."""
        return [
            *_above(asked.max_cost_usd, self.max_cost_usd, (*at, "maxCostUsd")),
            *_above(asked.max_turns, self.max_turns, (*at, "maxTurns")),
            *_above(asked.timeout_ms, self.max_timeout_ms, (*at, "timeout")),
            *_not_among([asked.model] if asked.model else [], self.models, (*at, "model")),
            *_not_among([_tool(name) for name in asked.tools], self.tools, (*at, "tools")),
        ]


WIDEST_CEILINGS: Final = Ceilings()
"""The ceilings of a stage that names none: what the contracts allow, and a default for money."""


def _tool(name: str) -> str:
    """A tool may be granted in part: `Bash(git log:*)` is `Bash`."""
    return name.partition("(")[0].strip()


def _above(asked: float | None, most: float, path: tuple[str | int, ...]) -> list[Problem]:
    if asked is None or asked <= most:
        return []
    return [Problem(path, f"is {asked:,}; this stage allows at most {most:,}")]


def _not_among(
    asked: Sequence[str], allowed: tuple[str, ...] | None, path: tuple[str | int, ...]
) -> list[Problem]:
    refused = [name for name in dict.fromkeys(asked) if allowed is not None and name not in allowed]
    listed = ", ".join(allowed or ()) or "none"
    return [
        Problem(path, f"{name!r} is not allowed in this stage; allowed: {listed}")
        for name in refused
    ]
