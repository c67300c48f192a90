"""Paths in the repository of the things that are deployed."""

from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
LAMBDAS: Final = REPOSITORY / "lambdas"
SHARED_LAYER: Final = REPOSITORY / "layers" / "shared"
LAYER_REQUIREMENTS: Final = REPOSITORY / "layers" / "dependencies" / "requirements.txt"
LAYER_CACHE: Final = REPOSITORY / ".switchyard" / "layers"
