"""What a person looks at when tasks wait too long: the queue and the load, as AWS sees them."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from stacks.constructs.queue import HouseQueue
from stacks.stage import Stage


class WorkerWatch(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
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
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=stage.prefixed("workers")
        )
        dashboard.add_widgets(
            cloudwatch.GraphWidget(title="Tasks waiting, running, dead", left=depth),
            cloudwatch.GraphWidget(title="Age of the oldest task", left=[oldest]),
            cloudwatch.GraphWidget(title="Load of the workers", left=load),
        )
