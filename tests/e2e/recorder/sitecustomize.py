"""Writes down every AWS call of a process that was started with this folder on its PYTHONPATH.

botocore is patched when the process itself imports it, so that a Lambda function still runs with
the botocore of its layer. Only functions and the worker are recorded: MiniStack is not ours.

A function finds nothing to import but the standard library and its layers. MiniStack runs functions
with its own interpreter, whose virtual environment has every package of this repository: what a
deployed function would miss would be found there.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

STANDARD_LIBRARY = Path(os.__file__).parent
TABLE_ACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}


def calls_of(service: str, operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(action, resource) pairs as IAM would name them."""
    match service:
        case "dynamodb":
            yield from table_calls(operation, params)
        case "sqs":
            queue = (params.get("QueueUrl") or params["QueueName"]).rsplit("/", 1)[-1]
            yield f"sqs:{operation.removesuffix('Batch')}", queue
        case "s3" if operation == "ListObjectsV2":
            yield "s3:ListBucket", params["Bucket"]
        case "s3":  # a look at an object needs the permission to read it
            operation = operation.replace("HeadObject", "GetObject")
            yield f"s3:{operation}", f"{params['Bucket']}/{params['Key']}"
        case "events":
            for resource in buses_or_rule(params):
                yield f"events:{operation}", resource
        case _:
            for name in names_in(params):
                yield f"{service}:{operation}", name


def buses_or_rule(params: dict[str, Any]) -> list[str]:
    """Return the buses of entries, or the rule, as ARNs end; the default bus is not named."""
    if "Entries" in params:
        return [f"event-bus/{entry['EventBusName']}" for entry in params["Entries"]]
    bus = params.get("EventBusName", "default")
    name = params.get("Name") or params["Rule"]
    return [f"rule/{name}" if bus == "default" else f"rule/{bus}/{name}"]


def names_in(params: dict[str, Any]) -> list[str]:
    """Return names of alarms, or of a secret, to which Secrets Manager adds six characters."""
    if "SecretId" in params:
        return [f"{params['SecretId']}-AbCdEf"]
    names: list[str] = params.get("AlarmNames", ["*"])
    return names


def condition_keys_of(request: dict[str, Any]) -> dict[str, list[str]]:
    """What DynamoDB tells IAM of a request on items: their partitions, and attributes it names.

    Attributes that are only returned are not among them.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    """
    keys = request.get("Keys") or [request.get("Key") or request["Item"]]
    named = {name for key in keys for name in key}
    named |= set(request.get("ExpressionAttributeNames", {}).values())
    return {
        "dynamodb:LeadingKeys": sorted({key["PK"]["S"] for key in keys}),
        "dynamodb:Attributes": sorted(named),
    }


def requests_in(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(action, table, request) of each access to items that an operation is made of."""
    for item in params.get("TransactItems", []):
        for verb, request in item.items():
            yield TABLE_ACTIONS[verb], request["TableName"], request
    for table, request in params.get("RequestItems", {}).items():
        yield operation, table, request
    if "TableName" in params and ("Key" in params or "Item" in params):
        yield operation, params["TableName"], params


def table_calls(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for action, table, _ in requests_in(operation, params):
        yield f"dynamodb:{action}", f"table/{table}"
    if "TableName" in params and not {"Key", "Item"} & params.keys():
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        yield f"dynamodb:{operation}", f"table/{params['TableName']}{index}"


def conditions_of(service: str, operation: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    """What IAM is told of each access to items, in the order of `table_calls`."""
    if service != "dynamodb":
        return []
    return [condition_keys_of(request) for _, _, request in requests_in(operation, params)]


def record_to(path: Path, client: type[Any]) -> None:
    original = client._make_api_call

    def recorded(self: Any, operation: str, params: dict[str, Any]) -> Any:
        service = self.meta.service_model.service_name
        with path.open("a", encoding="utf-8") as log:
            calls = calls_of(service, operation, params)
            conditions = iter(conditions_of(service, operation, params))
            for action, resource in calls:
                known = next(conditions, {})
                log.write(json.dumps([principal(), action, resource, known]) + "\n")
        return original(self, operation, params)

    client._make_api_call = recorded


class PatchWhenImported:
    """Lets the ordinary finders load botocore's client, then patches it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "botocore.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = spec.loader if spec else None
        load = loader.exec_module

        def load_and_patch(module: ModuleType) -> None:
            load(module)
            record_to(Path(os.environ["RECORD_CALLS_TO"]), module.BaseClient)

        loader.exec_module = load_and_patch
        return spec


def principal() -> str:
    """Ask at each call: functions are forks of one process that has imported botocore."""
    pool = os.environ.get("POOL", "default")
    worker = "worker" if pool == "default" else f"worker-{pool}"
    return os.environ.get("AWS_LAMBDA_FUNCTION_NAME") or worker


def is_ours() -> bool:
    return is_function() or "SQS_QUEUE_URL" in os.environ


def is_function() -> bool:
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ


def search_only(packages: str) -> None:
    """Take `packages`, the dependency layer's content, for all there is, as Lambda does.

    MiniStack adds the function's own folder and the layers that it was deployed with.
    """
    sys.path[:] = [packages, *filter(is_standard, sys.path)]


def is_standard(entry: str) -> bool:
    folder = Path(entry)
    zipped = folder.suffix == ".zip" and folder.parent == STANDARD_LIBRARY.parent
    return zipped or folder in (STANDARD_LIBRARY, STANDARD_LIBRARY / "lib-dynload")


if "FUNCTION_PACKAGES" in os.environ and is_function():
    search_only(os.environ["FUNCTION_PACKAGES"])
if "RECORD_CALLS_TO" in os.environ and is_ours():
    sys.meta_path.insert(0, PatchWhenImported())
