"""Accounts that a stage may be in, and what happens to it there: in memory, and on a cloud."""

import json
from typing import Any, Final, Protocol

from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.domain.health.diagnosis import STACKS, Switch, SwitchKind
from switchyard.ports import Inspection
from tests.contract.clouds import Cloud
from tests.unit.cli.fakes.examiner import FakeInspection

LETTERS: Final = 3


class Account(Protocol):
    inspection: Inspection
    subscription: Switch
    schedule: Switch
    dead_letters: str
    """The queue."""
    secret: str

    def deploy(self) -> None:
        """All its stacks."""

    def lose(self, stack: str) -> None: ...

    def turn_off(self, switch: Switch) -> None: ...

    def put_secret(self) -> None: ...

    def bootstrap(self, version: int) -> None:
        """Create the bootstrap stack of the CDK."""

    def leave_letters(self) -> None: ...


class MemoryAccount:
    subscription = Switch("every-event", SwitchKind.SUBSCRIPTION, on=True)
    schedule = Switch("every-minute", SwitchKind.SCHEDULE, on=True)
    dead_letters = "switchyard-dev-task-queue-dlq"
    secret = "switchyard/dev/claude"

    def __init__(self) -> None:
        self._fake = FakeInspection(
            statuses={}, secrets=set(), bootstrapped=None, service=None, rules=[], letters={}
        )
        self.inspection: Inspection = self._fake

    def deploy(self) -> None:
        self._fake.statuses = dict.fromkeys(STACKS, "CREATE_COMPLETE")
        self._fake.rules = [self.subscription, self.schedule]
        self._fake.letters = {self.dead_letters: 0}

    def lose(self, stack: str) -> None:
        del self._fake.statuses[stack]

    def turn_off(self, switch: Switch) -> None:
        self._fake.rules[self._fake.rules.index(switch)] = off(switch)

    def put_secret(self) -> None:
        self._fake.secrets.add(self.secret)

    def bootstrap(self, version: int) -> None:
        self._fake.bootstrapped = version

    def leave_letters(self) -> None:
        self._fake.letters[self.dead_letters] = LETTERS


class CloudAccount:
    def __init__(self, cloud: Cloud) -> None:
        self._client = cloud.client
        self._stage = cloud.fresh("stage")
        self._bus = f"switchyard-{self._stage}"
        self.subscription = Switch("every-event", SwitchKind.SUBSCRIPTION, on=True)
        self.schedule = Switch(f"{self._bus}-every-minute", SwitchKind.SCHEDULE, on=True)
        self.dead_letters = f"switchyard-{self._stage}-task-queue-dlq"
        self.secret = f"switchyard/{self._stage}/claude"
        self.inspection: Inspection = AwsInspection(
            self._stage,
            endpoint_url=cloud.client("sqs").meta.endpoint_url,
            region_name=cloud.region,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def deploy(self) -> None:
        bus = {"EventBusName": self._bus, "EventPattern": {"source": ["task-workflow"]}}
        resources: dict[str, dict[str, Any]] = {
            name: {"Queue": _made("SQS::Queue", QueueName=f"switchyard-{self._stage}-{name}-queue")}
            for name in STACKS
        }
        resources["infrastructure"] |= {
            "Bus": _made("Events::EventBus", Name=self._bus),
            "Dead": _made("SQS::Queue", QueueName=self.dead_letters),
        }
        resources["event"]["Rule"] = _made("Events::Rule", Name=self.subscription.name, **bus)
        resources["health-check"]["Rule"] = _made(
            "Events::Rule", Name=self.schedule.name, ScheduleExpression="rate(1 minute)"
        )
        cloudformation = self._client("cloudformation")
        for name, made in resources.items():
            template = json.dumps({"Resources": made})
            cloudformation.create_stack(StackName=f"{self._bus}-{name}", TemplateBody=template)
            self._settled("create", name)

    def lose(self, stack: str) -> None:
        self._client("cloudformation").delete_stack(StackName=f"{self._bus}-{stack}")
        self._settled("delete", stack)

    def turn_off(self, switch: Switch) -> None:
        bus = "default" if switch.kind is SwitchKind.SCHEDULE else self._bus
        self._client("events").disable_rule(Name=switch.name, EventBusName=bus)

    def put_secret(self) -> None:
        self._client("secretsmanager").create_secret(Name=self.secret, SecretString="x")

    def bootstrap(self, version: int) -> None:
        template = {
            "Resources": {"Queue": _made("SQS::Queue", QueueName=f"{self._bus}-bootstrap")},
            "Outputs": {"BootstrapVersion": {"Value": str(version)}},
        }
        cloudformation = self._client("cloudformation")
        cloudformation.create_stack(StackName="CDKToolkit", TemplateBody=json.dumps(template))
        waiter = cloudformation.get_waiter("stack_create_complete")
        waiter.wait(StackName="CDKToolkit", WaiterConfig={"Delay": 0.1})

    def leave_letters(self) -> None:
        sqs = self._client("sqs")
        url = sqs.get_queue_url(QueueName=self.dead_letters)["QueueUrl"]
        for _ in range(LETTERS):
            sqs.send_message(QueueUrl=url, MessageBody="{}")

    def _settled(self, what: str, stack: str) -> None:
        waiter = self._client("cloudformation").get_waiter(f"stack_{what}_complete")
        waiter.wait(StackName=f"{self._bus}-{stack}", WaiterConfig={"Delay": 0.1})


def off(switch: Switch) -> Switch:
    return Switch(switch.name, switch.kind, on=False)


def _made(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}
