import pytest

from switchyard_local.say import heard_or_not


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), SystemExit(1)])
def test_a_terminal_that_is_gone_stops_nothing(failure: BaseException) -> None:
    @heard_or_not
    def say(line: str) -> None:
        raise failure

    say("Stopping the worker")


def test_being_interrupted_while_speaking_is_no_matter_of_the_terminal() -> None:
    @heard_or_not
    def say(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        say("Stopping the worker")
