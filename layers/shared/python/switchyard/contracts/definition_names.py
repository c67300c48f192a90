"""What definitions are called: messages and jobs name them, and need to know no more of them."""

from typing import Annotated

from pydantic import AfterValidator

from switchyard.contracts.wire import told_as
from switchyard.domain.ids import DEFINITION_NAME


def _definition_name(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise ValueError("must be 1 to 64 of a-z A-Z 0-9 - _")
    return name


DefinitionName = Annotated[str, AfterValidator(_definition_name), told_as(DEFINITION_NAME)]
