"""What definitions are called: messages and jobs name them, and need to know no more of them."""

from typing import Annotated

from pydantic import AfterValidator

from switchyard.contracts.wire import described_by
from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE


def _definition_name(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise ValueError(f"must be {DEFINITION_NAME_RULE}")
    return name


DefinitionName = Annotated[str, AfterValidator(_definition_name), described_by(DEFINITION_NAME)]
