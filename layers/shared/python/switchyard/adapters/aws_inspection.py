"""A deployed stage, as CloudFormation and the services behind it show it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.aws_services import Service
from switchyard.adapters.ecs import primary_release
from switchyard.contracts.sqs_records import holds_dead_letters, queue_name
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import OFF_ON_PURPOSE, STACKS, Switch, SwitchKind, Workers

RULE: Final = "AWS::Events::Rule"
MAPPING: Final = "AWS::Lambda::EventSourceMapping"
QUEUE: Final = "AWS::SQS::Queue"
SERVICE: Final = "AWS::ECS::Service"
BOOTSTRAP_STACK: Final = "CDKToolkit"
ON: Final = {"ENABLED", "Enabled"}


class AwsInspection:
    def __init__(self, stage: str, **where: str) -> None:
        self._stage = stage
        self._clients = cache(lambda service: _seen(lambda: aws.client(service, **where)))
        self._services = cache(self._default_pools_service)

    def _client(self, service: Service) -> Any:
        return self._clients(service)

    def caller(self) -> str:
        self._client("cloudformation")  # needs a region, which STS does without
        return str(_seen(self._client("sts").get_caller_identity)["Arn"])

    def stacks(self) -> Mapping[str, str]:
        found = {name: self._stack_status(name) for name in STACKS}
        return {name: status for name, status in found.items() if status is not None}

    def has_secret(self, name: str) -> bool:
        describe = self._client("secretsmanager").describe_secret
        answer = _seen(describe, missing="ResourceNotFoundException", SecretId=name)
        return answer is not None and "DeletedDate" not in answer

    def bootstrap_version(self) -> int | None:
        describe = self._client("cloudformation").describe_stacks
        answer = _seen(describe, missing="ValidationError", StackName=BOOTSTRAP_STACK)
        outputs = answer["Stacks"][0].get("Outputs", []) if answer else []
        versions = [o["OutputValue"] for o in outputs if o["OutputKey"] == "BootstrapVersion"]
        return int(versions[0]) if versions else None

    def release(self) -> str | None:
        """Return the release that the workers' service wants to run; `None` without a service."""
        for service in self._services():
            return primary_release(self._client("ecs"), service)
        return None

    def workers(self) -> Workers | None:
        for service in self._services():
            cluster = service.split("/")[-2]
            answer = _seen(
                self._client("ecs").describe_services, cluster=cluster, services=[service]
            )
            for found in answer["services"]:
                return self._workers(found)
        return None

    def _default_pools_service(self) -> list[str]:
        """Return the service of the default pool first, if there is one."""
        name = f"/switchyard-{self._stage}-worker"
        return sorted(self._resources(SERVICE), key=lambda arn: not arn.endswith(name))

    def switches(self) -> Sequence[Switch]:
        known = self._rules()
        names = map(_rule_name, self._resources(RULE))
        rules = [_rule(name, known.get(name)) for name in names if _is_wanted(known.get(name))]
        return [*rules, *map(self._mapping, self._resources(MAPPING))]

    def dead_letters(self) -> Mapping[str, int]:
        return {url.rpartition("/")[2]: self._waiting(url) for url in self.dead_letter_queues()}

    def dead_letter_queues(self) -> Sequence[str]:
        """Return the URLs of the dead-letter queues."""
        return sorted(url for url in self._resources(QUEUE) if holds_dead_letters(url))

    def _stack_status(self, name: str) -> str | None:
        stack = f"switchyard-{self._stage}-{name}"
        describe = self._client("cloudformation").describe_stacks
        answer = _seen(describe, missing="ValidationError", StackName=stack)
        return str(answer["Stacks"][0]["StackStatus"]) if answer else None

    def _resources(self, kind: str) -> list[str]:
        """Return the physical ids of the stacks' resources of this kind."""
        return [
            resource["PhysicalResourceId"]
            for name in STACKS
            for resource in self._of_stack(name)
            if resource["ResourceType"] == kind
        ]

    def _of_stack(self, name: str) -> list[Any]:
        pages = self._client("cloudformation").get_paginator("list_stack_resources")
        stack = f"switchyard-{self._stage}-{name}"
        listed = pages.paginate(StackName=stack).search("StackResourceSummaries")
        return _seen(lambda: list(listed), missing="ValidationError") or []

    def _workers(self, service: Any) -> Workers:
        definition = _seen(
            self._client("ecs").describe_task_definition, taskDefinition=service["taskDefinition"]
        )
        image = str(definition["taskDefinition"]["containerDefinitions"][0]["image"])
        return Workers(
            wanted=service["desiredCount"],
            running=service["runningCount"],
            image=image,
            image_exists=self._image_exists(image),
        )

    def _image_exists(self, image: str) -> bool:
        """`account.dkr.ecr.region.amazonaws.com/repository:tag`; other registries are not asked."""
        registry, _, rest = image.partition("/")
        repository, _, tag = rest.partition(":")
        if ".dkr.ecr." not in registry:
            return True
        answer = _seen(
            self._client("ecr").describe_images,
            missing="ImageNotFoundException",
            registryId=registry.partition(".")[0],
            repositoryName=repository,
            imageIds=[{"imageTag": tag}],
        )
        return answer is not None

    def _rules(self) -> dict[str, Any]:
        """Return the rules by name, on our bus and on the account's."""
        ours = self._rules_of(EventBusName=f"switchyard-{self._stage}")
        shared = self._rules_of(NamePrefix=f"switchyard-{self._stage}-")
        return {rule["Name"]: rule for rule in [*ours, *shared]}

    def _rules_of(self, **asked: str) -> list[Any]:
        listed = self._client("events").get_paginator("list_rules").paginate(**asked)
        found = _seen(lambda: list(listed.search("Rules")), missing="ResourceNotFoundException")
        return found or []

    def _mapping(self, uuid: str) -> Switch:
        mapping = _seen(self._client("lambda").get_event_source_mapping, UUID=uuid)
        function = mapping["FunctionArn"].rpartition(":")[2]
        name = f"{queue_name(mapping['EventSourceArn'])} to {function}"
        return Switch(name, SwitchKind.SUBSCRIPTION, mapping["State"] in ON)

    def _waiting(self, url: str) -> int:
        count = "ApproximateNumberOfMessages"
        answer = _seen(
            self._client("sqs").get_queue_attributes, QueueUrl=url, AttributeNames=[count]
        )
        return int(answer["Attributes"][count])


def _rule_name(resource: str) -> str:
    """Return the rule's name without its bus: a rule of a custom bus has the id `bus|rule`."""
    return resource.rpartition("|")[2]


def _is_wanted(found: Any) -> bool:
    return found is None or not found.get("Description", "").startswith(OFF_ON_PURPOSE)


def _rule(name: str, found: Any) -> Switch:
    if found is None:
        return Switch(name, SwitchKind.SUBSCRIPTION, on=False)
    kind = SwitchKind.SCHEDULE if found.get("ScheduleExpression") else SwitchKind.SUBSCRIPTION
    return Switch(name, kind, found["State"] in ON)


def _seen(look: Any, *, missing: str | None = None, **asked: Any) -> Any:
    """`None` if what is asked for is `missing`."""
    try:
        return look(**asked)
    except ClientError as error:
        if missing is not None and aws.code_of(error) == missing:
            return None
        raise Unavailable(str(error)) from error
    except BotoCoreError as error:
        raise Unavailable(str(error)) from error
