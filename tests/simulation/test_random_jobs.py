"""Jobs of any shape, changed while they run, in any weather: they end as the reference says.

`RANDOM_JOBS=200` tries so many, and larger ones, half of them in each of two processes.
"""

import contextlib
import os
from typing import Final

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from tests.simulation.checker import violations
from tests.simulation.run import silence
from tests.simulation.scripted.changes import CHANGES, Change
from tests.simulation.scripted.harness import ScriptedHarness
from tests.simulation.scripted.shapes import SHAPES, Shape, fan, layers, tangle

ASKED: Final = int(os.environ.get("RANDOM_JOBS", "0"))
PARTS: Final = 2 if ASKED else 1
EXAMPLES: Final = max(1, ASKED // PARTS)
MOST_TASKS: Final = 120 if ASKED else 60
MOST_CHANGES: Final = 6

# Its last task runs because some of 128 parents failed, of which it hears through relays.
wide = example(shape=fan, size=130, failing=0.02, changes=[], seed=19)
deep = example(shape=layers, size=130 if ASKED else 70, failing=0.02, changes=[], seed=2)
changed = example(shape=tangle, size=40, failing=0.1, changes=list(CHANGES), seed=3)


@pytest.mark.parametrize("part", range(PARTS))
@wide
@deep
@changed
@given(
    shape=st.sampled_from(SHAPES),
    size=st.integers(1, MOST_TASKS),
    failing=st.sampled_from((0.0, 0.02, 0.1, 0.3)),
    changes=st.lists(st.sampled_from(CHANGES), max_size=MOST_CHANGES),
    seed=st.integers(0, 2**32 - 1),
)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_every_job_ends_as_the_reference_says(
    part: int, shape: Shape, size: int, failing: float, changes: list[Change], seed: int
) -> None:
    with silence(), contextlib.closing(ScriptedHarness(seed + part, failing=failing)) as harness:
        harness.submit_declared(shape(harness.dice, size))
        harness.run_with(changes)
        found = [*map(str, violations(harness)), *harness.differences()]
        runs = [len(epochs) for epochs in harness.epochs.of.values()]
        event(f"settled {max(runs, default=0)} times")
    assert found == []
    assert runs, "no job was accepted"
    assert all(runs)
