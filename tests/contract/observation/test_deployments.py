"""The contract of `Deployments`, which sees releases of the worker's service."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.ecs import EcsDeployments, deployments, primary_release
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import Deployment
from switchyard.ports import Deployments
from switchyard.testing.presence import MemoryDeployments
from tests.contract.clouds import Cloud
from tests.fakes.servers.ecs_metadata import EcsMachine, ecs_machine

SERVICE_ARN = "arn:aws:ecs:eu-west-1:123456789012:service/workers/worker"


class Service(Protocol):
    """A service whose first release started the worker."""

    deployments: Deployments
    releases: list[str]
    """`family:revision` of the first release and of a second one."""

    def deploy(self, release: str) -> None: ...

    def fail(self) -> None: ...


class MemoryService:
    def __init__(self) -> None:
        self.releases = ["worker:1", "worker:2"]
        self._memory = MemoryDeployments(self.releases[0])
        self.deployments: Deployments = self._memory

    def deploy(self, release: str) -> None:
        self._memory.current = release

    def fail(self) -> None:
        self._memory.outage = Unavailable("no service")


class CloudService:
    def __init__(self, cloud: Cloud, open_machines: ExitStack) -> None:
        self._ecs = cloud.client("ecs")
        family, self._cluster = cloud.fresh("worker"), cloud.fresh("workers")
        self._ecs.create_cluster(clusterName=self._cluster)
        self.releases = [self._register(family) for _ in range(2)]
        service = self._ecs.create_service(
            cluster=self._cluster,
            serviceName="worker",
            taskDefinition=self.releases[0],
            desiredCount=0,
        )["service"]
        self.arn: str = service["serviceArn"]
        self.machine: EcsMachine = open_machines.enter_context(ecs_machine(self.releases[0]))
        metadata = self.machine.environment["ECS_CONTAINER_METADATA_URI_V4"]
        self.deployments: Deployments = EcsDeployments(self._ecs, metadata, self.arn)

    def deploy(self, release: str) -> None:
        self._ecs.update_service(cluster=self._cluster, service="worker", taskDefinition=release)

    def fail(self) -> None:
        self._ecs.delete_service(cluster=self._cluster, service="worker", force=True)
        self._ecs.delete_cluster(cluster=self._cluster)

    def _register(self, family: str) -> str:
        container: dict[str, Any] = {"name": "worker", "image": "worker", "memory": 128}
        answer = self._ecs.register_task_definition(family=family, containerDefinitions=[container])
        arn: str = answer["taskDefinition"]["taskDefinitionArn"]
        return arn.rpartition("/")[2]


@pytest.fixture(params=["memory", "ministack"])  # moto's deployments never change
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    if request.param == "memory":
        yield MemoryService()
        return
    with ExitStack() as open_machines:
        yield CloudService(request.getfixturevalue(request.param), open_machines)


def test_at_first_a_worker_runs_the_current_release(service: Service) -> None:
    first, _ = service.releases
    assert service.deployments.look() == Deployment(own=first, current=first)


def test_a_worker_is_replaced_when_another_release_is_deployed(service: Service) -> None:
    first, second = service.releases
    service.deploy(second)

    found = service.deployments.look()

    assert found == Deployment(own=first, current=second)
    assert found.replaced


def test_a_worker_is_current_again_when_its_release_is_deployed_again(service: Service) -> None:
    first, second = service.releases
    service.deploy(second)
    service.deploy(first)

    assert service.deployments.look() == Deployment(own=first, current=first)


def test_a_service_that_is_gone_is_unavailable(service: Service) -> None:
    service.fail()
    with pytest.raises(Unavailable):
        service.deployments.look()


def test_a_machine_without_metadata_or_service_sees_no_deployment() -> None:
    with ecs_machine("worker:1") as machine:
        for environment, arn in (({}, SERVICE_ARN), (machine.environment, "")):
            assert deployments(environment, service_arn=arn).look() is None


def test_an_endpoint_that_answers_wrongly_is_unavailable(ministack: Cloud) -> None:
    with ExitStack() as machines:
        service = CloudService(ministack, machines)
        service.machine.status = 500
        with pytest.raises(Unavailable, match="the task metadata endpoint answered 500"):
            service.deployments.look()
        service.machine.status = 200
        assert service.deployments.look() is not None


def test_a_missing_permission_is_unavailable() -> None:
    class Forbidding:
        def describe_services(self, **_: Any) -> Any:
            raise ClientError(
                {"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeServices"
            )

    with pytest.raises(Unavailable, match="AccessDenied"):
        primary_release(Forbidding(), SERVICE_ARN)
