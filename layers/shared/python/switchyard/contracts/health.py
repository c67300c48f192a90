"""What the API says of itself."""

from typing import Literal

from switchyard.contracts.wire import Wire


class Health(Wire):
    status: Literal["ok"] = "ok"
    stage: str
    version: str
    paused: bool = False
    """Whether the operators keep the workers from taking tasks; jobs are accepted all the same."""
