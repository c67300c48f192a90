"""Measures how long a function takes to be imported, beside what none can do without: boto3.

Each import has a process of its own, with the function's folder and our layer, as on Lambda. What
counts is processor time, the least of several rounds, and its ratio to that of `import boto3` with
one client: both suffer alike from whatever else the machine does. Budgets are for what a function
imports beyond these: with boto3 (240 ms), Powertools and pydantic alone every one would be at 300.
Every function is measured with boto3 and a client, also one that leaves them to its first event.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LAYER: Final = ROOT / "layers/shared/python"
ROUNDS: Final = 10
A_CLIENT: Final = "import boto3; boto3.client('dynamodb')"
BOTO3: Final = "boto3"
BOTO3_MS: Final = 240
"""The processor time of boto3, the least of many on the kind of machine that budgets are for."""
BUDGET_MS: Final[Mapping[str, int]] = {"api": 450}
"""The budgets of functions beyond boto3 and a client."""
OTHERS_MS: Final = 350

_MEASURED: Final = """
import json, resource, time

def spent():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, time.perf_counter()

before = spent()
{imports}
cpu, wall = (1000 * (now - then) for now, then in zip(spent(), before))
print(json.dumps([cpu, wall]))
"""


@dataclass(frozen=True)
class Import:
    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True)
class ColdStart:
    verb: str
    best: Import
    ratio: float

    @property
    def own(self) -> float:
        """Return the cost of what the function imports beyond boto3, in terms of boto3."""
        return self.ratio - 1

    @property
    def most(self) -> float:
        """Return the most that the budget allows for `own`."""
        return BUDGET_MS.get(self.verb, OTHERS_MS) / BOTO3_MS

    @property
    def within_budget(self) -> bool:
        return self.own <= self.most

    def __str__(self) -> str:
        return (
            f"  {self.verb:<22} {self.best.cpu_ms:5.0f} ms ({self.best.wall_ms:.0f} by the clock),"
            f" {self.ratio:.2f} times boto3, {self.own:.2f} of {self.most:.2f} allowed beyond it"
        )


def verbs() -> list[str]:
    """List the functions: every folder with a handler is one."""
    return sorted(path.parent.name for path in (ROOT / "lambdas").glob("*/handler.py"))


def cold_starts() -> tuple[Import, list[ColdStart]]:
    """Measure boto3 first. Rounds are interleaved: a bad minute spoils one of each."""
    functions = verbs()
    rounds = [
        {BOTO3: _boto3(), **{verb: _handler(verb) for verb in functions}} for _ in range(ROUNDS)
    ]
    best = {name: least([found[name] for found in rounds]) for name in rounds[0]}
    boto3 = best[BOTO3]
    return boto3, [
        ColdStart(verb, best[verb], best[verb].cpu_ms / boto3.cpu_ms) for verb in functions
    ]


def least(imports: list[Import]) -> Import:
    return Import(
        cpu_ms=min(each.cpu_ms for each in imports),
        wall_ms=min(each.wall_ms for each in imports),
    )


def _boto3() -> Import:
    return _measured(A_CLIENT)


def _handler(verb: str) -> Import:
    return _measured(f"import handler\n{A_CLIENT}", LAYER, ROOT / "lambdas" / verb)


def _measured(imports: str, *paths: Path) -> Import:
    """Measure with tracing, as on the stages in AWS."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "AWS_DEFAULT_REGION": "us-east-1",
        "LAMBDA_TASK_ROOT": str(ROOT),
        "POWERTOOLS_SERVICE_NAME": "bench",
        "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
    }
    command = [sys.executable, "-c", _MEASURED.format(imports=imports)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Import(*json.loads(done.stdout))
