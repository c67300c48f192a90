"""Names that the last release has under another name: this suite runs with both versions."""

from importlib import import_module
from typing import Any, Final


def first_of(*places: str) -> Any:
    """Import the first of these `module:name` places that the installed version has."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"no version has any of {places}")


def attribute(thing: object, *names: str) -> Any:
    """Return the first of these attributes that `thing` has."""
    return next(getattr(thing, name) for name in names if hasattr(thing, name))


DynamoDbAlertStore: Final = first_of(
    "switchyard.adapters.dynamodb.alert_store:DynamoDbAlertStore",
    "switchyard.adapters.dynamodb.alert_book:DynamoDbAlertBook",
)
CheckSubject: Final = first_of(
    "switchyard.contracts.alerting:CheckSubject", "switchyard.contracts.alerting:LookAgain"
)
subject_to_check: Final = first_of(
    "switchyard.contracts.alerting:subject_to_check",
    "switchyard.contracts.alerting:woken_subject",
)


def send_due_alerts(table: Any, *, mail: Any, queue: str, clock: Any) -> None:
    """Have the sweeper's use case send a message for each alert that is due."""
    due_alerts = first_of(
        "switchyard.usecases.alerts.report_incidents:DueAlerts",
        "switchyard.usecases.alerts.retell_alerts:Reteller",
    )
    store = "store" if "store" in due_alerts.__dataclass_fields__ else "book"
    alerts = due_alerts(**{store: DynamoDbAlertStore(table)}, mail=mail, queue=queue, clock=clock)
    attribute(alerts, "send_due", "retell")()
