"""Says at start what keeps tasks apart here, and what does not."""

from collections.abc import Mapping

from switchyard.observability import get_logger
from worker.slot_users import slot_users

logger = get_logger("worker")


def log_isolation(host: Mapping[str, str]) -> None:
    """One line: operators see it in the log, developers on their terminals."""
    users = slot_users(host)
    if users:
        fields = {"first_user": min(users), "last_user": max(users)}
        logger.info("each task runs as a user of its own", extra=fields)
        return
    logger.warning(
        "tasks are not isolated: they run as the worker's own user, and can read and change its "
        "files, each other's folders and each other's processes; run only tasks that you trust"
    )
