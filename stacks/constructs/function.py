"""A Lambda function as all of ours are built, with a role and a log of its own."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.constructs.layers import ARCHITECTURE, RUNTIME, FunctionLayers
from stacks.constructs.permissions import acknowledge, acknowledge_wildcard, allow
from stacks.environment import powertools_environment
from stacks.paths import LAMBDAS
from stacks.stage import Stage
from switchyard.contracts.function_names import service_name

TIMEOUT_SECONDS = 30
THROTTLED_WITHIN = Duration.minutes(5)
MEMORY_MB = 1024  # memory buys processor time: less would make every cold start slower, not cheaper


class HouseFunction(Construct):
    """A Lambda function that runs `lambdas/<folder>/handler.py`, with its role and its log."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        folder: str,
        environment: Mapping[str, str],
        layers: FunctionLayers,
        recursive_loop: lambda_.RecursiveLoop = lambda_.RecursiveLoop.TERMINATE,
    ) -> None:
        super().__init__(scope, construct_id)
        service = service_name(folder)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=stage.prefixed(service),
            code=lambda_.Code.from_asset(str(LAMBDAS / folder), exclude=["**/__pycache__"]),
            handler="handler.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            memory_size=MEMORY_MB,
            timeout=Duration.seconds(TIMEOUT_SECONDS),
            role=self.role,
            layers=layers.versions,
            environment={**environment, **powertools_environment(stage, service=service)},
            log_group=self._log_group(stage, service),
            recursive_loop=recursive_loop,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else lambda_.Tracing.DISABLED,
        )
        self._watch(stage, service)
        acknowledge_wildcard(self.role, "*", because="X-Ray's write actions take no resource.")
        acknowledge(
            self.function,
            "AwsSolutions-L1",
            because="Python 3.13 is what the layer is bundled for, and is supported until 2029.",
        )

    def _watch(self, stage: Stage, service: str) -> None:
        raise_alarm(
            self,
            f"{service.title().replace('-', '')}Throttled",
            self.function.metric_throttles(period=THROTTLED_WITHIN, statistic="Sum"),
            stage=stage,
            meaning=f"Lambda refused to run the function {service}: all functions of the account "
            "together have no concurrency left.",
        )

    def consume(
        self,
        queue: sqs.IQueue,
        *,
        batch_size: int,
        at_once: int,
        window: Duration | None = None,
        name: str = "Messages",
    ) -> None:
        """Run for batches of messages, `at_once` of them at the same time.

        The handler names the messages that have to come back.
        """
        self.function.add_event_source_mapping(
            name,
            event_source_arn=queue.queue_arn,
            batch_size=batch_size,
            max_batching_window=window,
            max_concurrency=at_once,
            report_batch_item_failures=True,
        )
        allow(
            self.role,
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            on=[queue.queue_arn],
        )

    def _log_group(self, stage: Stage, service: str) -> logs.LogGroup:
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{stage.prefixed(service)}",
            retention=stage.log_retention,
            removal_policy=stage.removal_policy,
        )
        log_group.grant_write(self.role)
        return log_group
