"""Removes harnesses, whole or half made, and those that earlier runs left behind."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters.aws import code_of
from switchyard.clock import system_clock
from switchyard.ports import Clock
from switchyard_local.say import Say
from switchyard_scenarios.harness.names import PREFIX, Names
from switchyard_scenarios.harness.place import Place

LEFT_BEHIND_MS: Final = 60 * 60 * 1000
READY_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 1.0
_GONE: Final = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "NoSuchBucket",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)
_IN_USE: Final = "ResourceInUseException"
_NOT_ALLOWED: Final = "AccessDeniedException"


def remove_harness(place: Place, names: Names) -> None:
    """Remove all that can be removed, whatever else cannot; then raise the first problem.

    The queue of dead letters stays if anything does: as long as it is there, the harness can be
    found.
    """
    problems = list(filter(None, map(_problem_with, _parts(place, names))))
    if problems:
        raise problems[0]
    _remove_queue(place.client("sqs"), names.dead_letters)


def sweep(place: Place, clock: Clock, say: Say = lambda _: None) -> list[Names]:
    """Remove what runs that were killed have left behind, an hour ago or earlier.

    What cannot be removed is reported, and stops no scenario.
    """
    removed = []
    try:
        for names, made_ms in list(_harnesses(place)):
            if clock.now_ms() - made_ms > LEFT_BEHIND_MS:
                remove_harness(place, names)
                removed.append(names)
    except (BotoCoreError, ClientError) as problem:
        say(f"What was left behind is not removed: {problem}")
    return removed


def _parts(place: Place, names: Names) -> Iterator[Callable[[], object]]:
    """Yield the removal of each part, but for the dead-letter queue."""
    yield partial(_remove_function, place, names.batch)
    for table in names.tables:
        yield partial(_remove, place.client("dynamodb").delete_table, TableName=table)
    yield partial(_remove, place.client("events").delete_event_bus, Name=names.bus)
    yield partial(_unless_gone, _remove_bucket, place.client("s3"), names.bucket)
    for queue in (names.tasks, names.batch, names.batch_dead_letters):
        yield partial(_remove_queue, place.client("sqs"), queue)


def _problem_with(removal: Callable[[], object]) -> Exception | None:
    try:
        removal()
    except (BotoCoreError, ClientError) as problem:
        return problem
    return None


def _harnesses(place: Place) -> Iterator[tuple[Names, int]]:
    sqs = place.client("sqs")
    for page in sqs.get_paginator("list_queues").paginate(QueueNamePrefix=PREFIX):
        for url in page.get("QueueUrls", []):
            names = Names.of_the_harness_with(url.rpartition("/")[2])
            made_ms = _unless_gone(_made_ms, sqs, url) if names else None
            if names and made_ms is not None:
                yield names, made_ms


def _made_ms(sqs: Any, url: str) -> int:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["CreatedTimestamp"])
    return int(float(answer["Attributes"]["CreatedTimestamp"]) * 1000)


def _remove_queue(sqs: Any, name: str) -> None:
    found = _unless_gone(sqs.get_queue_url, QueueName=name)
    if found:
        _unless_gone(sqs.delete_queue, QueueUrl=found["QueueUrl"])


def _remove_bucket(s3: Any, name: str) -> None:
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        keys = [{"Key": found["Key"]} for found in page.get("Contents", [])]
        if keys:
            s3.delete_objects(Bucket=name, Delete={"Objects": keys, "Quiet": True})
    s3.delete_bucket(Bucket=name)


def _remove_function(place: Place, name: str) -> None:
    functions = place.client("lambda")
    if not _is_there(functions, name):
        return
    found = functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
    for mapping in found:
        _remove(functions.delete_event_source_mapping, UUID=mapping["UUID"])
    _remove(functions.delete_function, FunctionName=name)


def _is_there(functions: Any, name: str) -> bool:
    """Return whether the function exists; a caller that may not look at functions has made none."""
    try:
        return _unless_gone(functions.get_function, FunctionName=name) is not None
    except ClientError as error:
        if code_of(error) == _NOT_ALLOWED:
            return False
        raise


def _remove(act: Callable[..., Any], **what: str) -> None:
    """Remove a resource; wait while it is being made or changed."""
    clock = system_clock()
    deadline = clock.monotonic() + READY_SECONDS
    while True:
        try:
            _unless_gone(act, **what)
        except ClientError as error:
            if code_of(error) != _IN_USE or clock.monotonic() > deadline:
                raise
            clock.sleep(PAUSE_SECONDS)
        else:
            return


def _unless_gone(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Act, or return `None` if the resource does not exist."""
    try:
        return act(*args, **kwargs)
    except ClientError as error:
        if code_of(error) in _GONE:
            return None
        raise
