"""What is explored: few tasks, some of them under a limit of one."""

from typing import Final

from tests.model.scheduling.explorer import Configuration

CONFIGURATIONS: Final = (
    Configuration(name="two tasks", limited=(False, False), pools=(0, 0)),
    Configuration(name="retries", limited=(False, True), pools=(0, 0), attempts=2),
    Configuration(name="a limit", limited=(True, True), pools=(0, 0)),
    Configuration(name="three under a limit", limited=(True, True, True), pools=(0, 0)),
    Configuration(name="two pools", limited=(True, False), pools=(0, 1)),
    Configuration(name="a lagging index", limited=(True, True), pools=(0, 0), lag=True),
    Configuration(name="faults", limited=(True, True), pools=(0, 0), faults=True, attempts=2),
    Configuration(name="sweeps", limited=(True, True), pools=(0, 0), faults=True, sweeps=True),
    Configuration(
        name="left behind", limited=(True,), pools=(0, 0), sweeps=True, left_behind=True, attempts=2
    ),
)
