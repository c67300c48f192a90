"""Puts a function of a scenario's own behind a queue, by an event source mapping.

Both bear the name of the harness's batch, and go with the harness.
"""

import io
import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from switchyard.adapters.sqs import ENTRIES_PER_BATCH
from switchyard_local.environments import ACCOUNT
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.place import LOCAL
from switchyard_scenarios.reporting.evidence import Failed
from switchyard_scenarios.scenarios import batch_function

VISIBILITY_SECONDS: Final = 6
"""The visibility timeout of the queue and the time limit of the function, which AWS compares."""
_IMPORTED: Final = ("aws_lambda_powertools", "jmespath", "typing_extensions")
"""The packages that the function imports, beside those that every function has."""
_RUNTIME: Final = "python3.13"
_MEGABYTES: Final = 512
"""The function's memory. On AWS the CPU grows with it: with the least, a start takes seconds."""
_LOCAL_ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/scenarios"  # MiniStack does not check it


def role_for(harness: Harness) -> str:
    """Return the ARN of the function's role; empty if the stage has none."""
    return _LOCAL_ROLE if harness.place.stage == LOCAL else harness.place.function_role


def a_queue_for_it(harness: Harness) -> str:
    """Make a queue for the function and return its URL."""
    url = harness.make_queue(
        harness.names.batch, dead_letters=harness.make_queue(harness.names.batch_dead_letters)
    )
    harness.place.client("sqs").set_queue_attributes(
        QueueUrl=url, Attributes={"VisibilityTimeout": str(VISIBILITY_SECONDS)}
    )
    return url


def put_behind(queue_url: str, harness: Harness, *, handler: str) -> None:
    """Connect the function to the queue; messages that wait there come as one batch, or few."""
    functions = harness.place.client("lambda")
    functions.create_function(
        FunctionName=harness.names.batch,
        Runtime=_RUNTIME,
        Role=role_for(harness),
        Handler=f"batch_function.{handler}",
        Code={"ZipFile": archive(whole=harness.place.stage != LOCAL)},
        Timeout=VISIBILITY_SECONDS,
        MemorySize=_MEGABYTES,
        Environment={
            "Variables": {
                "MESSAGE_STATUS_TABLE": harness.names.message_status,
                "MESSAGE_COMPLETED_TABLE": harness.names.message_completed,
            }
        },
    )
    functions.get_waiter("function_active_v2").wait(FunctionName=harness.names.batch)
    _warm_up(functions, harness.names.batch)
    functions.create_event_source_mapping(
        EventSourceArn=harness.queue_arn(queue_url),
        FunctionName=harness.names.batch,
        BatchSize=ENTRIES_PER_BATCH,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )


def _warm_up(functions: Any, name: str) -> None:
    """Invoke without messages: a cold start must not use up the time that real ones stay hidden."""
    nothing = json.dumps({"Records": []})
    answer = functions.invoke(FunctionName=name, Payload=nothing)
    if "FunctionError" in answer:
        raise Failed(f"the function does not start: {answer['Payload'].read().decode()}")


def archive(*, whole: bool) -> bytes:
    """Return the function's archive; if `whole`, with its imports, which the local cloud has."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(batch_function.__file__, "batch_function.py")
        for name in _IMPORTED if whole else ():
            installed = Path(str(import_module(name).__file__))
            if installed.name == "__init__.py":
                for source in sorted(installed.parent.rglob("*.py")):
                    file.write(source, source.relative_to(installed.parents[1]))
            else:
                file.write(installed, installed.name)
    return packed.getvalue()
