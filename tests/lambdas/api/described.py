"""The description of the API, as its function gives it. As a command: written to the output."""

import os
import sys
from typing import Any

from switchyard.web.description import description_of
from tests.lambdas.conftest import load_handler

NAMED = {"POWERTOOLS_SERVICE_NAME": "api", "POWERTOOLS_METRICS_NAMESPACE": "Switchyard"}


def description() -> str:
    app: Any = load_handler("api").app
    return f"{description_of(app)}\n"


if __name__ == "__main__":
    os.environ.update(NAMED, POWERTOOLS_TRACE_DISABLED="true")
    sys.stdout.write(description())
