"""A downstream effect that happens once, however often its message is delivered.

It stands for business code. Two tables: `message_status` says how far each message is, and
`message_completed` has a row for each whose effect took place. Everything is guarded by the fence
of the lease that the message is handled under, which grows with every claim:

- begin, right after the claim: one attempt more, unless this claim was counted already;
- complete, before the task is settled: both tables in one transaction, or neither;
- fail: never over what is completed, nor over a later attempt.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import CONDITION_FAILED, TRANSACTION_CANCELLED, call, code_of
from switchyard.adapters.dynamodb.values import serialized
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.ports import Clock

_NAMES: Final = {"#status": "status"}  # a reserved word
_HELD: Final = "#status = :started AND fence = :fence"


class Status(StrEnum):
    STARTED = "STARTED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class MessageEffects:
    def __init__(
        self, dynamodb: Any, *, status_table: str, completed_table: str, clock: Clock
    ) -> None:
        self._dynamodb = dynamodb
        self._status = status_table
        self._completed = completed_table
        self._clock = clock

    def begin(self, message_id: str, *, fence: int, payload_digest: str) -> None:
        """A completed message stays completed: only the number of a later attempt is recorded."""
        count = "ADD attempts :one SET fence = :fence, last_updated = :now"
        start = (
            f"{count}, #status = :started,"
            " payload_digest = if_not_exists(payload_digest, :digest) REMOVE error_reason"
        )
        is_open = "attribute_not_exists(fence) OR (fence < :fence AND #status <> :completed)"
        is_done = "fence < :fence AND #status = :completed"
        said = {":fence": fence, ":one": 1, ":now": self._now(), ":completed": Status.COMPLETED}
        started = said | {":started": Status.STARTED, ":digest": payload_digest}
        if not self._update(message_id, start, is_open, started):
            self._update(message_id, count, is_done, said)

    def complete(self, message_id: str, *, fence: int, payload_digest: str) -> bool:
        """Return `False` if it was completed before. Raise `LeaseLost` if another attempt began."""
        row = {
            "message_id": message_id,
            "processed_at": self._now(),
            "payload_digest": payload_digest,
        }
        put = {
            "TableName": self._completed,
            "Item": serialized(row),
            "ConditionExpression": "attribute_not_exists(message_id)",
        }
        finish = self._request(
            message_id,
            "SET #status = :completed, last_updated = :now",
            _HELD,
            {
                ":completed": Status.COMPLETED,
                ":now": self._now(),
                ":started": Status.STARTED,
                ":fence": fence,
            },
        )
        refused = self._transact({"Put": put}, {"Update": finish})
        if refused and not refused[0]:
            raise LeaseLost(f"{message_id}: another attempt began after that of fence {fence}")
        return not refused

    def fail(self, message_id: str, *, fence: int, reason: str) -> bool:
        """Record the failure; return `False` if another attempt has begun."""
        said = {":failed": Status.FAILED, ":now": self._now(), ":reason": reason}
        return self._update(
            message_id,
            "SET #status = :failed, last_updated = :now, error_reason = :reason",
            _HELD,
            said | {":started": Status.STARTED, ":fence": fence},
        )

    def refuse(self, message_id: str, reason: str, *, payload_digest: str) -> bool:
        """Record a failure before any attempt; return `False` if there was one."""
        said = {":failed": Status.FAILED, ":now": self._now(), ":reason": reason, ":none": 0}
        return self._update(
            message_id,
            "SET #status = :failed, last_updated = :now, error_reason = :reason,"
            " attempts = :none, fence = :none, payload_digest = :digest",
            "attribute_not_exists(message_id)",
            said | {":digest": payload_digest},
        )

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).isoformat()

    def _request(
        self, message_id: str, update: str, condition: str, values: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "TableName": self._status,
            "Key": serialized({"message_id": message_id}),
            "UpdateExpression": update,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": _NAMES,
            "ExpressionAttributeValues": serialized(values),
        }

    def _update(self, message_id: str, update: str, condition: str, values: dict[str, Any]) -> bool:
        request = self._request(message_id, update, condition, values)
        try:
            call(self._dynamodb.update_item, **request)
        except ClientError as error:
            if code_of(error) == CONDITION_FAILED:
                return False
            raise
        return True

    def _transact(self, *writes: dict[str, Any]) -> list[bool]:
        """Return for each write whether its condition failed; nothing when all were written."""
        try:
            call(self._dynamodb.transact_write_items, TransactItems=list(writes))
        except ClientError as error:
            if code_of(error) != TRANSACTION_CANCELLED:
                raise
            reasons: Any = error.response.get("CancellationReasons", [])
            refused = [reason.get("Code") == "ConditionalCheckFailed" for reason in reasons]
            if any(refused):
                return refused
            raise Unavailable(str(error)) from error  # it met another: it will pass
        return []
