"""Versions of one thing, put together in whatever order they arrive: only a newer one counts.

A queue promises no order. So every change carries the version of its entity, and is written on
the condition that nothing as new is there: late, early or twice, the entity ends up the same.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import CONDITION_FAILED, call, code_of
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.observability import get_logger
from switchyard_scenarios.switched.leases import Effect, Work
from switchyard_scenarios.switched.switches import WorkerSwitches

logger = get_logger("scenarios")

_NEWER: Final = "attribute_not_exists(entity_id) OR #version < :version"


@dataclass(frozen=True, slots=True)
class Apply:
    reason: str


@dataclass(frozen=True, slots=True)
class Ignore:
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    entity: str
    version: int
    message_id: str
    """The message that reported it."""

    @classmethod
    def reported_by(cls, work: Work) -> "Change":
        said = json.loads(work.body)["input"]
        return cls(entity=said["entity"], version=said["version"], message_id=work.message_id)

    @property
    def row(self) -> dict[str, Any]:
        return {"entity_id": self.entity, "version": self.version, "message_id": self.message_id}


def decide(known: int | None, coming: int) -> Apply | Ignore:
    """Decide by the version that is there, if any, and the one that came."""
    if known is None:
        return Apply(f"version {coming} is the first that came")
    if coming > known:
        return Apply(f"version {coming} is newer than {known}")
    return Ignore(f"version {coming} is no newer than {known}")


class Entities:
    def __init__(self, dynamodb: Any, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def apply(self, change: Change) -> Apply | Ignore:
        """Check the condition once more with the write: another worker may have been faster."""
        decision = decide(self._known(change.entity), change.version)
        if isinstance(decision, Ignore) or self._is_written(change):
            return decision
        return decide(self._known(change.entity), change.version)

    def _known(self, entity: str) -> int | None:
        answer = call(
            self._dynamodb.get_item,
            TableName=self._table,
            Key=serialized({"entity_id": entity}),
            ConsistentRead=True,
        )
        return deserialized(answer["Item"])["version"] if "Item" in answer else None

    def _is_written(self, change: Change) -> bool:
        try:
            call(
                self._dynamodb.put_item,
                TableName=self._table,
                Item=serialized(change.row),
                ConditionExpression=_NEWER,
                ExpressionAttributeNames={"#version": "version"},
                ExpressionAttributeValues=serialized({":version": change.version}),
            )
        except ClientError as error:
            if code_of(error) == CONDITION_FAILED:
                return False
            raise
        return True


def reconciling(dynamodb: Any, switches: WorkerSwitches) -> Effect:
    """Return an effect that applies a message's version, unless one as new is there already."""
    entities = Entities(dynamodb, switches.entities_table)

    def reconcile(work: Work) -> None:
        decision = entities.apply(Change.reported_by(work))
        fields = {"message_id": work.message_id, "reason": decision.reason}
        logger.info("version is reconciled", extra=fields)

    return reconcile
