"""`python -m switchyard_worker`, with every request to AWS counted and weighed.

Usage: measured_worker.py FILE. When the worker ends, its requests are in the file.
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botocore.httpsession import URLLib3Session

from switchyard_worker.__main__ import leave
from switchyard_worker.__main__ import main as main_of_worker


@dataclass
class Meter:
    calls: Counter[str] = field(default_factory=Counter)
    bytes: int = 0

    def note(self, request: Any, response: Any) -> None:
        operation = _operation(request)
        if operation == "ReceiveMessage" and b'"Messages"' not in response.content:
            operation = "empty ReceiveMessage"
        self.calls[operation] += 1
        self.bytes += _length(request.headers) + _length(response.headers)


def _operation(request: Any) -> str:
    """JSON services name it in a header; S3's is as good as its verb."""
    target = request.headers.get("X-Amz-Target") or request.method
    name = target.decode() if isinstance(target, bytes) else str(target)
    return name.rpartition(".")[2]


def _length(headers: Any) -> int:
    return int(headers.get("Content-Length") or 0)


def watch(meter: Meter) -> None:
    send = URLLib3Session.send

    def watched(self: URLLib3Session, request: Any) -> Any:
        response = send(self, request)
        meter.note(request, response)
        return response

    URLLib3Session.send = watched  # type: ignore[method-assign]


def main(file: Path) -> int:
    meter = Meter()
    watch(meter)
    code = main_of_worker()
    file.write_text(json.dumps({"calls": meter.calls, "bytes": meter.bytes}))
    return code


if __name__ == "__main__":
    leave(main(Path(sys.argv[1])))
