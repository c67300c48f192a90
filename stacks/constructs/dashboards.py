"""The dashboards of a stage and of its workers."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from stacks.constructs.measuring import measured
from stacks.constructs.queue import HouseQueue
from stacks.stage import Stage
from switchyard.contracts import metrics
from switchyard.contracts.metrics import NAMESPACE

SPENT_EVERY = Duration.minutes(5)
WORKERS = ("consumer_count", "saturated_consumers")
THIRD = 8  # of the width, which is 24


class StageDashboard(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._stage = stage
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=stage.prefixed("overview")
        )
        dashboard.add_widgets(
            self._graph("Waiting and running", "queue_depth", "in_flight_count"),
            self._graph("Age of the oldest item, seconds", "age_of_oldest_item"),
            self._graph("Workers, and busy slots in percent", *WORKERS),
        )
        dashboard.add_widgets(
            self._graph("Claimed and completed, per second", "claim_rate", "completion_rate"),
            self._graph("Failed and timed out, per second", "failure_rate", "timeout_rate"),
            self._graph("Dead letters", "dlq_depth"),
        )
        dashboard.add_widgets(
            self._graph("Share of completed tasks that are verified", "verified_share"),
            self._graph("Dollars for each verified task", "usd_per_verified"),
            self._graph("Time of an attempt, milliseconds", "avg_processing_time"),
        )
        dashboard.add_widgets(
            _by_definition("Cost by definition, dollars", metrics.COST, stage),
            _by_definition("Tokens by definition", metrics.TOKENS, stage),
        )

    def _graph(self, title: str, *names: str) -> cloudwatch.GraphWidget:
        left = [measured(name, self._stage).with_(label=name) for name in names]
        return cloudwatch.GraphWidget(title=title, left=left, width=THIRD)


def _by_definition(title: str, name: str, stage: Stage) -> cloudwatch.GraphWidget:
    """Return a graph by definition, whichever there are: new ones need no deployment."""
    schema = ",".join([NAMESPACE, metrics.DEFINITION, "service", metrics.STAGE])
    wanted = f'{{{schema}}} MetricName="{name}" {metrics.STAGE}="{stage.name}"'
    found = cloudwatch.MathExpression(
        expression=f"SEARCH('{wanted}', 'Sum', {SPENT_EVERY.to_seconds():.0f})",
        using_metrics={},
        label="",
        period=SPENT_EVERY,
    )
    return cloudwatch.GraphWidget(title=title, left=[found], width=THIRD, stacked=True)


class WorkerWatch(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        name: str,
        service: ecs.FargateService,
        tasks: HouseQueue,
    ) -> None:
        super().__init__(scope, construct_id)
        oldest = tasks.queue.metric_approximate_age_of_oldest_message(period=Duration.minutes(5))
        depth = [
            tasks.queue.metric_approximate_number_of_messages_visible(),
            tasks.queue.metric_approximate_number_of_messages_not_visible(),
            tasks.dead_letters.metric_approximate_number_of_messages_visible(),
        ]
        load = [service.metric_cpu_utilization(), service.metric_memory_utilization()]
        dashboard = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=stage.prefixed(name))
        dashboard.add_widgets(
            cloudwatch.GraphWidget(title="Tasks waiting, running, dead", left=depth),
            cloudwatch.GraphWidget(title="Age of the oldest task", left=[oldest]),
            cloudwatch.GraphWidget(title="Load of the workers", left=load),
        )
