"""Takes yards away again, whole or half made, and those that somebody left behind."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from botocore.exceptions import ClientError

from scenarios.names import PREFIX, Names
from scenarios.place import Place
from switchyard.adapters.aws import code_of
from switchyard.ports import Clock

LEFT_BEHIND_MS: Final = 60 * 60 * 1000
_GONE: Final = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "NoSuchBucket",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)


def remove_yard(place: Place, names: Names) -> None:
    """The queue of dead letters goes last: as long as it is there, the yard can be found."""
    _remove_function(place, names.batch)
    for table in names.tables:
        _unless_gone(place.client("dynamodb").delete_table, TableName=table)
    _unless_gone(place.client("events").delete_event_bus, Name=names.bus)
    _unless_gone(_remove_bucket, place.client("s3"), names.bucket)
    for queue in (names.tasks, names.batch, names.batch_dead_letters, names.dead_letters):
        _unless_gone(_remove_queue, place.client("sqs"), queue)


def sweep(place: Place, clock: Clock) -> list[Names]:
    """Remove what runs that were killed have left behind, an hour ago or earlier."""
    found = [names for names, made_ms in _yards(place) if clock.now_ms() - made_ms > LEFT_BEHIND_MS]
    for names in found:
        remove_yard(place, names)
    return found


def _yards(place: Place) -> Iterator[tuple[Names, int]]:
    sqs = place.client("sqs")
    for page in sqs.get_paginator("list_queues").paginate(QueueNamePrefix=PREFIX):
        for url in page.get("QueueUrls", []):
            names = Names.of_the_yard_with(url.rpartition("/")[2])
            made_ms = _unless_gone(_made_ms, sqs, url) if names else None
            if names and made_ms is not None:
                yield names, made_ms


def _made_ms(sqs: Any, url: str) -> int:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["CreatedTimestamp"])
    return int(float(answer["Attributes"]["CreatedTimestamp"]) * 1000)


def _remove_queue(sqs: Any, name: str) -> None:
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=name)["QueueUrl"])


def _remove_bucket(s3: Any, name: str) -> None:
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        keys = [{"Key": found["Key"]} for found in page.get("Contents", [])]
        if keys:
            s3.delete_objects(Bucket=name, Delete={"Objects": keys, "Quiet": True})
    s3.delete_bucket(Bucket=name)


def _remove_function(place: Place, name: str) -> None:
    functions = place.client("lambda")
    if _unless_gone(functions.get_function, FunctionName=name) is None:
        return
    found = functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
    for mapping in found:
        _unless_gone(functions.delete_event_source_mapping, UUID=mapping["UUID"])
    _unless_gone(functions.delete_function, FunctionName=name)


def _unless_gone(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`None` for what is not there."""
    try:
        return act(*args, **kwargs)
    except ClientError as error:
        if code_of(error) in _GONE:
            return None
        raise
