"""What tenants write costs no more than it should; `make fuzz-guard` tries far more of it."""

import random

import pytest

from tests.security.growth import faults, probes, seconds_of

FOUND = {
    "registration: required objects",
    "registration: type objects",
    "registration: required twice",
    "registration: wide classes",
    "registration: many patterns",
    "rendering: {{event.detail.x}}",
    "placeholders: {{input}}",
    "evaluation: l} == ${tasks.b.output.l}",
    "conditions: 9",
    "YAML: merges",
    "YAML: aliases",
    "JSON: wide",
}
"""Inputs that once took minutes or gigabytes or raised, and those that an earlier bound answers."""


def test_what_was_found_is_mended() -> None:
    assert {probe.name for probe in probes(seed=0)} >= FOUND
    assert faults(seed=0, only=FOUND) == []


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.long)]
)  # `make fuzz-guard` draws others
def test_a_few_random_texts_are_read_in_time(seed: int) -> None:
    chosen = [probe for probe in probes(seed) if "random" in probe.name]
    for probe in random.Random(seed).sample(chosen, 5):
        assert isinstance(seconds_of(probe), float), probe.name
