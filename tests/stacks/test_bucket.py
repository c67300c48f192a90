from tests.stacks.synthesized import SynthesizedStage


def test_the_bucket_is_private_and_encrypted(synthesized: SynthesizedStage) -> None:
    (bucket,) = synthesized.all("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"


def test_the_bucket_refuses_what_does_not_come_over_tls(synthesized: SynthesizedStage) -> None:
    (policy,) = synthesized.all("AWS::S3::BucketPolicy")
    (refusal,) = policy["PolicyDocument"]["Statement"]
    assert refusal["Effect"] == "Deny"
    assert refusal["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_files_expire_when_the_stage_says(synthesized: SynthesizedStage) -> None:
    (bucket,) = synthesized.all("AWS::S3::Bucket")
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == synthesized.stage.artifacts_retention_days
