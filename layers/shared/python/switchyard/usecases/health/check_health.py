"""Says whether the API can do its work."""

from switchyard import VERSION
from switchyard.contracts.health import Health
from switchyard.ports import Consumption


def check_health(*, stage: str, consumption: Consumption) -> Health:
    """One read of the state table. Raise `Unavailable`."""
    return Health(stage=stage, version=VERSION, paused=consumption.paused() is not None)
