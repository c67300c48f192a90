"""Wires ports to adapters, once per deployable: the only place that knows both."""

from switchyard.bootstrap.functions import (
    ApiPorts,
    SaveEventPorts,
    api_ports,
    authorizer_keys,
    dead_letter_processor,
    dispatcher,
    save_event_ports,
    sweeper,
    undeliverable_keeper,
)
from switchyard.bootstrap.operators import (
    new_api_key,
    stage_endpoint,
    stage_letters,
    stage_state_table,
)
from switchyard.bootstrap.worker import Offload, WorkerPorts, worker_ports

__all__ = [
    "ApiPorts",
    "Offload",
    "SaveEventPorts",
    "WorkerPorts",
    "api_ports",
    "authorizer_keys",
    "dead_letter_processor",
    "dispatcher",
    "new_api_key",
    "save_event_ports",
    "stage_endpoint",
    "stage_letters",
    "stage_state_table",
    "sweeper",
    "undeliverable_keeper",
    "worker_ports",
]
