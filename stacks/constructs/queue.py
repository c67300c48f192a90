"""Queues as all of ours are built: encrypted, reached over TLS only, no message lost unseen."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import raise_if_not_read
from stacks.constructs.function import TIMEOUT_SECONDS
from stacks.stage import Stage

# A batch that Lambda throttles was received: fewer would park messages that no function has seen.
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
FUNCTION_RECEIVES = 5
KEPT_FOR = Duration.days(14)  # the most that SQS offers: an outage may last over a weekend
# Six times the timeout of the function that reads it, as AWS advises: throttled batches come back.
FUNCTION_VISIBILITY = Duration.seconds(6 * TIMEOUT_SECONDS)


class HouseQueue(Construct):
    """A queue, and a dead-letter queue for what was received `max_receives` times in vain."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        name: str,
        reader: str | None,
        visibility_timeout: Duration = FUNCTION_VISIBILITY,
        max_receives: int = FUNCTION_RECEIVES,
    ) -> None:
        """Make a queue; the default limits fit one that the function `reader` reads."""
        super().__init__(scope, construct_id)
        self.dead_letters = dead_letter_queue(self, "DeadLetters", stage=stage, name=f"{name}-dlq")
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=stage.data_name(name),
            visibility_timeout=visibility_timeout,
            retention_period=KEPT_FOR,
            receive_message_wait_time=Duration.seconds(20),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(
                max_receive_count=max_receives, queue=self.dead_letters
            ),
            removal_policy=stage.removal_policy,
        )
        if reader:
            raise_if_not_read(self, self.queue, stage=stage, name=name, reader=reader)


def dead_letter_queue(scope: Construct, construct_id: str, *, stage: Stage, name: str) -> sqs.Queue:
    return sqs.Queue(
        scope,
        construct_id,
        queue_name=stage.data_name(name),
        visibility_timeout=FUNCTION_VISIBILITY,
        retention_period=KEPT_FOR,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        removal_policy=stage.removal_policy,
    )


def accept_events(queue: sqs.Queue, *, bus: events.EventBus) -> None:
    """Let any rule of the bus deliver here.

    Naming the one rule would tie this queue's stack to the subscriber's, which needs the queue.
    """
    rules = Stack.of(queue).format_arn(
        service="events", resource="rule", resource_name=f"{bus.event_bus_name}/*"
    )
    queue.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("events.amazonaws.com")],
            actions=["sqs:SendMessage"],
            resources=[queue.queue_arn],
            conditions={"ArnLike": {"aws:SourceArn": rules}},
        )
    )
