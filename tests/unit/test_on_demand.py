from types import ModuleType

import pytest

from switchyard import bootstrap, ports, testing


@pytest.mark.parametrize(
    "package", [bootstrap, ports, testing], ids=lambda package: package.__name__
)
def test_every_name_of_a_package_is_in_one_of_its_parts(package: ModuleType) -> None:
    in_parts = [name for names in package._PARTS.values() for name in names]
    assert sorted(in_parts) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_a_name_that_no_part_has_is_refused_as_usual() -> None:
    with pytest.raises(AttributeError, match=r"'switchyard\.ports' has no attribute 'Nobody'"):
        _ = ports.Nobody  # type: ignore[attr-defined]
