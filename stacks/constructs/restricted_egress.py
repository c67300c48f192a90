"""The only ways out of a restricted stage: AWS services by endpoints of the network, and a proxy.

Security groups filter neither DNS nor the addresses of ECS's own agent, so names are restricted by
a DNS firewall, and nothing is needed for the agent.
https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html
Fargate fetches the image, the secret and writes logs through the task's own network interface.
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import Aws, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_route53resolver as resolver
from constructs import Construct, IDependable

from stacks.egress import Egress

HTTPS: Final = 443
_SERVICES: Final = ec2.InterfaceVpcEndpointAwsService
INTERFACES: Final[Mapping[str, ec2.InterfaceVpcEndpointAwsService]] = {
    "Sqs": _SERVICES.SQS,
    "Events": _SERVICES.EVENTBRIDGE,
    "Ecs": _SERVICES.ECS,
    "EcrApi": _SERVICES.ECR,
    "EcrDocker": _SERVICES.ECR_DOCKER,
    "Logs": _SERVICES.CLOUDWATCH_LOGS,
    "Secrets": _SERVICES.SECRETS_MANAGER,
}
NAMES: Final = (
    *("sqs", "events", "ecs", "api.ecr", "*.dkr.ecr", "logs", "secretsmanager", "dynamodb"),
    *("s3", "*.s3"),
)
"""The names that workers and Fargate resolve, each before the region's domain."""
LINK_LOCAL: Final = ("169.254.170.2", "169.254.169.254")
"""The addresses at which ECS answers for credentials and metadata."""


@dataclass(frozen=True, kw_only=True)
class Reachable:
    """The resources of a stage that a worker and Fargate use, by the service's id in IAM."""

    buckets: Sequence[str]
    tables: Sequence[str]
    interfaces: Mapping[str, Sequence[str]]
    """Reachable hosts by the names of `INTERFACES`."""


class RestrictedEgress(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        egress: Egress,
        vpc: ec2.Vpc,
        subnets: ec2.SubnetSelection,
        reachable: Reachable,
    ) -> None:
        super().__init__(scope, construct_id)
        self._vpc = vpc
        self.workers = self._group("Workers", "Workers: AWS services and the proxy, nothing else")
        self._services = self._group("Services", "Endpoints of AWS services, for workers")
        self._services.add_ingress_rule(self.workers, ec2.Port.tcp(HTTPS), "Workers")
        self._allow_out(egress)
        self.endpoints: list[IDependable] = [
            self._interface(name, service, subnets, reachable.interfaces[name])
            for name, service in INTERFACES.items()
        ]
        self._restrict_names(egress)

    def _group(self, name: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, name, vpc=self._vpc, allow_all_outbound=False, description=description
        )

    def _allow_out(self, egress: Egress) -> None:
        https = ec2.Port.tcp(HTTPS)
        for name, prefix_list in (
            ("S3", egress.s3_prefix_list),
            ("DynamoDB", egress.dynamodb_prefix_list),
        ):
            self.workers.add_egress_rule(ec2.Peer.prefix_list(prefix_list), https, name)
        self.workers.add_egress_rule(self._services, https, "Endpoints of AWS services")
        proxy = egress.proxy_location
        is_group = proxy.startswith("sg-")
        peer = ec2.Peer.security_group_id(proxy) if is_group else ec2.Peer.ipv4(proxy)
        self.workers.add_egress_rule(peer, ec2.Port.tcp(egress.proxy_port), "The proxy")

    def _interface(
        self,
        name: str,
        service: ec2.InterfaceVpcEndpointAwsService,
        subnets: ec2.SubnetSelection,
        resources: Sequence[str],
    ) -> ec2.InterfaceVpcEndpoint:
        endpoint = self._vpc.add_interface_endpoint(
            name,
            service=service,
            subnets=subnets,
            security_groups=[self._services],
            open=False,
            private_dns_enabled=True,
        )
        endpoint.add_to_policy(our_own(resources))
        return endpoint

    def _restrict_names(self, egress: Egress) -> None:
        """Names that no list has are not resolved: a query itself can carry data out.

        https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall.html
        """
        names = [f"{name}.{region_domain()}" for name in NAMES]
        if egress.proxy_name:
            names.append(egress.proxy_name)
        group = resolver.CfnFirewallRuleGroup(
            self,
            "Names",
            firewall_rules=[
                resolver.CfnFirewallRuleGroup.FirewallRuleProperty(
                    action="ALLOW",
                    priority=100,
                    firewall_domain_list_id=self._name_list("Allowed", names),
                    firewall_domain_redirection_action="TRUST_REDIRECTION_DOMAIN",
                ),
                resolver.CfnFirewallRuleGroup.FirewallRuleProperty(
                    action="BLOCK",
                    priority=200,
                    block_response="NXDOMAIN",
                    firewall_domain_list_id=self._name_list("All", ["*"]),
                ),
            ],
        )
        association = resolver.CfnFirewallRuleGroupAssociation(
            self,
            "NamesOfNetwork",
            firewall_rule_group_id=group.attr_id,
            priority=101,
            vpc_id=self._vpc.vpc_id,
        )
        self.endpoints.append(association)

    def _name_list(self, name: str, domains: Sequence[str]) -> str:
        return resolver.CfnFirewallDomainList(self, name, domains=list(domains)).attr_id


def restrict_storage(
    s3: ec2.GatewayVpcEndpoint, dynamodb: ec2.GatewayVpcEndpoint, reachable: Reachable
) -> None:
    """Let the free endpoints of S3 and DynamoDB pass what is for this stage alone.

    ECR keeps the layers of images in a bucket of its own, and reads are signed by ECR.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    """
    s3.add_to_policy(our_own(reachable.buckets))
    layers = f"arn:{Aws.PARTITION}:s3:::prod-{Aws.REGION}-starport-layer-bucket/*"
    s3.add_to_policy(
        iam.PolicyStatement(
            principals=[iam.AnyPrincipal()], actions=["s3:GetObject"], resources=[layers]
        )
    )
    dynamodb.add_to_policy(our_own(reachable.tables))


def our_own(resources: Sequence[str]) -> iam.PolicyStatement:
    """Allow what this account's roles may do to these resources, and no other account's anything.

    Without it a program could use credentials of its own to write to a bucket or queue of its own.
    """
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=["*"],
        resources=list(resources),
        conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
    )


def region_domain() -> str:
    return Fn.join(".", [Aws.REGION, Aws.URL_SUFFIX])


def worker_environment(egress: Egress) -> dict[str, str]:
    """Return the variables that make a worker's clients use the proxy, and AWS without it.

    Without the last two, clients would use names outside the region's domain: S3 in us-east-1,
    and DynamoDB by account.
    https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
    """
    direct = (*LINK_LOCAL, "localhost", "127.0.0.1", f".{region_domain()}")
    return {
        "HTTPS_PROXY": egress.proxy_url,
        "NO_PROXY": ",".join(direct),
        "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "regional",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    }
