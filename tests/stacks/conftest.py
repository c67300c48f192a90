import pytest

from stacks.stage import STAGES, Stage
from tests.stacks.synthesized import SynthesizedStage, synthesize


@pytest.fixture(scope="session", params=STAGES)
def stage(request: pytest.FixtureRequest) -> Stage:
    return STAGES[request.param]


@pytest.fixture(scope="session")
def synthesized(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> SynthesizedStage:
    return synthesize(stage, tmp_path_factory.mktemp(f"stage-{stage.name}"))
