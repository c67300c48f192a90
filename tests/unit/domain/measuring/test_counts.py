"""Adding up what happened, and leaving room."""

from switchyard.domain.measuring.counts import OTHER, Counts, Spending, dearest, minute_of


def dollars(number: float) -> Spending:
    return Spending(cost_micro_usd=round(number * 1_000_000))


def test_counts_add_up_field_by_field_and_by_definition() -> None:
    one = Counts(claims=1, timed=1, processing_ms=10, by_definition={"a": dollars(1)})
    two = Counts(
        completions=2,
        failures=3,
        failed_attempts=4,
        timeouts=5,
        timed=2,
        processing_ms=20,
        by_definition={"a": dollars(2), "b": Spending(input_tokens=7)},
    )

    assert one + two == Counts(
        claims=1,
        completions=2,
        failures=3,
        failed_attempts=4,
        timeouts=5,
        timed=3,
        processing_ms=30,
        by_definition={"a": dollars(3), "b": Spending(input_tokens=7)},
    )


def test_the_dearest_come_first_and_the_rest_share_one_place() -> None:
    spent = {
        "cheap": dollars(0.1),
        "free": Spending(input_tokens=5),
        "idle": Spending(input_tokens=1),
        "dear": dollars(9),
    }

    assert list(dearest(spent)) == ["dear", "cheap", "free", "idle"]
    assert dearest(spent, at_most=4) == dearest(spent)
    assert dearest(spent, at_most=3) == {
        "dear": dollars(9),
        "cheap": dollars(0.1),
        OTHER: Spending(input_tokens=6),
    }


def test_a_definition_called_other_shares_that_place_and_none_is_lost() -> None:
    spent = {OTHER: dollars(9), "b": dollars(2), "c": dollars(1)}

    assert dearest(spent, at_most=2) == {OTHER: dollars(12)}


def test_a_minute_begins_where_its_first_millisecond_is() -> None:
    assert minute_of(1_800_000_000_000) == 1_800_000_000_000
    assert minute_of(1_800_000_059_999) == 1_800_000_000_000
    assert minute_of(1_800_000_060_000) == 1_800_000_060_000
