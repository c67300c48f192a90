"""Due times: when something unsettled is overdue. The sweeper looks at nothing else."""

from datetime import timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds

AFTER_SETTLING: Final = milliseconds(timedelta(seconds=60))
AFTER_READY: Final = milliseconds(timedelta(seconds=60))
AFTER_QUEUED: Final = milliseconds(timedelta(minutes=5))
AFTER_LEASE: Final = milliseconds(timedelta(seconds=30))
"""A claimed task is due this long after its lease, unless the lease is renewed."""
AFTER_HOLD: Final = milliseconds(timedelta(seconds=60))
"""A held task that the dispatcher was asked to end is looked at again after this long."""
JOB_BEING_WRITTEN: Final = milliseconds(timedelta(minutes=5))
JOB_BEING_CHANGED: Final = milliseconds(timedelta(minutes=5))
JOB_AUDIT: Final = milliseconds(timedelta(hours=1))
