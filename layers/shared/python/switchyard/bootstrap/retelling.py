"""What the sweeper does about alerts."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.bootstrap.alerting import alert_book
from switchyard.settings import SweeperSettings
from switchyard.usecases.alerts.retell_alerts import Reteller


def reteller(settings: SweeperSettings) -> Reteller:
    """A queue's URL ends in its name."""
    return Reteller(
        book=alert_book(settings.state_table_name),
        mail=SqsMail(aws.client("sqs")),
        queue=settings.alerts_queue_url.rpartition("/")[2],
        clock=function_clock(),
    )
