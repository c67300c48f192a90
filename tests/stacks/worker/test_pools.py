"""Each pool has a queue and a service of its own, and the default pool's are as before pools."""

import json
from dataclasses import replace
from typing import Any

import pytest

from stacks.stage import DEV, LOCAL
from switchyard.domain.scheduling.pools import Pool, PoolKind, Subscription, WhenEmpty
from tests.stacks.synthesized import Properties, SynthesizedStage, text_of
from tests.stacks.test_permissions import listed
from tests.stacks.worker.simulated_scaling import scaling_alarms


def container_of(synthesized: SynthesizedStage, pool: Pool) -> Properties:
    name = "worker" if pool.name == "default" else f"worker-{pool.name}"
    family = synthesized.stage.prefixed(name)
    task = synthesized.one("AWS::ECS::TaskDefinition", Family=family)
    container: Properties = task["ContainerDefinitions"][0]
    return container


def variables_of(container: Properties) -> dict[str, str]:
    return {entry["Name"]: text_of(entry["Value"]) for entry in container["Environment"]}


def test_the_default_pool_keeps_names_and_logical_ids(synthesized: SynthesizedStage) -> None:
    """Another logical id, or another name, would replace the queue with its messages."""
    shared = synthesized.template("infrastructure")["Resources"]
    names = {
        "TasksQueue14B5121E": synthesized.stage.data_name("task-queue"),
        "TasksDeadLettersCFF7832A": synthesized.stage.data_name("task-queue-dlq"),
    }
    for logical_id, name in names.items():
        assert shared[logical_id]["Properties"]["QueueName"] == name
    consumer = synthesized.template("consumer")["Resources"]
    service = consumer["WorkerService3F60922A"]["Properties"]
    assert service["ServiceName"] == synthesized.stage.prefixed("worker")


def test_a_worker_knows_its_pool_and_waits_at_its_queue(synthesized: SynthesizedStage) -> None:
    for pool in synthesized.stage.pools:
        container = container_of(synthesized, pool)
        variables = variables_of(container)
        assert variables["POOL"] == pool.name
        assert variables["WHEN_EMPTY"] == pool.when_empty
        assert variables["MAX_CONCURRENT_CLAUDE"] == str(pool.slots)
        assert variables.get("CLAUDE_MODEL") == pool.model
        entries = {entry["Name"]: entry["Value"] for entry in container["Environment"]}
        queue = synthesized.imported(entries["SQS_QUEUE_URL"])["QueueName"]
        suffix = "" if pool.name == "default" else f"-{pool.name}"
        assert queue == synthesized.stage.data_name(f"task-queue{suffix}")
        known = [one["pool"]["name"] for one in json.loads(variables["POOLS"])]
        assert known == [each.name for each in synthesized.stage.pools]


def test_a_worker_receives_from_its_own_queue_and_wakes_every_pool(
    synthesized: SynthesizedStage,
) -> None:
    for pool in synthesized.stage.pools:
        received, sent = set(), set()
        for statement in _statements(synthesized, pool):
            queues = {str(resource) for resource in listed(statement["Resource"])}
            if "sqs:ReceiveMessage" in listed(statement["Action"]):
                received |= queues
                asks = "sqs:GetQueueAttributes" in listed(statement["Action"])
                assert asks == (pool.when_empty is not WhenEmpty.POLL)
            if "sqs:SendMessage" in listed(statement["Action"]):
                sent |= queues
        assert len(received) == 1
        assert received <= sent
        assert len(sent) == len(synthesized.stage.pools)


def test_only_pools_that_say_so_run_on_spot(synthesized: SynthesizedStage) -> None:
    for pool in synthesized.stage.pools:
        name = "worker" if pool.name == "default" else f"worker-{pool.name}"
        service = synthesized.one("AWS::ECS::Service", ServiceName=synthesized.stage.prefixed(name))
        providers = [one["CapacityProvider"] for one in service.get("CapacityProviderStrategy", ())]
        assert providers == (["FARGATE_SPOT"] if pool.spot else [])


def test_each_pool_scales_on_its_own_queue(synthesized: SynthesizedStage) -> None:
    if not synthesized.stage.scales_workers:
        return
    for pool in synthesized.stage.pools:
        suffix = "" if pool.name == "default" else pool.name
        alarms = scaling_alarms(synthesized, suffix)
        assert len(alarms) == 2
        queues = {
            synthesized.imported(dimension["Value"])["QueueName"]
            for alarm in alarms
            for metric in alarm["Metrics"]
            for dimension in metric.get("MetricStat", {}).get("Metric", {}).get("Dimensions", ())
        }
        name = "task-queue" if pool.name == "default" else f"task-queue-{pool.name}"
        assert queues == {synthesized.stage.data_name(name)}


def test_a_stage_refuses_pools_that_cannot_be_deployed() -> None:
    functions = Pool(
        name="light",
        kind=PoolKind.LAMBDA,
        when_empty=WhenEmpty.POLL,
        subscriptions=(Subscription("light"),),
    )
    with pytest.raises(ValueError, match="Lambda pools are not deployed yet"):
        replace(DEV, pools=(*DEV.pools, functions))
    with pytest.raises(ValueError, match="no pool named default"):
        replace(LOCAL, pools=LOCAL.pools[1:])


def _statements(synthesized: SynthesizedStage, pool: Pool) -> list[Any]:
    name = "worker" if pool.name == "default" else f"worker-{pool.name}"
    family = synthesized.stage.prefixed(name)
    task = synthesized.one("AWS::ECS::TaskDefinition", Family=family)
    role = {"Ref": task["TaskRoleArn"]["Fn::GetAtt"][0]}
    return [
        statement
        for policy in synthesized.all("AWS::IAM::Policy")
        if role in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
