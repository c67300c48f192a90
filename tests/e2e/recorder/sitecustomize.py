"""Writes down every AWS call of a process that was started with this folder on its PYTHONPATH.

botocore is patched when the process itself imports it, so that a Lambda function still runs with
the botocore of its layer. Only functions and the worker are recorded: MiniStack is not ours.
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
        case "s3":
            yield f"s3:{operation}", f"{params['Bucket']}/{params['Key']}"
        case "events":
            for entry in params["Entries"]:
                yield f"events:{operation}", f"event-bus/{entry['EventBusName']}"
        case _:
            for name in names_in(params):
                yield f"{service}:{operation}", name


def names_in(params: dict[str, Any]) -> list[str]:
    """Of alarms, or of a secret, to which Secrets Manager adds six characters."""
    if "SecretId" in params:
        return [f"{params['SecretId']}-AbCdEf"]
    names: list[str] = params.get("AlarmNames", ["*"])
    return names


def table_calls(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for item in params.get("TransactItems", []):
        for verb, request in item.items():
            yield f"dynamodb:{TABLE_ACTIONS[verb]}", f"table/{request['TableName']}"
    for table in params.get("RequestItems", {}):
        yield f"dynamodb:{operation}", f"table/{table}"
    if "TableName" in params:
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        yield f"dynamodb:{operation}", f"table/{params['TableName']}{index}"


def record_to(path: Path, principal: str, client: type[Any]) -> None:
    original = client._make_api_call

    def recorded(self: Any, operation: str, params: dict[str, Any]) -> Any:
        service = self.meta.service_model.service_name
        with path.open("a", encoding="utf-8") as log:
            for action, resource in calls_of(service, operation, params):
                log.write(json.dumps([principal, action, resource]) + "\n")
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
            record_to(Path(os.environ["RECORD_CALLS_TO"]), principal(), module.BaseClient)

        loader.exec_module = load_and_patch
        return spec


def principal() -> str:
    return os.environ.get("AWS_LAMBDA_FUNCTION_NAME") or "worker"


def is_ours() -> bool:
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ or "SQS_QUEUE_URL" in os.environ


if "RECORD_CALLS_TO" in os.environ and is_ours():
    sys.meta_path.insert(0, PatchWhenImported())
