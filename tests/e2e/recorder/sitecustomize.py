"""Writes down every AWS call of a process that was started with this folder on its PYTHONPATH.

botocore is patched when the process itself imports it, so that a Lambda function still runs with
the botocore of its layer. Only functions and the worker are recorded: MiniStack is not ours.
"""

import importlib.util
import json
import os
import sys

TABLE_ACTIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


def calls_of(service, operation, params):
    """(action, resource) pairs as IAM would name them."""
    if operation == "TransactWriteItems":
        for item in params["TransactItems"]:
            for verb, request in item.items():
                yield f"dynamodb:{TABLE_ACTIONS[verb]}", f"table/{request['TableName']}"
    elif service == "dynamodb" and "RequestItems" in params:
        for table in params["RequestItems"]:
            yield f"dynamodb:{operation}", f"table/{table}"
    elif service == "dynamodb":
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        yield f"dynamodb:{operation}", f"table/{params['TableName']}{index}"
    elif service == "sqs":
        action = operation.removesuffix("Batch")
        yield f"sqs:{action}", params["QueueUrl"].rsplit("/", 1)[-1]
    elif service == "s3":
        yield f"s3:{operation}", f"{params['Bucket']}/{params['Key']}"
    elif service == "events":
        for entry in params["Entries"]:
            yield f"events:{operation}", f"event-bus/{entry['EventBusName']}"
    else:
        yield f"{service}:{operation}", "*"


def record_to(path, principal):
    from botocore.client import BaseClient

    original = BaseClient._make_api_call

    def recorded(self, operation, params):
        service = self.meta.service_model.service_name
        with open(path, "a", encoding="utf-8") as log:
            for action, resource in calls_of(service, operation, params):
                log.write(json.dumps([principal, action, resource]) + "\n")
        return original(self, operation, params)

    BaseClient._make_api_call = recorded


class PatchWhenImported:
    """Lets the ordinary finders load botocore's client, then patches it."""

    def find_spec(self, name, path=None, target=None):
        if name != "botocore.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def load_and_patch(module):
            load(module)
            record_to(os.environ["RECORD_CALLS_TO"], principal())

        spec.loader.exec_module = load_and_patch
        return spec


def principal():
    return os.environ.get("AWS_LAMBDA_FUNCTION_NAME") or "worker"


def is_ours():
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ or "SQS_QUEUE_URL" in os.environ


if "RECORD_CALLS_TO" in os.environ and is_ours():
    sys.meta_path.insert(0, PatchWhenImported())
