"""Open tasks in the state table: a tenant's jobs are one partition, a small item each."""

from collections.abc import Sequence

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Update
from switchyard.contracts.tables import open_jobs_partition
from switchyard.domain.access.open_tasks import OpenJob
from switchyard.domain.ids import JobRef


class DynamoDbOpenTasks:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def of_tenant(self, tenant: str) -> Sequence[OpenJob]:
        found = self._table.query("#PK = :open", {"open": open_jobs_partition(tenant)})
        return [
            OpenJob(
                ref=JobRef(tenant, item["SK"]),
                run=item["run"],
                tasks=item["tasks"],
                since_ms=item["since_ms"],
            )
            for item in found
        ]

    def note(self, ref: JobRef, *, run: int, tasks: int, now_ms: int) -> None:
        self._table.update(
            _key(ref),
            Update(
                set={"run": run, "tasks": tasks, "since_ms": now_ms},
                condition="attribute_not_exists(#run) OR #run < :set_run"
                " OR (#run = :set_run AND #tasks <= :set_tasks)",
            ),
        )

    def close(self, ref: JobRef, *, run: int) -> None:
        self._table.delete(
            _key(ref), condition="attribute_not_exists(#run) OR #run <= :run", values={"run": run}
        )


def _key(ref: JobRef) -> Key:
    return open_jobs_partition(ref.tenant), ref.job_id
