"""Which job an incident is about."""

import re
from typing import Final

from switchyard.domain.ids import JOB_ID, TENANT_ID, JobRef

_OF_A_JOB: Final = re.compile(rf"(?:[\w-]+/)+({TENANT_ID.pattern})/({JOB_ID.pattern})", re.ASCII)


def job_in(subject: str) -> JobRef | None:
    found = _OF_A_JOB.fullmatch(subject)
    return JobRef(found[1], found[2]) if found else None
