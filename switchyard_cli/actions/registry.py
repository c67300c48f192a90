"""Read the registered definitions that tasks name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from switchyard.client.errors import ClientError, NotFound

if TYPE_CHECKING:
    from switchyard.contracts.definitions import RegisteredDefinition
    from switchyard.contracts.jobs import JobView
    from switchyard_cli.connections.api import Api


def registered_definitions(
    api: Api, names: Collection[str]
) -> tuple[dict[str, RegisteredDefinition], list[str]]:
    """Return the named definitions that are registered, and the names of others.

    One page of the listing has them all in most tenants; what is not on it is read by its name.
    """
    page = api.definitions()
    found = {one.name: one for one in page.definitions if one.name in names}
    for name in sorted(set(names) - set(found)) if page.cursor else ():
        with suppress(NotFound):
            found[name] = api.definition(name)
    return found, [one.name for one in page.definitions]


def kinds_in(api: Api, job: JobView) -> Mapping[str, str]:
    """Return what the definitions of a job's tasks are, agent or code, as far as that is known."""
    names = {task.name for task in job.tasks if task.name}
    try:
        found = registered_definitions(api, names)[0] if names else {}
    except ClientError:
        return {}
    return {name: one.kind for name, one in found.items()}
