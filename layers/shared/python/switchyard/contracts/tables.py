"""Names that the stacks create and the adapters use: tables' keys and indexes."""

from typing import Final

PARTITION_KEY: Final = "PK"
SORT_KEY: Final = "SK"
TTL: Final = "ttl"

DUE_INDEX: Final = "due-index"
DUE_SHARD: Final = "due_shard"
DUE_AT: Final = "due_at_ms"
DUE_SUMMARY: Final = ("state", "ready_at_ms", "started_at_ms")
"""Attributes of tasks that change only with the due time, so that no write costs more for them."""

READY_INDEX: Final = "ready-index"
READY_IN: Final = "ready_in"
READY_ORDER: Final = "ready_order"
READY_SUMMARY: Final = ("queue", "definition", "priority", "lease_ms", "limits")
"""What workers choose by: none of it changes while a task waits, so that no write costs more."""

ALERTS_PARTITION: Final = "ALERTS"
"""The partition of alerts in the state table."""

JOBS_INDEX: Final = "jobs-index"
JOBS_TENANT: Final = "listed_under"
JOBS_ORDER: Final = "listed_at"
JOBS_SUMMARY: Final = (
    "job_id",
    "name",
    "state",
    "run",
    "total_tasks",
    "created_at_ms",
    "settled_at_ms",
    "failure_detected_at_ms",
    "tags",
)

EVENT_INDEXES: Final = tuple(f"GSI{n}" for n in range(1, 8))
EVENT_SUMMARY: Final = ("entityId", "entityType", "tenantId", "eventType", "timestamp", "eventId")

COUNTS_PARTITIONS: Final = "COUNTS#"
"""The prefix of the state table's partitions that hold a day's counters each."""
WORKERS_PARTITION: Final = "WORKERS"
CONSUMPTION_PARTITION: Final = "STAGE#CONSUMPTION"
POOLS_PARTITION: Final = "STAGE#POOLS"
"""The partition of the state table with what operators changed of pools' subscriptions."""
DEDUPLICATION_PREFIX: Final = "ONCE#"
"""The prefix of the partitions that record what must not happen twice."""


def event_index_name(index: str) -> str:
    return f"{index}-index"


def job_partition(tenant: str, job_id: str) -> str:
    """Name a job's partition of the state table; with `*`, those of all, as policies do."""
    return f"TENANT#{tenant}#JOB#{job_id}"


def open_jobs_partition(tenant: str) -> str:
    """Name the partition of the state table that counts a tenant's open tasks; `*` as above."""
    return f"TENANT#{tenant}#OPEN"


def signals_partition(tenant: str, digest: str) -> str:
    """Name the partition of the state table with the tasks of a tenant that wait for one kind of
    event; `*` as above."""
    return f"TENANT#{tenant}#SIGNALS#{digest}"


def limit_partition(tenant: str, name: str) -> str:
    """Name the partition of the state table with who has a place of a limit; `*` as above."""
    return f"TENANT#{tenant}#LIMIT#{name}"


def group_partition(group: str) -> str:
    """Name the partition of the state table with the tenants that have work in a group."""
    return f"GROUP#{group}"


def tenant_settings_partition(tenant: str) -> str:
    """Name the partition of the state table with what operators set for a tenant; `*` as above."""
    return f"TENANT#{tenant}#SETTINGS"


def queues_partition(tenant: str) -> str:
    """Name the partition of the state table with a tenant's work queues; `*` as above."""
    return f"TENANT#{tenant}#QUEUES"


def api_keys_partition(tenant: str) -> str:
    return f"TENANT#{tenant}#APIKEYS"
