"""What workers may connect to: anything by default, or AWS by endpoints and a proxy alone."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from stacks.egress import Egress
from stacks.paths import REPOSITORY
from stacks.stage import DEV, LOCAL, PROD
from tests.stacks.synthesized import Properties, SynthesizedStage, synthesize

EGRESS = Egress(
    proxy_host="proxy.example.com",
    proxy_port=3128,
    proxy_location="10.3.0.0/24",
    s3_prefix_list="pl-63a5400a",
    dynamodb_prefix_list="pl-02cd2c6b",
    for_agents=True,
)
REGION_DOMAIN = ".<AWS::Region>.<AWS::URLSuffix>"

RESTRICTED = {
    "dev": replace(DEV, egress=EGRESS),
    "prod, agents without the proxy": replace(PROD, egress=replace(EGRESS, for_agents=False)),
}


@pytest.fixture(scope="module", params=RESTRICTED)
def restricted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SynthesizedStage:
    return synthesize(RESTRICTED[request.param], tmp_path_factory.mktemp("restricted"))


def plain(value: Any) -> str:
    """Write a value as one text, with its references in angle brackets."""
    match value:
        case {"Ref": str(name)}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::ImportValue": name}:
            return f"<{plain(name)}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator.join(map(plain, parts)))
    return str(value)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def resources_of(synthesized: SynthesizedStage) -> dict[str, Any]:
    return dict(synthesized.template("consumer")["Resources"])


def workers_groups(synthesized: SynthesizedStage) -> list[str]:
    service = synthesized.default_service()
    groups = service["NetworkConfiguration"]["AwsvpcConfiguration"]["SecurityGroups"]
    return [group["Fn::GetAtt"][0] for group in groups]


def rules_out_of(synthesized: SynthesizedStage, group: str) -> list[Properties]:
    own = resources_of(synthesized)[group]["Properties"].get("SecurityGroupEgress", [])
    added = synthesized.all("AWS::EC2::SecurityGroupEgress")
    return [*own, *(rule for rule in added if rule["GroupId"]["Fn::GetAtt"][0] == group)]


def statements(synthesized: SynthesizedStage, role_starts: str) -> Iterator[Properties]:
    for policy in synthesized.all("AWS::IAM::Policy"):
        if any(plain(role).startswith(f"<{role_starts}") for role in policy["Roles"]):
            yield from policy["PolicyDocument"]["Statement"]


def used(synthesized: SynthesizedStage) -> set[tuple[str, str]]:
    """Return every action with its resource that workers, and Fargate for them, are granted."""
    return {
        (action, plain(resource))
        for statement in (
            *statements(synthesized, "TaskDefinitionTaskRole"),
            *statements(synthesized, "TaskDefinitionExecutionRole"),
        )
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        if statement["Effect"] == "Allow"
    }


def environment_of(synthesized: SynthesizedStage) -> dict[str, str]:
    entries = synthesized.default_container()["Environment"]
    return {entry["Name"]: plain(entry["Value"]) for entry in entries}


def endpoints(synthesized: SynthesizedStage) -> dict[str, Properties]:
    return {
        plain(endpoint["ServiceName"]).replace("com.amazonaws.<AWS::Region>.", ""): endpoint
        for endpoint in synthesized.all("AWS::EC2::VPCEndpoint")
    }


def passes(endpoint: Properties, resource: str) -> bool:
    return any(
        fnmatchcase(resource.replace("?", "x"), plain(allowed))
        for statement in endpoint["PolicyDocument"]["Statement"]
        for allowed in listed(statement["Resource"])
    )


ENDPOINTS_OF = {"ecr": ("ecr.api", "ecr.dkr")}


def test_by_default_workers_may_connect_to_anything(synthesized: SynthesizedStage) -> None:
    assert synthesized.stage.egress is None
    (group,) = workers_groups(synthesized)
    assert [rule["CidrIp"] for rule in rules_out_of(synthesized, group)] == ["0.0.0.0/0"]
    assert {e["VpcEndpointType"] for e in endpoints(synthesized).values()} == {"Gateway"}
    assert not synthesized.all("AWS::Route53Resolver::FirewallRuleGroup")
    names = environment_of(synthesized).keys()
    assert not names & {"HTTPS_PROXY", "NO_PROXY", "CHILD_HTTPS_PROXY"}


def test_a_restricted_worker_connects_to_storage_endpoints_and_the_proxy_alone(
    restricted: SynthesizedStage,
) -> None:
    (group,) = workers_groups(restricted)
    rules = rules_out_of(restricted, group)
    assert all(rule["IpProtocol"] == "tcp" for rule in rules)
    assert not [rule for rule in rules if "CidrIpv6" in rule]
    found = {
        plain(
            rule.get("CidrIp")
            or rule.get("DestinationPrefixListId")
            or rule.get("DestinationSecurityGroupId")
        ): (rule["FromPort"], rule["ToPort"])
        for rule in rules
    }
    services = {name for name in found if name.startswith("<")}
    assert found == {
        "pl-63a5400a": (443, 443),
        "pl-02cd2c6b": (443, 443),
        "10.3.0.0/24": (3128, 3128),
        **dict.fromkeys(services, (443, 443)),
    }
    (services_group,) = services
    for endpoint in endpoints(restricted).values():
        if endpoint["VpcEndpointType"] == "Interface":
            assert [plain(group) for group in endpoint["SecurityGroupIds"]] == [services_group]


def test_nobody_but_workers_connects_to_anything_in_a_restricted_network(
    restricted: SynthesizedStage,
) -> None:
    (group,) = workers_groups(restricted)
    (rule,) = restricted.all("AWS::EC2::SecurityGroupIngress")
    assert plain(rule["SourceSecurityGroupId"]) == f"<{group}.GroupId>"
    assert rule["FromPort"] == rule["ToPort"] == 443
    assert plain(rule["GroupId"]) != f"<{group}.GroupId>"
    for security_group in restricted.all("AWS::EC2::SecurityGroup"):
        assert not security_group.get("SecurityGroupIngress")


def test_every_aws_service_that_a_restricted_worker_uses_has_an_endpoint_that_lets_it(
    restricted: SynthesizedStage,
) -> None:
    found = endpoints(restricted)
    granted = used(restricted)
    services = {action.partition(":")[0] for action, _ in granted}
    assert services >= {"sqs", "dynamodb", "s3", "events", "ecs", "ecr", "logs", "secretsmanager"}
    for action, resource in granted:
        if action == "ecs:UpdateTaskProtection":  # asked for by ECS's agent, which is no part of it
            continue
        service = action.partition(":")[0]
        for name in ENDPOINTS_OF.get(service, (service,)):
            assert passes(found[name], resource), f"{name} does not let pass {action} on {resource}"


def test_endpoints_let_no_other_account_pass(restricted: SynthesizedStage) -> None:
    """A program in a task has no credentials of ours, and may bring its own."""
    for name, endpoint in endpoints(restricted).items():
        for statement in endpoint["PolicyDocument"]["Statement"]:
            if "starport-layer-bucket" in plain(statement["Resource"]):
                assert (name, statement["Action"]) == ("s3", "s3:GetObject")
                continue
            account = statement["Condition"]["StringEquals"]["aws:PrincipalAccount"]
            assert plain(account) == "<AWS::AccountId>"
            assert name.startswith("ecr.") or "*" not in map(plain, listed(statement["Resource"]))


def test_endpoints_are_in_the_workers_subnets_under_the_services_own_names(
    restricted: SynthesizedStage,
) -> None:
    service = restricted.default_service()
    network = service["NetworkConfiguration"]["AwsvpcConfiguration"]
    behind_nat = restricted.stage.nat_gateways > 0
    assert network["AssignPublicIp"] == ("DISABLED" if behind_nat else "ENABLED")
    for endpoint in endpoints(restricted).values():
        if endpoint["VpcEndpointType"] == "Interface":
            assert endpoint["PrivateDnsEnabled"]
            assert endpoint["SubnetIds"] == network["Subnets"]
    (vpc,) = restricted.all("AWS::EC2::VPC")
    assert vpc["EnableDnsSupport"]
    assert vpc["EnableDnsHostnames"]


def test_only_names_on_the_list_are_resolved(restricted: SynthesizedStage) -> None:
    lists = {
        f"<{name}.Id>": [plain(domain) for domain in resource["Properties"]["Domains"]]
        for name, resource in resources_of(restricted).items()
        if resource["Type"] == "AWS::Route53Resolver::FirewallDomainList"
    }
    (group,) = restricted.all("AWS::Route53Resolver::FirewallRuleGroup")
    allow, block = sorted(group["FirewallRules"], key=lambda rule: int(rule["Priority"]))
    assert (allow["Action"], block["Action"]) == ("ALLOW", "BLOCK")
    assert lists[plain(block["FirewallDomainListId"])] == ["*"]
    allowed = lists[plain(allow["FirewallDomainListId"])]
    assert [name for name in allowed if not name.endswith(REGION_DOMAIN)] == ["proxy.example.com"]
    for service in endpoints(restricted):
        host = {"ecr.api": "api.ecr", "ecr.dkr": "*.dkr.ecr"}.get(service, service)
        assert f"{host}{REGION_DOMAIN}" in allowed
    (association,) = restricted.all("AWS::Route53Resolver::FirewallRuleGroupAssociation")
    assert 100 < association["Priority"] < 9_900


def test_a_restricted_worker_starts_when_endpoints_and_names_work(
    restricted: SynthesizedStage,
) -> None:
    resources = resources_of(restricted)
    (service, *_) = (r for r in resources.values() if r["Type"] == "AWS::ECS::Service")
    ways_out = {"AWS::EC2::VPCEndpoint", "AWS::Route53Resolver::FirewallRuleGroupAssociation"}
    needed = {name for name, resource in resources.items() if resource["Type"] in ways_out}
    assert needed <= set(service["DependsOn"])


def test_a_restricted_worker_gets_the_proxy_and_what_bypasses_it(
    restricted: SynthesizedStage,
) -> None:
    environment = environment_of(restricted)
    assert environment["HTTPS_PROXY"] == "http://proxy.example.com:3128"
    assert {"169.254.170.2", "169.254.169.254", "localhost", "127.0.0.1", REGION_DOMAIN} == set(
        environment["NO_PROXY"].split(",")
    )
    assert environment["AWS_S3_US_EAST_1_REGIONAL_ENDPOINT"] == "regional"


def test_agents_are_given_the_proxy_only_if_the_stage_says_so(
    restricted: SynthesizedStage,
) -> None:
    assert restricted.stage.egress is not None
    given = environment_of(restricted)
    wanted = given["HTTPS_PROXY"] if restricted.stage.egress.for_agents else None
    assert given.get("CHILD_HTTPS_PROXY") == wanted


@pytest.mark.long
def test_the_templates_of_a_restricted_stage_are_valid(restricted: SynthesizedStage) -> None:
    assert restricted.findings == "", "the security checks refuse it"
    lint = Path(sys.executable).parent / "cfn-lint"
    template = restricted.folder / f"{restricted.stage.prefixed('consumer')}.template.json"
    command = [str(lint), "--ignore-checks", "W3005", "--", str(template)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"proxy_host": "http://proxy:3128"}, "proxy_host 'http://proxy:3128' is neither"),
        ({"proxy_host": "*"}, r"proxy_host '\*' is neither"),
        ({"proxy_port": 0}, "proxy_port 0 is no port: use 1 to 65535"),
        ({"proxy_location": "0.0.0.0/0"}, "proxy_location 0.0.0.0/0 is wider than /16"),
        ({"proxy_location": "::/0"}, "proxy_location '::/0' is neither a range like"),
        ({"proxy_location": "10.3.0.1/24"}, "proxy_location '10.3.0.1/24' is neither"),
        ({"proxy_host": "10.4.0.9"}, "does not contain the proxy_host 10.4.0.9"),
        ({"s3_prefix_list": ""}, "s3_prefix_list '' is no pl-….*describe-managed-prefix-lists"),
        ({"dynamodb_prefix_list": "pl-63a5400a"}, "each service has its own"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"egress of the stage dev: .*{problem}"):
        replace(DEV, egress=replace(EGRESS, **wrong))


def test_the_documented_setting_is_valid() -> None:
    text = (REPOSITORY / "docs" / "deploy.md").read_text()
    (setting,) = re.findall(r"```python\negress = (.*?)```", text, re.DOTALL)
    replace(DEV, egress=eval(setting, {"Egress": Egress}))


@pytest.mark.parametrize("location", ["sg-0123456789abcdef0", "10.3.0.7/32", "203.0.113.0/29"])
def test_a_proxy_is_named_by_a_range_or_a_security_group(location: str) -> None:
    replace(LOCAL, egress=replace(EGRESS, proxy_location=location))
