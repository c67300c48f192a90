"""`GET /pools`, as API Gateway calls it."""

import pytest

from tests.lambdas.api.test_api import Api


@pytest.mark.usefixtures("cloud")
def test_a_stage_without_pools_lists_none() -> None:
    assert Api()("GET", "/pools") == (200, {"pools": [], "served": []})
