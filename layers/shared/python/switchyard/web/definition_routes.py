"""The routes of the API about task definitions: register, list, read and delete them."""

from collections.abc import Callable
from typing import Protocol

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from switchyard.contracts.definitions import (
    DefinitionDeleted,
    DefinitionList,
    RegisteredDefinition,
    TaskDefinition,
)
from switchyard.domain.access.limits import Ceilings
from switchyard.observability import Logger
from switchyard.ports import DefinitionStore
from switchyard.usecases.definitions.delete_definition import DefinitionRemover
from switchyard.usecases.definitions.put_definition import put_definition
from switchyard.usecases.definitions.read_definitions import (
    list_definitions,
    read_definition,
    read_version,
)


class DefinitionPorts(Protocol):
    """The parts of the API that these routes use."""

    @property
    def definitions(self) -> DefinitionStore: ...

    @property
    def ceilings(self) -> Ceilings: ...

    @property
    def remover(self) -> DefinitionRemover: ...


def add_definition_routes(
    app: APIGatewayHttpResolver, ports: Callable[[], DefinitionPorts], logger: Logger
) -> None:
    def tenant() -> str:
        """Return the tenant that the authorizer read from the key."""
        return str(app.current_event.request_context.authorizer.get_lambda["tenant"])

    @app.put("/task-definitions/<name>")
    def put_task_definition(name: str, definition: TaskDefinition) -> RegisteredDefinition:
        used = ports()
        return put_definition(
            tenant(), name, definition, definitions=used.definitions, ceilings=used.ceilings
        )

    @app.get("/task-definitions")
    def get_task_definitions(cursor: str | None = None) -> DefinitionList:
        return list_definitions(tenant(), cursor=cursor, definitions=ports().definitions)

    @app.get("/task-definitions/<name>")
    def get_task_definition(name: str) -> RegisteredDefinition:
        return read_definition(tenant(), name, definitions=ports().definitions)

    @app.delete("/task-definitions/<name>")
    def delete_task_definition(name: str) -> DefinitionDeleted:
        deleted = ports().remover.delete(tenant(), name)
        logger.info("task definition deleted", definition=name, last_version=deleted.last_version)
        return deleted

    @app.get("/task-definitions/<name>/versions/<version>")
    def get_task_definition_version(name: str, version: int) -> RegisteredDefinition:
        return read_version(tenant(), name, version, definitions=ports().definitions)
