"""The stages that commands can be run against."""

from enum import StrEnum


class Stage(StrEnum):
    LOCAL = "local"
    DEV = "dev"
    PROD = "prod"

    @property
    def option(self) -> str:
        """The option by which a suggested command reaches the same stage."""
        return "" if self is Stage.LOCAL else f" --stage {self}"
