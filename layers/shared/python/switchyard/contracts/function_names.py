"""Names of the Lambda functions where they are deployed.

A function is named after its folder below `lambdas/`. Two names are older than their folders: they
are part of ARNs, log groups and metrics of stages that are deployed already.
"""

from typing import Final

_OLDER_NAMES: Final = {"archive_dead_letters": "alert", "report_incidents": "notify"}
_FOLDERS: Final = {name: folder for folder, name in _OLDER_NAMES.items()}


def service_name(folder: str) -> str:
    """The name of a function without the prefix of its stage: `save_event` is `save-event`."""
    return _OLDER_NAMES.get(folder, folder.replace("_", "-"))


def function_folder(service: str) -> str:
    """The folder below `lambdas/` of the function with this service name."""
    return _FOLDERS.get(service, service.replace("-", "_"))
