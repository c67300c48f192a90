"""Saves of MiniStack's state: complete or absent."""

from pathlib import Path

import pytest

from switchyard_local.emulator.saves import Saves

PORT = 4580


def write(saves: Saves, state: str, *, final: bool = False, service: str = "sqs") -> None:
    saves.write(
        {service: state}, dump=lambda _, state: str(state), port=PORT, now_ms=7, final=final
    )


def test_a_restore_brings_back_the_last_save_and_nothing_older(tmp_path: Path) -> None:
    saves, state = Saves(tmp_path / "saves"), tmp_path / "state"
    state.mkdir()
    (state / "kms.json").write_text("of an older run")
    write(saves, "first")
    write(saves, "second")
    saves.restore(state, port=PORT)
    assert {file.name: file.read_text() for file in state.iterdir()} == {"sqs.json": "second"}


def test_a_save_that_was_cut_short_leaves_the_one_before(tmp_path: Path) -> None:
    saves = Saves(tmp_path)

    def cut_short(service: str, state: object) -> str:
        raise KeyboardInterrupt

    write(saves, "complete")
    with pytest.raises(KeyboardInterrupt):
        saves.write({"sqs": "half"}, dump=cut_short, port=PORT, now_ms=8, final=False)
    saves.restore(tmp_path / "state", port=PORT)
    assert (tmp_path / "state" / "sqs.json").read_text() == "complete"


def test_a_restored_save_is_final_no_longer(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    write(saves, "all", final=True)
    saves.restore(tmp_path / "state", port=PORT)
    last = saves.last()
    assert last is not None
    assert not last.final


def test_only_two_saves_take_space(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    for number in range(5):
        write(saves, str(number))
    assert sorted(folder.name for folder in tmp_path.iterdir() if folder.is_dir()) == ["4", "5"]


def test_a_damaged_record_of_saves_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "last.json").write_text('{"number": 1}')
    assert Saves(tmp_path).last() is None


def test_a_save_moves_to_another_port_with_its_addresses(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    write(saves, '"http://127.0.0.1:4580/0/jobs", "a1.execute-api.127.0.0.1:4580", 127.0.0.1:45801')
    saves.restore(tmp_path / "state", port=4699)
    moved = '"http://127.0.0.1:4699/0/jobs", "a1.execute-api.127.0.0.1:4699", 127.0.0.1:45801'
    assert (tmp_path / "state" / "sqs.json").read_text() == moved


def test_what_users_wrote_moves_as_it_is(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    write(saves, "a prompt on 127.0.0.1:4580", service="dynamodb")
    saves.restore(tmp_path / "state", port=4699)
    assert (tmp_path / "state" / "dynamodb.json").read_text() == "a prompt on 127.0.0.1:4580"
