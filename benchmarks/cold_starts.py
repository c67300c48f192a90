"""How long a function takes to be imported, beside what no function can do without: boto3.

Each import has a process of its own, with the function's folder and our layer, as on Lambda. What
counts is processor time, the least of several rounds, and its ratio to that of `import boto3` with
one client: both suffer alike from whatever else the machine does.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LAYER: Final = ROOT / "layers/shared/python"
ROUNDS: Final = 9
BOTO3: Final = "boto3"
BOTO3_MS: Final = 180
"""On an idle machine of the class that the budgets are meant for."""
BUDGET_MS: Final[Mapping[str, int]] = {"api": 450}
OTHERS_MS: Final = 350

VERBS: Final = sorted(path.parent.name for path in (ROOT / "lambdas").glob("*/handler.py"))
_TIMED: Final = """
import time
began = time.process_time()
{imports}
print((time.process_time() - began) * 1000)
"""


@dataclass(frozen=True)
class ColdStart:
    verb: str
    ms: float
    ratio: float

    @property
    def most(self) -> float:
        """The ratio that the budget allows."""
        return BUDGET_MS.get(self.verb, OTHERS_MS) / BOTO3_MS

    def __str__(self) -> str:
        verdict = "" if self.ratio <= self.most else f", {self.most:.2f} is allowed"
        return f"  {self.verb:<22} {self.ms:5.0f} ms, {self.ratio:.2f} times boto3{verdict}"


def cold_starts() -> tuple[float, list[ColdStart]]:
    """That of boto3 first. Rounds are interleaved: a bad minute spoils one of each."""
    rounds = [{BOTO3: _boto3(), **{verb: _handler(verb) for verb in VERBS}} for _ in range(ROUNDS)]
    best = {name: min(found[name] for found in rounds) for name in rounds[0]}
    return best[BOTO3], [ColdStart(verb, best[verb], best[verb] / best[BOTO3]) for verb in VERBS]


def _boto3() -> float:
    return _timed("import boto3; boto3.client('dynamodb')")


def _handler(verb: str) -> float:
    return _timed("import handler", LAYER, ROOT / "lambdas" / verb)


def _timed(imports: str, *paths: Path) -> float:
    """Traced, as on the stages in AWS."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "AWS_DEFAULT_REGION": "us-east-1",
        "LAMBDA_TASK_ROOT": str(ROOT),
        "POWERTOOLS_SERVICE_NAME": "bench",
        "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
    }
    command = [sys.executable, "-c", _TIMED.format(imports=imports)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)
