"""The environment of a deployable, filled by the names of its settings class."""

import json

from pydantic import TypeAdapter

from stacks.errors import EnvironmentMismatch
from stacks.stage import Stage
from switchyard.contracts.metrics import NAMESPACE
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.scheduling.pools import DeployedPool
from switchyard.settings import Settings


def environment_for(settings: type[Settings], **values: str | int) -> dict[str, str]:
    """Name every required field and no unknown one, or the synthesis fails."""
    fields = settings.model_fields
    missing = sorted(
        name for name, field in fields.items() if field.is_required() and name not in values
    )
    unknown = sorted(values.keys() - fields.keys())
    if missing or unknown:
        raise EnvironmentMismatch(_disagreement(settings.__name__, missing, unknown))
    return {name.upper(): str(value) for name, value in values.items()}


def as_json(setting: Ceilings) -> str:
    """Write a setting with several fields as one variable."""
    return TypeAdapter(Ceilings).dump_json(setting).decode()


def groups_of(stage: Stage) -> str:
    """Return the groups of work queues that a stage has: those that its pools serve."""
    return json.dumps(sorted({one.group for pool in stage.pools for one in pool.subscriptions}))


def pools_as_json(pools: tuple[DeployedPool, ...]) -> str:
    return TypeAdapter(tuple[DeployedPool, ...]).dump_json(pools).decode()


def powertools_environment(stage: Stage, *, service: str) -> dict[str, str]:
    return {
        "POWERTOOLS_SERVICE_NAME": service,
        "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
        "POWERTOOLS_LOG_LEVEL": "INFO",
        "POWERTOOLS_TRACE_DISABLED": str(not stage.tracing).lower(),
        "PYDANTIC_DISABLE_PLUGINS": "__all__",  # it would look for some at every cold start
    }


def _disagreement(settings: str, missing: list[str], unknown: list[str]) -> str:
    complaints = []
    if missing:
        complaints.append(f"needs {', '.join(missing)}")
    if unknown:
        complaints.append(f"does not know {', '.join(unknown)}")
    return f"{settings} {' and '.join(complaints)}"
