"""The whole of Switchyard in one stage: six stacks that build on the first."""

from dataclasses import dataclass

from aws_cdk import App

from stacks.consumer import ConsumerStack
from stacks.dispatcher import DispatcherStack
from stacks.event import EventStack
from stacks.health_check import HealthCheckStack
from stacks.infrastructure import InfrastructureStack
from stacks.producer_api import ProducerApiStack
from stacks.stage import Stage


@dataclass(frozen=True)
class Application:
    infrastructure: InfrastructureStack
    event: EventStack
    dispatcher: DispatcherStack
    health_check: HealthCheckStack
    producer_api: ProducerApiStack
    consumer: ConsumerStack


def build_application(app: App, stage: Stage) -> Application:
    shared = InfrastructureStack(app, stage.prefixed("infrastructure"), stage=stage)
    producer_api = ProducerApiStack(app, stage.prefixed("producer-api"), stage=stage, shared=shared)
    return Application(
        infrastructure=shared,
        event=EventStack(app, stage.prefixed("event"), stage=stage, shared=shared),
        dispatcher=DispatcherStack(app, stage.prefixed("dispatcher"), stage=stage, shared=shared),
        health_check=HealthCheckStack(
            app,
            stage.prefixed("health-check"),
            stage=stage,
            shared=shared,
            not_triggered=producer_api.triggers.dead_letters,
        ),
        producer_api=producer_api,
        consumer=ConsumerStack(app, stage.prefixed("consumer"), stage=stage, shared=shared),
    )
