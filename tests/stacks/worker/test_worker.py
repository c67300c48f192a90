import json
import os
from pathlib import PurePosixPath
from typing import Any
from unittest.mock import patch

import pytest

from stacks.paths import REPOSITORY
from stacks.stage import LOCAL
from switchyard.settings import WorkerSettings
from tests.stacks.synthesized import Properties, SynthesizedStage, text_of
from tests.stacks.test_permissions import statements_of

DOCKERS_CAPABILITIES = {
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
}


@pytest.fixture
def task(synthesized: SynthesizedStage) -> Properties:
    return synthesized.one("AWS::ECS::TaskDefinition", Family=synthesized.stage.prefixed("worker"))


@pytest.fixture
def container(task: Properties) -> Properties:
    (container,) = task["ContainerDefinitions"]
    return dict(container)


def variables_of(container: Properties) -> dict[str, str]:
    entries: list[dict[str, Any]] = container["Environment"]
    return {entry["Name"]: text_of(entry["Value"]) for entry in entries}


def test_a_worker_finds_all_its_settings(
    synthesized: SynthesizedStage, container: Properties
) -> None:
    with patch.dict(os.environ, variables_of(container), clear=True):
        settings = WorkerSettings()
    assert settings.stage == synthesized.stage.name
    assert settings.max_concurrent_claude == synthesized.stage.default_pool.slots
    assert settings.delete_files_after_upload == synthesized.stage.delete_files_after_upload


def test_a_worker_has_two_minutes_to_finish(container: Properties) -> None:
    assert container["StopTimeout"] == 120


def test_the_grace_for_running_tasks_fits_into_the_stop_timeout(container: Properties) -> None:
    with patch.dict(os.environ, variables_of(container), clear=True):
        assert WorkerSettings().stop_grace_seconds < container["StopTimeout"]


def test_a_worker_runs_on_arm(task: Properties) -> None:
    assert task["RuntimePlatform"]["CpuArchitecture"] == "ARM64"


def test_only_volumes_are_writable_and_the_task_folder_is_on_one(
    synthesized: SynthesizedStage, container: Properties
) -> None:
    assert container["ReadonlyRootFilesystem"]
    writable = [PurePosixPath(mount["ContainerPath"]) for mount in container["MountPoints"]]
    if synthesized.stage is not LOCAL:  # there it is a folder of the host
        assert set(PurePosixPath(synthesized.stage.output_folder).parents) & set(writable)


def test_a_worker_keeps_only_the_capabilities_that_its_entrypoint_needs(
    container: Properties,
) -> None:
    """Fargate can add none of them."""
    capabilities = container["LinuxParameters"]["Capabilities"]
    assert capabilities.keys() == {"Drop"}
    assert DOCKERS_CAPABILITIES - set(capabilities["Drop"]) == {
        "KILL",
        "SETGID",
        "SETPCAP",
        "SETUID",
    }
    assert "User" not in container


def test_the_platform_asks_for_the_workers_pulse(container: Properties) -> None:
    *_, instruction = (
        (REPOSITORY / "switchyard_worker" / "Dockerfile").read_text().split("HEALTHCHECK ")
    )
    command = json.loads(instruction.partition("CMD ")[2])
    assert container["HealthCheck"]["Command"] == ["CMD", *command]


def test_the_claude_credential_is_a_reference(
    synthesized: SynthesizedStage, container: Properties
) -> None:
    (secret,) = container["Secrets"]
    assert secret["Name"] == "ANTHROPIC_API_KEY"
    assert (
        secret["ValueFrom"]["Fn::Join"][1][-1]
        == f":secret:switchyard/{synthesized.stage.name}/claude"
    )
    assert secret["Name"] not in variables_of(container)


def test_nobody_can_connect_to_a_worker(synthesized: SynthesizedStage) -> None:
    groups = synthesized.all("AWS::EC2::SecurityGroup")
    assert groups
    assert not [group for group in groups if group.get("SecurityGroupIngress")]
    assert not synthesized.all("AWS::EC2::SecurityGroupIngress")


def test_a_worker_may_look_at_its_own_service_and_is_given_its_name(
    synthesized: SynthesizedStage, container: Properties
) -> None:
    (granted,) = (
        statement
        for statement in statements_of(synthesized, "worker")
        if statement["Action"] == "ecs:DescribeServices"
    )
    service = synthesized.default_service()
    (cluster,) = synthesized.all("AWS::ECS::Cluster")
    name = f":service/{cluster['ClusterName']}/{service['ServiceName']}"
    assert granted["Resource"]["Fn::Join"][1][-1] == name
    entries = {entry["Name"]: entry["Value"] for entry in container["Environment"]}
    assert entries["WORKER_SERVICE_ARN"] == granted["Resource"]


def test_a_deployment_that_does_not_start_is_rolled_back(synthesized: SynthesizedStage) -> None:
    service = synthesized.default_service()
    breaker = service["DeploymentConfiguration"]["DeploymentCircuitBreaker"]
    assert breaker == {"Enable": True, "Rollback": True}


def test_a_worker_starts_when_the_network_works(synthesized: SynthesizedStage) -> None:
    """Not before every route out of its subnets and every endpoint is there."""
    resources = synthesized.template("consumer")["Resources"]
    (service, *_) = (r for r in resources.values() if r["Type"] == "AWS::ECS::Service")
    network = service["Properties"]["NetworkConfiguration"]["AwsvpcConfiguration"]
    subnets = {subnet["Ref"] for subnet in network["Subnets"]}
    tables = {
        resource["Properties"]["RouteTableId"]["Ref"]
        for resource in resources.values()
        if resource["Type"] == "AWS::EC2::SubnetRouteTableAssociation"
        and resource["Properties"]["SubnetId"]["Ref"] in subnets
    }
    needed = {
        name
        for name, resource in resources.items()
        if (
            resource["Type"] == "AWS::EC2::Route"
            and resource["Properties"]["RouteTableId"]["Ref"] in tables
        )
        or resource["Type"] == "AWS::EC2::VPCEndpoint"
    }
    assert len(needed) == len(subnets) + 2
    assert needed <= set(service["DependsOn"])


def test_a_deployment_leaves_the_number_of_workers_to_the_scaling(
    synthesized: SynthesizedStage,
) -> None:
    service = synthesized.default_service()
    assert "DesiredCount" not in service


def test_the_launcher_can_find_what_it_needs(synthesized: SynthesizedStage) -> None:
    assert "WorkerTaskDefinition" in synthesized.template("consumer")["Outputs"]
    assert {
        "StateTableName",
        "EventsTableName",
        "TaskQueueUrl",
        "ArtifactsBucketName",
    } <= synthesized.template("infrastructure")["Outputs"].keys()
