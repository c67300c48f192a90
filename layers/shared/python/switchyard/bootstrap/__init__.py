"""Wires ports to adapters, once per deployable: the only place that knows both."""

from switchyard.bootstrap.api import ApiPorts, api_ports
from switchyard.bootstrap.dispatching import dispatcher, sweeper
from switchyard.bootstrap.functions import (
    AuthorizerPorts,
    SaveEventPorts,
    authorizer_ports,
    dead_letter_processor,
    save_event_ports,
    undeliverable_keeper,
)
from switchyard.bootstrap.operators import (
    new_api_key,
    stage_endpoint,
    stage_keys,
    stage_letters,
)
from switchyard.bootstrap.worker import Offload, WorkerPorts, worker_ports

__all__ = [
    "ApiPorts",
    "AuthorizerPorts",
    "Offload",
    "SaveEventPorts",
    "WorkerPorts",
    "api_ports",
    "authorizer_ports",
    "dead_letter_processor",
    "dispatcher",
    "new_api_key",
    "save_event_ports",
    "stage_endpoint",
    "stage_keys",
    "stage_letters",
    "sweeper",
    "undeliverable_keeper",
    "worker_ports",
]
