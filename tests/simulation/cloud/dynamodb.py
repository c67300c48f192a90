"""DynamoDB: each request takes effect at once and as a whole; indexes follow when they like.

Its methods are those of a boto3 client, and it is held to the same contract suites as the others.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from tests.simulation.cloud.expressions import Item, comparable, holds, updated
from tests.simulation.cloud.table import Change, Index, Table

Request = Mapping[str, Any]
OnChange = Callable[[Change], None]

UNLIMITED: Final = 1_000_000


class DynamoDb:
    def __init__(
        self,
        *,
        later: Callable[[Callable[[], None]], None] = lambda call: call(),
        items_per_page: int = UNLIMITED,
    ) -> None:
        """`later` calls what brings an index up to date; by default there is no lag."""
        self._tables: dict[str, Table] = {}
        self._asked_for: dict[str, Request] = {}
        self._later = later
        self._items_per_page = items_per_page
        self.on_change: list[OnChange] = []

    def create_table(self, **request: Any) -> None:
        indexes = [_index(given) for given in request.get("GlobalSecondaryIndexes", [])]
        self._tables[request["TableName"]] = Table(request["TableName"], indexes)
        self._asked_for[request["TableName"]] = request

    def describe_table(self, **request: Any) -> dict[str, Any]:
        return {"Table": self._asked_for[request["TableName"]]}

    def items(self, table: str) -> list[Item]:
        """Everything, for those who check."""
        return self._tables[table].all()

    def scan(self, **request: Any) -> dict[str, Any]:
        found = self.items(request["TableName"])
        return {"Items": [item for item in found if _meets(request, "Filter", item)]}

    def get_item(self, **request: Any) -> Item:
        """Return an old item to a reader that does not ask for a consistent one."""
        table = self._tables[request["TableName"]]
        read = table.get if request.get("ConsistentRead") else table.stale
        found = read(request["Key"])
        return {"Item": dict(found)} if found else {}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        answers: defaultdict[str, list[Item]] = defaultdict(list)
        for name, wanted in request["RequestItems"].items():
            table = self._tables[name]
            read = table.get if wanted.get("ConsistentRead") else table.stale
            found = (read(key) for key in wanted["Keys"])
            answers[name] += [dict(item) for item in found if item]
        return {"Responses": answers}

    def put_item(self, **request: Any) -> dict[str, Any]:
        table, key = self._tables[request["TableName"]], _key_of(request["Item"])
        self._check(request, table.get(key), "PutItem")
        self._write(table, key, request["Item"])
        return {}

    def delete_item(self, **request: Any) -> dict[str, Any]:
        table, key = self._tables[request["TableName"]], request["Key"]
        self._check(request, table.get(key), "DeleteItem")
        self._write(table, key, None)
        return {}

    def batch_write_item(self, **request: Any) -> dict[str, Any]:
        for name, entries in request["RequestItems"].items():
            for entry in entries:
                item = entry["PutRequest"]["Item"]
                self._write(self._tables[name], _key_of(item), item)
        return {}

    def update_item(self, **request: Any) -> dict[str, Any]:
        table, key = self._tables[request["TableName"]], request["Key"]
        self._check(request, table.get(key), "UpdateItem")
        return {"Attributes": dict(self._update(table, key, request))}

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        entries = [next(iter(entry.items())) for entry in request["TransactItems"]]
        reasons = [self._reason(kind, entry) for kind, entry in entries]
        if any(reason["Code"] != "None" for reason in reasons):
            raise _error(
                "TransactionCanceledException", "TransactWriteItems", CancellationReasons=reasons
            )
        for kind, entry in entries:
            table = self._tables[entry["TableName"]]
            if kind == "Update":
                self._update(table, entry["Key"], entry)
            elif kind == "Put":
                self._write(table, _key_of(entry["Item"]), entry["Item"])
        return {}

    def query(self, **request: Any) -> dict[str, Any]:
        table = self._tables[request["TableName"]]
        index = table.indexes[request["IndexName"]] if "IndexName" in request else None
        attribute = index.partition if index else "PK"
        value = _partition(request, attribute)
        in_partition = (item for item in table.view(index) if item[attribute] == value)
        found = [item for item in in_partition if _meets(request, "KeyCondition", item)]
        backward = not request.get("ScanIndexForward", True)
        found.sort(key=lambda item: _order(item, index), reverse=backward)
        rest = _after(found, request.get("ExclusiveStartKey"), index, backward=backward)
        size = min(request.get("Limit", UNLIMITED), self._items_per_page)
        page = rest[:size]
        answer: dict[str, Any] = {
            "Items": [_projected(request, item) for item in page if _meets(request, "Filter", item)]
        }
        answer["Count"] = len(answer["Items"])
        if len(rest) > size:
            answer["LastEvaluatedKey"] = _position(page[-1], index)
        return answer

    def _check(self, request: Request, old: Item | None, operation: str) -> None:
        if not _meets(request, "Condition", old):
            wanted = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
            found = {"Item": dict(old)} if wanted and old else {}
            raise _error("ConditionalCheckFailedException", operation, **found)

    def _reason(self, kind: str, entry: Request) -> dict[str, Any]:
        key = _key_of(entry["Item"]) if kind == "Put" else entry["Key"]
        met = _meets(entry, "Condition", self._tables[entry["TableName"]].get(key))
        return {"Code": "None" if met else "ConditionalCheckFailed"}

    def _update(self, table: Table, key: Item, request: Request) -> Item:
        item = updated(
            request["UpdateExpression"],
            table.get(key) or dict(key),
            request.get("ExpressionAttributeNames", {}),
            request.get("ExpressionAttributeValues", {}),
        )
        self._write(table, key, item)
        return item

    def _write(self, table: Table, key: Item, item: Item | None) -> None:
        """Write the item; `None` deletes it, of which only the indexes learn."""
        change = table.write(key, dict(item or {}))
        for listener in self.on_change if item is not None else ():
            listener(change)
        for index in table.indexes.values():
            self._later(lambda index=index: index.follow(change))  # type: ignore[misc]


def _partition(request: Request, attribute: str) -> Item:
    """Return the value that a query has to ask for: all of its items are in one partition."""
    names = request.get("ExpressionAttributeNames", {})
    equal = re.findall(r"(#?\w+) = (:\w+)", request["KeyConditionExpression"])
    (value,) = [value for name, value in equal if names.get(name, name) == attribute]
    found: Item = request["ExpressionAttributeValues"][value]
    return found


def _projected(request: Request, item: Item) -> Item:
    if "ProjectionExpression" not in request:
        return dict(item)
    names = request.get("ExpressionAttributeNames", {})
    wanted = {names.get(name, name) for name in request["ProjectionExpression"].split(", ")}
    return {name: value for name, value in item.items() if name in wanted}


def _index(given: Request) -> Index:
    keys = [key["AttributeName"] for key in given["KeySchema"]]
    projection = given["Projection"]
    everything = projection["ProjectionType"] == "ALL"
    extra = projection.get("NonKeyAttributes", [])
    return Index(
        name=given["IndexName"],
        partition=keys[0],
        sort=keys[1],
        attributes=None if everything else frozenset({*keys, *extra, "PK", "SK"}),
    )


def _meets(request: Request, kind: str, item: Item | None) -> bool:
    return holds(
        request.get(f"{kind}Expression"),
        item,
        request.get("ExpressionAttributeNames", {}),
        request.get("ExpressionAttributeValues", {}),
    )


def _key_of(item: Item) -> Item:
    return {"PK": item["PK"], "SK": item["SK"]}


def _order(item: Item, index: Index | None) -> tuple[Any, ...]:
    sort = comparable(item[index.sort if index else "SK"])[1]
    return (sort, item["PK"]["S"], item["SK"]["S"])


def _position(item: Item, index: Index | None) -> Item:
    names = ["PK", "SK", *([index.partition, index.sort] if index else [])]
    return {name: item[name] for name in names}


def _after(
    items: list[Item], start: Item | None, index: Index | None, *, backward: bool
) -> list[Item]:
    if start is None:
        return items
    here = _order(start, index)
    return [i for i in items if (_order(i, index) < here if backward else _order(i, index) > here)]


def _error(code: str, operation: str, **more: Any) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": f"{code} (simulated)"}, **more}
    return ClientError(response, operation)
