"""The secret that the local stage signs webhooks with: without one, no webhook is called."""

import secrets  # noqa: TID251 - a value that nobody needs to foresee
from typing import Final

from switchyard_local.emulator.gateway import Gateway
from switchyard_local.errors import CloudError

NAME: Final = "switchyard/local/webhooks"
CREATE: Final = "secretsmanager.CreateSecret"
_EXISTS: Final = b"ResourceExistsException"


def ensure_webhooks_secret(gateway: Gateway) -> None:
    """Create the secret with a random value, unless there is one. Raise `CloudError`."""
    reply = gateway.try_call(CREATE, {"Name": NAME, "SecretString": secrets.token_hex(32)})
    if reply is None or (reply.status != 200 and _EXISTS not in reply.body):
        raise CloudError(
            f"The secret {NAME} could not be created in MiniStack. "
            "Run `switchyard down`, then try again."
        )
