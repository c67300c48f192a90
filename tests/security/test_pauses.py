"""What of a pause of the loop is charged to an attack."""

import pytest

from tests.security.pauses import Longest


@pytest.mark.parametrize(
    ("raw", "queued", "control", "charged"),
    [
        (0.5, 0.0, 0.4, 0.5),  # the loop worked: none of it is the machine's
        (0.5, 0.5, 0.5, 0.0),  # a program that does nothing waited as long
        (0.5, 0.5, 0.1, 0.4),  # the attack kept this process from running, and no other
        (0.5, 0.3, 0.4, 0.2),
    ],
)
def test_no_more_of_a_wait_is_subtracted_than_a_control_process_measured(
    raw: float, queued: float, control: float, charged: float
) -> None:
    longest = Longest()
    longest.add(0.01, queued=0.0)
    longest.add(raw, queued=queued)

    assert longest.longest_beside(control) == pytest.approx(max(charged, 0.01))
    assert longest.longest_raw == raw
