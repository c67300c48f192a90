"""The layers every function has: our code and, unless it is there anyway, what that needs.

Each stack builds its own: a layer version imported from another stack could never be replaced.
"""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.dependencies import bundle_dependencies
from stacks.paths import SHARED_LAYER
from stacks.stage import Stage

RUNTIME = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE = lambda_.Architecture.ARM_64
# No function imports the Python client or the in-memory stores: both are for programs of users.
NOT_DEPLOYED = ("**/__pycache__", "python/switchyard/client", "python/switchyard/testing")


class FunctionLayers(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        shared = lambda_.Code.from_asset(str(SHARED_LAYER), exclude=list(NOT_DEPLOYED))
        self.versions = [self._layer("Shared", code=shared, stage=stage)]
        if stage.layer_platform:
            bundle = bundle_dependencies(stage.layer_platform)
            dependencies = lambda_.Code.from_asset(str(bundle), asset_hash=bundle.name)
            self.versions.append(self._layer("Dependencies", code=dependencies, stage=stage))

    def _layer(self, name: str, *, code: lambda_.Code, stage: Stage) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            name,
            code=code,
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
            removal_policy=stage.removal_policy,
        )
