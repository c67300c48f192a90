"""Reads the outputs of the deployed stacks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchyard_local.emulator.gateway import Gateway
from switchyard_local.errors import CloudError

WORKER_TASK_DEFINITION = "WorkerTaskDefinition"
DESCRIBE_TASK_DEFINITION = "AmazonEC2ContainerServiceV20141113.DescribeTaskDefinition"


@dataclass(frozen=True)
class Outputs:
    api_id: str
    api_keys_table_name: str
    worker_task_definitions: tuple[str, ...]
    """The task definitions of all pools, the default pool's first."""

    @property
    def worker_task_definition(self) -> str:
        """Return that of the default pool."""
        return self.worker_task_definitions[0]


def read_outputs(file: Path) -> Outputs:
    try:
        stacks: Mapping[str, Mapping[str, str]] = json.loads(file.read_text())
        return Outputs(
            api_id=stacks["switchyard-local-producer-api"]["ApiId"],
            api_keys_table_name=stacks["switchyard-local-infrastructure"]["ApiKeysTableName"],
            worker_task_definitions=_task_definitions(stacks["switchyard-local-consumer"]),
        )
    except (OSError, ValueError, KeyError) as error:
        raise CloudError(
            f"The stack outputs in {file} are incomplete ({error}). "
            "Run `make clean`, then try again."
        ) from error


def _task_definitions(outputs: Mapping[str, str]) -> tuple[str, ...]:
    """Read one output for each pool: `WorkerTaskDefinition`, and others with the pool's name."""
    others = (
        outputs[name]
        for name in sorted(outputs)
        if name.startswith(WORKER_TASK_DEFINITION) and name != WORKER_TASK_DEFINITION
    )
    return (outputs[WORKER_TASK_DEFINITION], *others)


def worker_container(gateway: Gateway, task_definition: str) -> Mapping[str, Any]:
    answer = gateway.call(DESCRIBE_TASK_DEFINITION, {"taskDefinition": task_definition})
    container: Mapping[str, Any] = answer["taskDefinition"]["containerDefinitions"][0]
    return container
