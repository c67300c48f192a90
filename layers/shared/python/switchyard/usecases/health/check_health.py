"""Says whether the API can do its work."""

from switchyard import VERSION
from switchyard.contracts.overview import Health
from switchyard.ports import PauseSwitch


def check_health(*, stage: str, pause_switch: PauseSwitch) -> Health:
    """Check with one read of the state table. Raise `Unavailable`."""
    return Health(stage=stage, version=VERSION, paused=pause_switch.paused() is not None)
