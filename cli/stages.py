"""Where the API of a stage is, and the key that opens it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from cli.errors import BadInput, Unreachable
from cli.outside import Outside
from cli.wording import sentence
from local.errors import CloudError
from switchyard.domain.errors import SwitchyardError

API_URL: Final = "SWITCHYARD_API_URL"
API_KEY: Final = "SWITCHYARD_API_KEY"
NOT_RUNNING: Final = "The local cloud is not running; start it with `switchyard up` or `make up`."


class Stage(StrEnum):
    LOCAL = "local"
    DEV = "dev"
    PROD = "prod"

    @property
    def option(self) -> str:
        """What a suggested command needs to reach the same stage."""
        return "" if self is Stage.LOCAL else f" --stage {self}"


@dataclass(frozen=True)
class Endpoint:
    stage: Stage
    url: str
    key: str
    output_folder: Path | None = None
    """Where the worker's files are on this machine; only the local cloud's are."""


def endpoint_of(stage: Stage, outside: Outside) -> Endpoint:
    if stage is Stage.LOCAL:
        return local_endpoint(outside)
    return endpoint_with(_key(stage, outside.environment), stage, outside)


def endpoint_with(key: str, stage: Stage, outside: Outside) -> Endpoint:
    """The stage's API, opened with this key instead of the one in the environment."""
    if stage is Stage.LOCAL:
        return replace(local_endpoint(outside), key=key)
    return Endpoint(stage, _given_url(outside) or _deployed_url(stage, outside), key)


def local_endpoint(outside: Outside) -> Endpoint:
    try:
        found = outside.cloud.endpoint()
    except CloudError as error:
        raise Unreachable(NOT_RUNNING) from error
    return Endpoint(Stage.LOCAL, found.api_url, found.api_key, outside.worker_output)


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


def _given_url(outside: Outside) -> str:
    url = outside.environment.get(API_URL, "")
    if url and not re.fullmatch(r"https?://[^\s/\[\]]+(/\S*)?", url):
        raise BadInput(f"{API_URL} is {url!r}; it must be a URL like https://api.example.com.")
    return url


def _deployed_url(stage: Stage, outside: Outside) -> str:
    try:
        return outside.deployed_url(stage.value)
    except SwitchyardError as error:
        raise Unreachable(
            f"The API of the stage {stage} was not found: {sentence(error)} "
            f"Deploy the stage, or set {API_URL}."
        ) from error
