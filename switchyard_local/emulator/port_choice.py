"""Chooses the port that the local cloud listens on."""

from collections.abc import Mapping

from switchyard_local.errors import CloudError

DEFAULT_PORT = 4580  # not LocalStack's 4566, which may be in use


def chosen_port(host: Mapping[str, str], last_used: int | None) -> int:
    """Return SWITCHYARD_PORT if set, else the port used last."""
    asked = host.get("SWITCHYARD_PORT", "")
    if not asked:
        return last_used or DEFAULT_PORT
    if asked.isascii() and asked.isdigit() and 1024 <= int(asked) <= 65535:
        return int(asked)
    raise CloudError(f"SWITCHYARD_PORT is {asked!r}. Set it to a number from 1024 to 65535.")
