"""The contract of `Inspection`, which looks at a deployed stage."""

import pytest

from switchyard.domain.health.diagnosis import STACKS
from tests.contract.observation.accounts import LETTERS, Account, CloudAccount, MemoryAccount, off


@pytest.fixture(params=["memory", "ministack"])  # moto's CloudFormation needs more than we install
def account(request: pytest.FixtureRequest) -> Account:
    if request.param == "memory":
        return MemoryAccount()
    return CloudAccount(request.getfixturevalue(request.param))


def test_who_looks_has_a_name(account: Account) -> None:
    assert account.inspection.caller().startswith("arn:aws:iam::")


def test_of_a_stage_that_is_not_there_nothing_is_found(account: Account) -> None:
    inspection = account.inspection
    assert inspection.stacks() == {}
    assert inspection.switches() == []
    assert inspection.dead_letters() == {}
    assert inspection.workers() is None
    assert not inspection.has_secret(account.secret)


def test_a_stage_is_seen_as_it_was_deployed(account: Account) -> None:
    account.deploy()
    account.put_secret()
    inspection = account.inspection
    assert inspection.stacks() == dict.fromkeys(STACKS, "CREATE_COMPLETE")
    assert inspection.switches() == [account.subscription, account.schedule]
    assert inspection.dead_letters() == {account.dead_letters: 0}
    assert inspection.has_secret(account.secret)


def test_what_was_lost_turned_off_or_left_behind_is_seen(account: Account) -> None:
    account.deploy()
    account.lose("dispatcher")
    account.turn_off(account.subscription)
    account.turn_off(account.schedule)
    account.leave_letters()
    inspection = account.inspection
    assert inspection.stacks().keys() == set(STACKS) - {"dispatcher"}
    assert inspection.switches() == [off(account.subscription), off(account.schedule)]
    assert inspection.dead_letters() == {account.dead_letters: LETTERS}


def test_an_account_has_the_version_of_its_bootstrap_stack(account: Account) -> None:
    assert account.inspection.bootstrap_version() is None
    account.bootstrap(21)
    assert account.inspection.bootstrap_version() == 21
