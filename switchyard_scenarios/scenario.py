"""The protocol of a scenario. Each scenario lies in a file of its own, as `SCENARIO`."""

from collections.abc import Sequence
from importlib import import_module
from typing import Final, Protocol

from switchyard_scenarios.errors import BadUsage
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence

NAMES: Final = (
    "happy-path",
    "crash-mid-processing",
    "duplicate-delivery",
    "poison-messages",
    "backpressure",
    "side-effects",
    "partial-batch",
    "visibility-extension",
    "graceful-shutdown",
    "out-of-order",
    "backlog-drain",
)


class Scenario(Protocol):
    @property
    def name(self) -> str:
        """The name of the scenario on the command line."""

    @property
    def title(self) -> str: ...

    @property
    def demonstrates(self) -> str:
        """The claim that the scenario demonstrates, in one sentence."""

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        """Check everything that ought to be so. Raise `Failed` when there is no going on."""


def scenario_named(name: str) -> Scenario:
    if name not in NAMES:
        raise BadUsage(f"There is no scenario {name}. There are: {', '.join(NAMES)}.")
    module = import_module(f"switchyard_scenarios.scenarios.{name.replace('-', '_')}")
    found: Scenario = module.SCENARIO
    return found


def scenarios_named(names: Sequence[str]) -> list[Scenario]:
    """Return each scenario once, in their usual order; all, if none is named."""
    for name in names:
        if name not in NAMES:
            scenario_named(name)
    return [scenario_named(name) for name in NAMES if not names or name in names]
