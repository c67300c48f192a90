"""The endpoint of a local cloud that runs: found without importing what starts or changes it."""

from switchyard_local.endpoint import Endpoint, recall
from switchyard_local.errors import CloudError, not_running
from switchyard_local.home import Home
from switchyard_local.processes.roster import MINISTACK, Roster
from switchyard_local.processes.started import still_runs


def running_endpoint(home: Home) -> Endpoint:
    """Return how to reach the local cloud. Raise `CloudError` when it is not running."""
    known = recall(home.cloud_file)
    if known is None or not still_runs(Roster(home.processes_file).get(MINISTACK)):
        raise CloudError(not_running())
    return known.endpoint
