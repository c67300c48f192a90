"""`supervise`: the policy is what the options say."""

from switchyard.domain.measuring.scaling import ScalingPolicy
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud


def test_without_options_it_goes_by_the_policy_of_deployed_stages(
    switchyard: Switchyard, cloud: FakeCloud
) -> None:
    result = switchyard("supervise")

    assert cloud.supervised == ScalingPolicy(min_workers=1)
    assert result.stdout == "1 → 5 workers: 90 waiting and 0 in flight need 5\n"
    assert result.stderr.startswith("Between 1 and 5 workers: one for 20 messages,")
    assert result.exit_code == 0


def test_every_value_can_be_another(switchyard: Switchyard, cloud: FakeCloud) -> None:
    limits = ("--min", "2", "--max", "9", "--target", "4")
    switchyard("supervise", *limits, "--out-cooldown", "1", "--in-after", "2.5")

    assert cloud.supervised == ScalingPolicy(
        min_workers=2,
        max_workers=9,
        target_per_worker=4,
        scale_out_cooldown_seconds=1,
        scale_in_after_seconds=2.5,
    )


def test_at_least_more_than_at_most_is_refused(switchyard: Switchyard, cloud: FakeCloud) -> None:
    result = switchyard("supervise", "--min", "3", "--max", "2")

    assert result.stderr == "There cannot be at least 3 and at most 2 workers.\n"
    assert result.exit_code == 2
    assert cloud.supervised is None
