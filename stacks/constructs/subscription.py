"""Brings events of the bus to a queue."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_events as events
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from switchyard.contracts.events import DETAIL_TYPE
from switchyard.contracts.events.envelope import DELIVERY_RETRIES, DELIVERY_SECONDS


class EventSubscription(Construct):
    """A rule whose target is a queue; what cannot be delivered ends in `undeliverable`.

    An L1 rule, because the library's queue target would name the rule in the policy of the queue,
    in the stack that this one depends on. The queues accept every rule of the bus instead.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bus: events.IEventBus,
        queue: sqs.IQueue,
        undeliverable: sqs.IQueue,
        event_types: Sequence[str] = (),
        pattern: Mapping[str, object] | None = None,
    ) -> None:
        """Subscribe to Switchyard's events, of these types or of all, or to a `pattern`."""
        super().__init__(scope, construct_id)
        events.CfnRule(
            self,
            "Rule",
            event_bus_name=bus.event_bus_name,
            event_pattern=pattern or _pattern(event_types),
            targets=[
                events.CfnRule.TargetProperty(
                    id="queue",
                    arn=queue.queue_arn,
                    retry_policy=events.CfnRule.RetryPolicyProperty(
                        maximum_retry_attempts=DELIVERY_RETRIES,
                        maximum_event_age_in_seconds=DELIVERY_SECONDS,
                    ),
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                        arn=undeliverable.queue_arn
                    ),
                )
            ],
        )


def _pattern(event_types: Sequence[str]) -> dict[str, object]:
    pattern: dict[str, object] = {"detail-type": [DETAIL_TYPE]}
    if event_types:
        pattern["detail"] = {"eventType": list(event_types)}
    return pattern
