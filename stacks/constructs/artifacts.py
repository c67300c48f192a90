"""The bucket for what tasks leave behind, and for what is too large for items and events."""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.permissions import acknowledge, acknowledge_wildcard, allow
from stacks.stage import Stage
from switchyard.contracts.parked_messages import (
    PARKED_PREFIX,
    PARKED_PREFIXES,
    QUARANTINE_PREFIX,
    UNDELIVERABLE_PREFIX,
)

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
        self._notify_eventbridge()
        # Exported under a name of our choosing, which an acknowledged finding can quote.
        self._export = stage.prefixed("artifacts-arn")
        self.arn = Stack.of(self).export_value(self.bucket.bucket_arn, name=self._export)
        acknowledge(
            self.bucket,
            "AwsSolutions-S1",
            because="Workers write here, under keys that name the task and its fence, and links "
            "that the API signs for one content at one key; access logs would be a second bucket "
            "to guard that is not read.",
        )

    def _notify_eventbridge(self) -> None:
        """Send events of uploads to triggers. The library's switch would deploy a function."""
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
        """Allow to store the fields of an event that are too large for the bus."""
        self._allow_below(EVENT_PAYLOADS, role, "s3:PutObject", *more)

    def allow_parking_dead_letters(self, role: iam.IRole) -> None:
        """Allow to park, also where code of version 0.1.0 does while a deployment replaces it."""
        for prefix in (PARKED_PREFIX, UNDELIVERABLE_PREFIX):
            self._allow_below(f"{prefix}*", role, "s3:PutObject")

    def allow_reading_parked_messages(self, role: iam.IRole) -> None:
        for prefix in PARKED_PREFIXES:
            self._allow_below(f"{prefix}*", role, "s3:GetObject")
        iam.Grant.add_to_principal(
            grantee=role,
            actions=["s3:ListBucket"],
            resource_arns=[self.arn],
            conditions={"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in PARKED_PREFIXES]}},
        )

    def allow_parking(self, role: iam.IRole) -> None:
        """Allow to park, also where code of version 0.1.0 does while a deployment replaces it."""
        for prefix in (PARKED_PREFIX, QUARANTINE_PREFIX):
            self._allow_below(f"{prefix}*", role, "s3:PutObject")

    def _allow_below(self, keys: str, role: iam.IRole, *actions: str) -> None:
        allow(role, *actions, on=[f"{self.arn}/{keys}"])
        acknowledge_wildcard(
            role,
            f"{self._export}/{keys}",
            because="Which tasks and messages there will be is not known when it is written.",
        )
