"""Wires ports to adapters, once per deployable: the only place that knows both.

What a deployable does not ask for is not imported: it would only make its start slower.
"""

from typing import TYPE_CHECKING, Final

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.bootstrap.api import ApiPorts, api_ports
    from switchyard.bootstrap.dispatch import (
        dead_letter_archive,
        dead_letter_processor,
        dispatcher,
    )
    from switchyard.bootstrap.functions import (
        AuthorizerPorts,
        SaveEventPorts,
        authorizer_ports,
        save_event_ports,
    )
    from switchyard.bootstrap.operators import (
        new_api_key,
        stage_endpoint,
        stage_keys,
        stage_output,
        stage_parked_messages,
        stage_pause_switch,
    )
    from switchyard.bootstrap.sweep import Sweepers, sweepers
    from switchyard.bootstrap.worker import Offload, WorkerPool, WorkerPorts, worker_ports

__all__ = [
    "ApiPorts",
    "AuthorizerPorts",
    "Offload",
    "SaveEventPorts",
    "Sweepers",
    "WorkerPool",
    "WorkerPorts",
    "api_ports",
    "authorizer_ports",
    "dead_letter_archive",
    "dead_letter_processor",
    "dispatcher",
    "new_api_key",
    "save_event_ports",
    "stage_endpoint",
    "stage_keys",
    "stage_output",
    "stage_parked_messages",
    "stage_pause_switch",
    "sweepers",
    "worker_ports",
]

_PARTS: Final = {
    "api": (
        "ApiPorts",
        "api_ports",
    ),
    "dispatch": (
        "dead_letter_archive",
        "dead_letter_processor",
        "dispatcher",
    ),
    "functions": (
        "AuthorizerPorts",
        "SaveEventPorts",
        "authorizer_ports",
        "save_event_ports",
    ),
    "operators": (
        "new_api_key",
        "stage_pause_switch",
        "stage_endpoint",
        "stage_keys",
        "stage_parked_messages",
        "stage_output",
    ),
    "sweep": (
        "Sweepers",
        "sweepers",
    ),
    "worker": (
        "Offload",
        "WorkerPool",
        "WorkerPorts",
        "worker_ports",
    ),
}

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, _PARTS)
