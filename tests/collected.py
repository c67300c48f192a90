"""What a run of pytest found, before tests that take long were left out."""

import pytest

COLLECTED = pytest.StashKey[list[str]]()
