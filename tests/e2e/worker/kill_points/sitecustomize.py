"""Kills a worker that was started with this folder on its PYTHONPATH, at the point that its task
is named after: once per point, which leaves an empty file of that name in `KILLED_AT`.

Nothing else could do it: the points lie between two operations, and a signal from outside is late.
"""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import botocore.client

Call = dict[str, Any]

WAKE_UPS: dict[str, str] = {}
"""Receipt handle → task."""


def reached(point: str, task: str) -> None:
    """The process ends here if its task asks for it, and nobody died of it before."""
    if task != point:
        return
    try:
        (Path(os.environ["KILLED_AT"]) / point).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def deleting(params: Call) -> None:
    for entry in params.get("Entries", [params]):
        reached("delete", WAKE_UPS[entry["ReceiptHandle"]])


def received(_: Call, answer: Call) -> None:
    for message in answer.get("Messages", []):
        WAKE_UPS[message["ReceiptHandle"]] = json.loads(message["Body"])["taskId"]
        reached("receive", WAKE_UPS[message["ReceiptHandle"]])


def updated(params: Call, _: Call) -> None:
    written("claim", "PROCESSING", params)


def transacted(params: Call, _: Call) -> None:
    for item in params["TransactItems"]:
        written("settle", "COMPLETED", item.get("Update", {}))


def written(point: str, state: str, update: Call) -> None:
    if update.get("ExpressionAttributeValues", {}).get(":set_state") == {"S": state}:
        reached(point, update["Key"]["SK"]["S"].removeprefix("TASK#"))


def extended(params: Call, _: Call) -> None:
    reached("beat", WAKE_UPS[params["ReceiptHandle"]])


def uploaded(params: Call, _: Call) -> None:
    if params["Key"].endswith("/artifacts/task-result.json"):
        reached("upload", task_in(params["Key"]))


def reported(params: Call, _: Call) -> None:
    for event in (json.loads(entry["Detail"]) for entry in params["Entries"]):
        if event["eventType"] == "Task Completed":
            reached("emit", task_in(event["entityId"]))


def task_in(text: str) -> str:
    """The task of the request id in a key, a path or an event."""
    return text.partition("__")[2].partition("/")[0]


BEFORE: Final[dict[str, Callable[[Call], None]]] = {
    "DeleteMessage": deleting,
    "DeleteMessageBatch": deleting,
}
AFTER: Final[dict[str, Callable[[Call, Call], None]]] = {
    "ReceiveMessage": received,
    "UpdateItem": updated,
    "TransactWriteItems": transacted,
    "ChangeMessageVisibility": extended,
    "PutObject": uploaded,
    "PutEvents": reported,
}


def watch_calls(client: type[Any]) -> None:
    call: Final = client._make_api_call

    def watched(self: Any, operation: str, params: Call) -> Any:
        if operation in BEFORE:
            BEFORE[operation](params)
        answer = call(self, operation, params)
        if operation in AFTER:
            AFTER[operation](params, answer)
        return answer

    client._make_api_call = watched


def watch_children() -> None:
    spawn: Final = asyncio.create_subprocess_exec

    async def watched(*command: str, **options: Any) -> asyncio.subprocess.Process:
        child = await spawn(*command, **options)
        task, wait = task_in(str(options["cwd"])), child.wait

        async def watched_wait() -> int:
            code = await wait()
            reached("exit", task)
            return code

        child.wait = watched_wait  # type: ignore[method-assign]
        reached("spawn", task)
        return child

    asyncio.create_subprocess_exec = watched  # type: ignore[assignment]


watch_calls(botocore.client.BaseClient)
watch_children()
