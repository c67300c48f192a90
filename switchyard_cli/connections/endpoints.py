"""Find the URL and the key of a stage's API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from switchyard.domain.errors import SwitchyardError
from switchyard_cli.errors import BadInput, Unreachable
from switchyard_cli.stages import Stage
from switchyard_cli.views.wording import sentence
from switchyard_local.errors import CloudError, not_running

if TYPE_CHECKING:
    from switchyard_cli.services import Services

API_URL: Final = "SWITCHYARD_API_URL"
API_KEY: Final = "SWITCHYARD_API_KEY"


@dataclass(frozen=True)
class Endpoint:
    stage: Stage
    url: str
    key: str
    output_folder: Path | None = None
    """The folder of the worker's files on this machine; `None` unless it is the local cloud."""


def endpoint_of(stage: Stage, services: Services) -> Endpoint:
    if stage is Stage.LOCAL:
        return local_endpoint(services)
    return endpoint_with(_key(stage, services.environment), stage, services)


def endpoint_with(key: str, stage: Stage, services: Services) -> Endpoint:
    """The stage's API, opened with this key instead of the one in the environment."""
    if stage is Stage.LOCAL:
        return replace(local_endpoint(services), key=key)
    return Endpoint(stage, _given_url(services) or _deployed_url(stage, services), key)


def local_endpoint(services: Services) -> Endpoint:
    try:
        found = services.cloud.endpoint()
    except CloudError as error:
        raise Unreachable(not_running()) from error
    return Endpoint(Stage.LOCAL, found.api_url, found.api_key, services.worker_output)


def _key(stage: Stage, environment: Mapping[str, str]) -> str:
    key = environment.get(API_KEY, "")
    if not key:
        raise BadInput(
            f"The stage {stage} needs an API key: set {API_KEY} to yours. "
            f"`switchyard keys issue TENANT{stage.option}` issues one."
        )
    if not (key.isascii() and key.isprintable()):
        raise BadInput(f"{API_KEY} contains characters that no API key has.")
    return key


def _given_url(services: Services) -> str:
    url = services.environment.get(API_URL, "")
    if url and not re.fullmatch(r"https?://[^\s/\[\]]+(/\S*)?", url):
        raise BadInput(f"{API_URL} is {url!r}; it must be a URL like https://api.example.com.")
    return url


def _deployed_url(stage: Stage, services: Services) -> str:
    try:
        return services.deployed_url(stage.value)
    except SwitchyardError as error:
        raise Unreachable(
            f"The API of the stage {stage} was not found: {sentence(error)} "
            f"Deploy the stage, or set {API_URL}."
        ) from error
