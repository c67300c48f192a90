"""The bucket for what tasks leave behind, and for what is too large for items and events."""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.permissions import acknowledge, acknowledge_wildcard, allow
from stacks.stage import Stage
from switchyard.contracts.kept import PLACES
from switchyard.contracts.quarantine import QUARANTINED_BELOW
from switchyard.contracts.undeliverable import KEPT_BELOW

TASK_FILES = "task/*"
TASK_LOGS = "task/logs/*"
EVENT_PAYLOADS = "events/*"


class ArtifactsBucket(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=Duration.days(stage.artifacts_retention_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=stage.removal_policy,
        )
        self._tell_eventbridge()
        # Exported under a name of our choosing, which an acknowledged finding can quote.
        self._export = stage.prefixed("artifacts-arn")
        self.arn = Stack.of(self).export_value(self.bucket.bucket_arn, name=self._export)
        acknowledge(
            self.bucket,
            "AwsSolutions-S1",
            because="Workers alone write here, under keys that name the task and its fence; "
            "access logs would be a second bucket to guard that nobody reads.",
        )

    def _tell_eventbridge(self) -> None:
        """Of uploads, for triggers. The library's own switch would deploy a function for it."""
        plain = cast("s3.CfnBucket", self.bucket.node.default_child)
        plain.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )

    def allow_task_files(self, role: iam.IRole, *actions: str) -> None:
        self._allow_below(TASK_FILES, role, *actions)

    def allow_listing_task_files(self, role: iam.IRole) -> None:
        iam.Grant.add_to_principal(
            grantee=role,
            actions=["s3:ListBucket"],
            resource_arns=[self.arn],
            conditions={"StringLike": {"s3:prefix": TASK_LOGS}},
        )

    def allow_event_payloads(self, role: iam.IRole, *more: str) -> None:
        """Whoever sends events moves the large fields of a large one here."""
        self._allow_below(EVENT_PAYLOADS, role, "s3:PutObject", *more)

    def allow_keeping_undeliverable(self, role: iam.IRole) -> None:
        self._allow_below(f"{KEPT_BELOW}/*", role, "s3:PutObject")

    def allow_reading_letters(self, role: iam.IRole) -> None:
        """Both what is undeliverable and what is in quarantine."""
        for prefix in PLACES:
            self._allow_below(f"{prefix}*", role, "s3:GetObject")
        iam.Grant.add_to_principal(
            grantee=role,
            actions=["s3:ListBucket"],
            resource_arns=[self.arn],
            conditions={"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in PLACES]}},
        )

    def allow_quarantine(self, role: iam.IRole) -> None:
        self._allow_below(f"{QUARANTINED_BELOW}/*", role, "s3:PutObject")

    def _allow_below(self, keys: str, role: iam.IRole, *actions: str) -> None:
        allow(role, *actions, on=[f"{self.arn}/{keys}"])
        acknowledge_wildcard(
            role,
            f"{self._export}/{keys}",
            because="Which tasks and messages there will be is not known when it is written.",
        )
