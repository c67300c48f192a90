"""`GET /pools`, as API Gateway calls it."""

from tests.lambdas.api.test_api import Api


def test_a_stage_without_pools_lists_none(api: Api) -> None:
    assert api("GET", "/pools") == (200, {"pools": [], "served": []})
