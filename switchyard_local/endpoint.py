"""The values that a client needs to use the local cloud, and the file that stores them."""

from dataclasses import asdict, dataclass
from pathlib import Path

from switchyard_local.environments import aws_environment
from switchyard_local.private_file import read_private, write_private


@dataclass(frozen=True)
class Endpoint:
    api_url: str
    api_key: str
    tenant: str
    aws_endpoint_url: str
    region: str
    port: int

    @property
    def connection(self) -> dict[str, str]:
        """Return what an AWS client would otherwise read from the environment."""
        environment = aws_environment(self.port)
        return {
            "endpoint_url": self.aws_endpoint_url,
            "region_name": self.region,
            "aws_access_key_id": environment["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": environment["AWS_SECRET_ACCESS_KEY"],
        }


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
