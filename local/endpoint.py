"""What a client needs to use the local cloud, and how it is remembered."""

from dataclasses import asdict, dataclass
from pathlib import Path

from local.private_file import read_private, write_private


@dataclass(frozen=True)
class Endpoint:
    api_url: str
    api_key: str
    tenant: str
    aws_endpoint_url: str
    region: str
    port: int


@dataclass(frozen=True)
class Deployment:
    """An endpoint and the fingerprint of the sources it was deployed from."""

    endpoint: Endpoint
    sources: str


def remember(file: Path, deployment: Deployment) -> None:
    write_private(file, asdict(deployment))


def recall(file: Path) -> Deployment | None:
    content = read_private(file)
    try:
        return Deployment(Endpoint(**content["endpoint"]), content["sources"])
    except (KeyError, TypeError):
        return None
