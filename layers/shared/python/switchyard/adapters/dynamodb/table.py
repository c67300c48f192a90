"""A DynamoDB table: plain Python values in, plain Python values out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import CONDITION_FAILED, TRANSACTION_CANCELLED, call, code_of
from switchyard.adapters.dynamodb.many_writes import Contended, ManyUpdates, ManyWrites, patiently
from switchyard.adapters.dynamodb.values import Item, deserialized, serialized
from switchyard.adapters.parallel import Threads
from switchyard.adapters.pauses import SYSTEM_PAUSES, Pauses
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.domain.text import in_slices
from switchyard.ports import Parallel

Key = tuple[str, str]

READS_PER_BATCH: Final = 100  # BatchGetItem's limit
ROUNDS: Final = 5
PATIENCE_SECONDS: Final = 5.0  # with a partition that is asked for more than it gives
ON_THREADS: Final = Threads()
WHATEVER_IS_THERE: Final = ""
"""An empty condition, which every item meets."""


@dataclass(frozen=True, kw_only=True)
class Update:
    """An update. Attributes in `condition` are written `#name`, values `:name`."""

    set: Mapping[str, Any] = field(default_factory=dict)
    append: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    remove: Sequence[str] = ()
    add: Mapping[str, Any] = field(default_factory=dict)
    delete: Mapping[str, Any] = field(default_factory=dict)
    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def request(self, table: str, key: Key) -> Item:
        expression = self._expression()
        values = {
            **{f":set_{name}": value for name, value in self.set.items()},
            **{f":append_{name}": value for name, value in self.append.items()},
            **{f":add_{name}": value for name, value in self.add.items()},
            **{f":delete_{name}": value for name, value in self.delete.items()},
            **{f":{name}": value for name, value in self.values.items()},
        }
        request = {
            "TableName": table,
            "Key": serialized(key_item(key)),
            "UpdateExpression": expression,
            "ExpressionAttributeNames": _names(f"{expression} {self.condition}"),
        }
        if self.condition:
            request["ConditionExpression"] = self.condition
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return request | ({"ExpressionAttributeValues": serialized(values)} if values else {})

    def _expression(self) -> str:
        appended = [f"#{name} = list_append(#{name}, :append_{name})" for name in self.append]
        clauses = (
            ("SET", [*(f"#{name} = :set_{name}" for name in self.set), *appended]),
            ("REMOVE", [f"#{name}" for name in self.remove]),
            ("ADD", [f"#{name} :add_{name}" for name in self.add]),
            ("DELETE", [f"#{name} :delete_{name}" for name in self.delete]),
        )
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)


@dataclass(frozen=True, slots=True)
class FailedCondition:
    """A condition did not hold; `item` is what was there."""

    item: Item | None


class DynamoDbTable:
    def __init__(
        self,
        client: Any,
        name: str,
        *,
        pauses: Pauses = SYSTEM_PAUSES,
        parallel: Parallel = ON_THREADS,
    ) -> None:
        self._client = client
        self.name = name
        self._pauses = pauses
        self.parallel = parallel

    def get(self, key: Key) -> Item | None:
        answer = call(
            self._client.get_item,
            TableName=self.name,
            Key=serialized(key_item(key)),
            ConsistentRead=True,
        )
        return deserialized(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Sequence[Key]) -> list[Item]:
        """Return the items that exist, in no order."""
        read = self.parallel.each(self._get_chunk, list(in_slices(keys, READS_PER_BATCH)))
        return [item for items in read for item in items]

    def put_new(self, item: Item) -> bool:
        """Put the item; return `False` when there is one with its key."""
        try:
            call(self._client.put_item, TableName=self.name, **_if_new(item))
        except ClientError as error:
            if code_of(error) == CONDITION_FAILED:
                return False
            raise
        return True

    def put_many(self, items: Sequence[Item], *, seconds: float = PATIENCE_SECONDS) -> None:
        """Write the items in no order, and try throttled ones again for so long. An item that is
        there stays as it is: a try that arrives late must not undo what has happened since another
        succeeded."""
        many = ManyWrites(attempt=self._left_unwritten, pauses=self._pauses, parallel=self.parallel)
        many.write(items, seconds=seconds)

    def update(self, key: Key, update: Update) -> Item | FailedCondition:
        """The item as it is after the update, or the refusal with what was there."""
        try:
            answer = call(
                self._client.update_item,
                **update.request(self.name, key),
                ReturnValues="ALL_NEW",
            )
        except ClientError as error:
            if code_of(error) != CONDITION_FAILED:
                raise
            found: Any = error.response.get("Item")
            return FailedCondition(deserialized(found) if found else None)
        return deserialized(answer["Attributes"])

    def delete(
        self,
        key: Key,
        *,
        condition: str = WHATEVER_IS_THERE,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Delete the item if the condition holds; one that is not there is deleted already."""
        request: dict[str, Any] = {"TableName": self.name, "Key": serialized(key_item(key))}
        if condition:
            request["ConditionExpression"] = condition
            request["ExpressionAttributeNames"] = _names(condition)
            named = {f":{name}": value for name, value in (values or {}).items()}
            request["ExpressionAttributeValues"] = serialized(named)
        try:
            call(self._client.delete_item, **request)
        except ClientError as error:
            if code_of(error) != CONDITION_FAILED:
                raise

    def scan(self, condition: str, values: Mapping[str, Any]) -> Iterator[Item]:
        """Read the whole table, consistently, and yield the items that meet the condition."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "FilterExpression": condition,
            "ExpressionAttributeNames": _names(condition),
            "ExpressionAttributeValues": serialized(
                {f":{name}": value for name, value in values.items()}
            ),
            "ConsistentRead": True,
        }
        while True:
            page = call(self._client.scan, **request)
            yield from map(deserialized, page["Items"])
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def query(self, condition: str, values: Mapping[str, Any], **options: Any) -> Iterator[Item]:
        """Yield the items of all pages, read consistently unless an index is named."""
        for page in self.pages(condition, values, **options):
            yield from map(deserialized, page["Items"])

    def query_parts(
        self, condition: str, values: Mapping[str, Any], attributes: Sequence[str]
    ) -> Iterator[Item]:
        """Read only these attributes: they cost as much as whole items, but fewer bytes to send."""
        expression = ", ".join(f"#{name}" for name in attributes)
        names = _names(f"{condition} {expression}")
        return self.query(
            condition, values, ProjectionExpression=expression, ExpressionAttributeNames=names
        )

    def pages(self, condition: str, values: Mapping[str, Any], **options: Any) -> Iterator[Any]:
        request = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": _names(condition),
            "ExpressionAttributeValues": serialized(
                {f":{name}": value for name, value in values.items()}
            ),
            "ConsistentRead": "IndexName" not in options,
            **options,
        }
        while True:
            page = call(self._client.query, **request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def transact(self, *updates: tuple[Key, Update]) -> bool:
        """Write all updates or none; return `False` when a condition did not hold.

        What an update without any change names is only checked.
        """
        entries = [_entry(update.request(self.name, key)) for key, update in updates]
        return not self._refused(entries)

    def transact_patiently(self, *updates: tuple[Key, Update]) -> bool:
        return patiently(lambda: self.transact(*updates), self._pauses)

    def update_many(self, updates: Sequence[tuple[Key, Update]]) -> list[bool]:
        """Write those whose conditions hold, in transactions, and say of each whether it was.

        Each has another key. What is contended is tried again; raise `Unavailable` when that does
        not help: some may have been written.
        """
        many = ManyUpdates(attempt=self._refused, pauses=self._pauses, parallel=self.parallel)
        return many.write([_entry(update.request(self.name, key)) for key, update in updates])

    def _refused(self, requests: Sequence[Item]) -> list[bool]:
        """Return for each request whether its condition failed; nothing when all were written."""
        try:
            call(self._client.transact_write_items, TransactItems=requests)
        except ClientError as error:
            if code_of(error) != TRANSACTION_CANCELLED:
                raise
            reasons: Any = error.response.get("CancellationReasons", [])
            codes = [reason["Code"] for reason in reasons]
            if "ConditionalCheckFailed" in codes:
                return [code == "ConditionalCheckFailed" for code in codes]
            if "ValidationError" in codes:
                raise
            raise Contended(str(error)) from error
        return []

    def _get_chunk(self, keys: Sequence[Key]) -> list[Item]:
        items: list[Item] = []
        named = [serialized(key_item(key)) for key in keys]
        wanted: Any = {self.name: {"Keys": named, "ConsistentRead": True}}
        for _ in self._pauses.tries(ROUNDS):
            answer = call(self._client.batch_get_item, RequestItems=wanted)
            items += map(deserialized, answer["Responses"].get(self.name, []))
            wanted = answer.get("UnprocessedKeys")
            if not wanted:
                return items
        raise Unavailable("DynamoDB left keys unread")

    def _left_unwritten(self, items: Sequence[Item]) -> Sequence[Item]:
        """Try once; one that is there keeps the others from being written."""
        puts = [{"Put": {"TableName": self.name, **_if_new(item)}} for item in items]
        try:
            refused = self._refused(puts)
        except AnswerLost:
            raise
        except Unavailable:
            return items
        if not refused:
            return []
        return [item for item, there in zip(items, refused, strict=True) if not there]


def _if_new(item: Item) -> Item:
    return {
        "Item": serialized(item),
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }


def as_new(item: Item) -> tuple[Key, Update]:
    """Return the entry of a transaction that writes the item if its key is free."""
    attributes = {name: value for name, value in item.items() if name not in {"PK", "SK"}}
    return (item["PK"], item["SK"]), Update(set=attributes, condition="attribute_not_exists(#PK)")


def _entry(request: Item) -> Item:
    if request["UpdateExpression"]:
        return {"Update": request}
    return {"ConditionCheck": {n: v for n, v in request.items() if n != "UpdateExpression"}}


def key_item(key: Key) -> Item:
    return {"PK": key[0], "SK": key[1]}


def _names(expression: str) -> dict[str, str]:
    return {f"#{name}": name for name in set(re.findall(r"#(\w+)", expression))}
