"""Scale-in protection, asked of the ECS agent beside the container.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html
"""

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from switchyard.domain.errors import Unavailable
from switchyard.ports import ScaleInProtection

AGENT: Final = "ECS_AGENT_URI"  # set by ECS itself
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
        try:
            with _direct.open(request, timeout=TIMEOUT_SECONDS) as response:
                answer = json.load(response)
        except HTTPError as error:
            with error:
                raise Unavailable(f"the ECS agent answered {error.code}: {_said(error)}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise Unavailable(f"the ECS agent did not answer: {error}") from error
        if "protection" not in answer:  # a refusal has status 200 too
            raise Unavailable(f"the ECS agent refused: {answer}")


class NoScaleInProtection:
    """Where nobody scales in."""

    def protect(self, *, minutes: int) -> None:
        pass

    def drop(self) -> None:
        pass


def _said(error: HTTPError) -> str:
    return error.read(500).decode("utf-8", "replace")
