"""Asks ECS about a worker: its scale-in protection, and the release of its service.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html
"""

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import Deployment
from switchyard.ports import Deployments, ScaleInProtection

AGENT: Final = "ECS_AGENT_URI"  # set by ECS itself
METADATA: Final = "ECS_CONTAINER_METADATA_URI_V4"  # likewise, from Fargate's platform 1.4.0 on
PRIMARY: Final = "PRIMARY"
TIMEOUT_SECONDS: Final = 5.0  # the agent itself waits for ECS

_direct = build_opener(ProxyHandler({}))  # the agent has a link-local address


def scale_in_protection(environment: Mapping[str, str]) -> ScaleInProtection:
    agent = environment.get(AGENT)
    return EcsScaleInProtection(agent) if agent else NoScaleInProtection()


class EcsScaleInProtection:
    def __init__(self, agent: str) -> None:
        self._state = f"{agent}/task-protection/v1/state"

    def protect(self, *, minutes: int) -> None:
        self._put({"ProtectionEnabled": True, "ExpiresInMinutes": minutes})

    def drop(self) -> None:
        self._put({"ProtectionEnabled": False})

    def _put(self, wish: Mapping[str, Any]) -> None:
        request = Request(  # noqa: S310 - the platform's own address
            self._state,
            data=json.dumps(wish).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        answer = _answer(request, "the ECS agent")
        if "protection" not in answer:  # a refusal has status 200 too
            raise Unavailable(f"the ECS agent refused: {answer}")


class NoScaleInProtection:
    """Protects nothing: for places where no service scales in."""

    def protect(self, *, minutes: int) -> None:
        pass

    def drop(self) -> None:
        pass


def deployments(environment: Mapping[str, str], *, service_arn: str) -> Deployments:
    metadata = environment.get(METADATA)
    if not (metadata and service_arn):
        return NoDeployments()
    return EcsDeployments(aws.client("ecs"), metadata, service_arn)


class EcsDeployments:
    """Compares the worker's own task definition with that of the service's primary deployment.

    A deployment that ECS rolls back makes the former task definition primary again.
    https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html
    """

    def __init__(self, client: Any, metadata: str, service_arn: str) -> None:
        self._client = client
        self._task = f"{metadata}/task"
        self._service_arn = service_arn
        self._own: str | None = None

    def look(self) -> Deployment | None:
        own = self._own = self._own or self._own_release()
        return Deployment(own=own, current=primary_release(self._client, self._service_arn))

    def _own_release(self) -> str:
        request = Request(self._task)  # noqa: S310 - the platform's own address
        answer = _answer(request, "the task metadata endpoint")
        try:
            return f"{answer['Family']}:{answer['Revision']}"
        except (KeyError, TypeError) as error:
            raise Unavailable(f"the task metadata endpoint names no revision: {answer}") from error


class NoDeployments:
    """Finds no deployment: for places where no service replaces workers."""

    def look(self) -> None:
        return None


def primary_release(client: Any, service_arn: str) -> str:
    """Return `family:revision` of what the service wants to run. Raise `Unavailable`.

    A missing permission is `Unavailable` as well: it must not end a worker.
    """
    cluster = service_arn.split("/")[-2]
    try:
        answer = client.describe_services(cluster=cluster, services=[service_arn])
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error
    for service in answer["services"]:
        for deployment in service["deployments"]:
            if deployment["status"] == PRIMARY:
                return str(deployment["taskDefinition"]).rpartition("/")[2]
    raise Unavailable(f"{service_arn} has no primary deployment: {answer.get('failures')}")


def _answer(request: Request, whose: str) -> Any:
    try:
        with _direct.open(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except HTTPError as error:
        with error:
            raise Unavailable(f"{whose} answered {error.code}: {_said(error)}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(f"{whose} did not answer: {error}") from error


def _said(error: HTTPError) -> str:
    return error.read(500).decode("utf-8", "replace")
