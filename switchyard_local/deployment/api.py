"""Does the deployed API answer as it should?"""

from switchyard_local.emulator.gateway import Gateway
from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.endpoint import Endpoint


def api_path(api_id: str) -> str:
    return f"/_aws/execute-api/{api_id}/$default"


def api_url(port: int, api_id: str) -> str:
    return f"http://{LOOPBACK}:{port}{api_path(api_id)}"


def api_serves(endpoint: Endpoint) -> bool:
    """A stranger is turned away and the key is let in."""
    gateway = Gateway(endpoint.port)
    path = f"{endpoint.api_url.removeprefix(endpoint.aws_endpoint_url)}/task-definitions"
    known = gateway.get(path, {"x-api-key": endpoint.api_key})
    if known is None or known.status != 200:
        return False
    stranger = gateway.get(path)
    return stranger is not None and stranger.status in (401, 403)
