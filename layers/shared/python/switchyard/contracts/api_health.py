"""The health of the API itself, which `switchyard jobs` asks for as well."""

from switchyard.contracts.wire import Written


class Health(Written):
    status: str = "ok"
    stage: str
    version: str
    paused: bool = False
    """Whether the operators keep the workers from taking tasks; jobs are accepted all the same."""
