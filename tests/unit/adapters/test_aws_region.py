"""The region of a client: that of the CDK and the AWS command line, whichever variable names it."""

import pytest

from switchyard.adapters import aws


@pytest.mark.parametrize(
    ("environment", "where", "region"),
    [
        ({"AWS_REGION": "eu-west-1"}, {}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, {}, "eu-west-2"),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2"}, {}, "eu-west-1"),
        ({"AWS_REGION": "eu-west-1"}, {"region_name": "eu-west-3"}, "eu-west-3"),
    ],
)
def test_the_region_of_a_client(
    environment: dict[str, str],
    where: dict[str, str],
    region: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert aws.client("sqs", **where).meta.region_name == region
