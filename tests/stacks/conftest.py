from pathlib import Path

import pytest

from stacks.stage import STAGES, Stage
from tests.stacks.synthesized import SynthesizedYard, app_of


@pytest.fixture(scope="session", params=STAGES)
def stage(request: pytest.FixtureRequest) -> Stage:
    return STAGES[request.param]


@pytest.fixture(scope="session")
def yard(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> SynthesizedYard:
    folder = tmp_path_factory.mktemp(f"yard-{stage.name}")
    return SynthesizedYard(stage, Path(app_of(stage, folder).synth().directory))
