"""The rules of triggers on EventBridge."""

import json
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import call, code_of
from switchyard.contracts.events.envelope import DELIVERY_RETRIES, DELIVERY_SECONDS
from switchyard.contracts.triggers import Bus, message_template
from switchyard.domain.errors import Unavailable
from switchyard.domain.triggers.triggers import RuleRefused
from switchyard.ports import TriggerRule

TARGET: Final = "trigger-queue"
WHOLE_EVENT: Final = "<aws.events.event.json>"
"""The name of the whole event in EventBridge's input templates."""

_REFUSED: Final = frozenset(
    {"InvalidEventPatternException", "ValidationException", "LimitExceededException"}
)
_MISSING: Final = "ResourceNotFoundException"


class EventBridgeRules:
    def __init__(
        self, client: Any, *, bus_name: str, queue_arn: str, dead_letters_arn: str
    ) -> None:
        self._client = client
        self._buses: dict[Bus, str] = {"switchyard": bus_name, "default": "default"}
        self._queue_arn = queue_arn
        self._dead_letters_arn = dead_letters_arn

    def put(self, rule: TriggerRule) -> None:
        call(self._put_rule, rule)
        answer = call(
            self._client.put_targets,
            Rule=rule.name,
            EventBusName=self._buses[rule.bus],
            Targets=[self._target(rule)],
        )
        if answer["FailedEntryCount"]:
            raise Unavailable(f"EventBridge refused the target: {answer['FailedEntries']}")

    def has(self, name: str, bus: Bus) -> bool:
        return call(self._is_there, name, bus)

    def remove(self, name: str, bus: Bus) -> None:
        """A rule with targets cannot be deleted."""
        if not self.has(name, bus):
            return
        where = {"EventBusName": self._buses[bus]}
        call(self._client.remove_targets, Rule=name, Ids=[TARGET], **where)
        call(self._client.delete_rule, Name=name, **where)

    def _put_rule(self, rule: TriggerRule) -> None:
        when: dict[str, str] = (
            {"ScheduleExpression": rule.schedule}
            if rule.schedule
            else {"EventPattern": json.dumps(rule.pattern)}
        )
        try:
            self._client.put_rule(
                Name=rule.name,
                EventBusName=self._buses[rule.bus],
                State="ENABLED" if rule.enabled else "DISABLED",
                Description=f"Trigger {rule.trigger} of the tenant {rule.tenant}",
                **when,
            )
        except ClientError as error:
            if code_of(error) in _REFUSED:
                raise RuleRefused(str(error)) from error
            raise

    def _is_there(self, name: str, bus: Bus) -> bool:
        try:
            self._client.describe_rule(Name=name, EventBusName=self._buses[bus])
        except ClientError as error:
            if code_of(error) == _MISSING:
                return False
            raise
        return True

    def _target(self, rule: TriggerRule) -> dict[str, Any]:
        return {
            "Id": TARGET,
            "Arn": self._queue_arn,
            "InputTransformer": {
                "InputTemplate": message_template(
                    rule.tenant, rule.trigger, WHOLE_EVENT, local_time=rule.local_time
                )
            },
            "RetryPolicy": {
                "MaximumRetryAttempts": DELIVERY_RETRIES,
                "MaximumEventAgeInSeconds": DELIVERY_SECONDS,
            },
            "DeadLetterConfig": {"Arn": self._dead_letters_arn},
        }
