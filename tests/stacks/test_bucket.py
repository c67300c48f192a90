from tests.stacks.synthesized import SynthesizedYard


def test_the_bucket_is_private_and_encrypted(yard: SynthesizedYard) -> None:
    (bucket,) = yard.all("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"


def test_the_bucket_refuses_what_does_not_come_over_tls(yard: SynthesizedYard) -> None:
    (policy,) = yard.all("AWS::S3::BucketPolicy")
    (refusal,) = policy["PolicyDocument"]["Statement"]
    assert refusal["Effect"] == "Deny"
    assert refusal["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_files_expire_when_the_stage_says(yard: SynthesizedYard) -> None:
    (bucket,) = yard.all("AWS::S3::Bucket")
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == yard.stage.artifacts_retention_days
