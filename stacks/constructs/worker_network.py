"""The network of the workers: connections go out, and none come in."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from stacks.constructs.permissions import acknowledge
from stacks.constructs.restricted_egress import Reachable, RestrictedEgress, restrict_storage
from stacks.egress import Egress
from stacks.stage import Stage

PUBLIC = ec2.SubnetConfiguration(
    name="Public", subnet_type=ec2.SubnetType.PUBLIC, map_public_ip_on_launch=False
)
PRIVATE = ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)


class WorkerNetwork(Construct):
    """A network in two zones, behind NAT gateways if the stage pays for any."""

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, reachable: Reachable
    ) -> None:
        super().__init__(scope, construct_id)
        self.behind_nat = stage.nat_gateways > 0
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=2,
            nat_gateways=stage.nat_gateways,
            subnet_configuration=[PUBLIC, PRIVATE] if self.behind_nat else [PUBLIC],
        )
        self.workers_subnets = ec2.SubnetSelection(
            subnet_type=(PRIVATE if self.behind_nat else PUBLIC).subnet_type
        )
        self._s3, self._dynamodb = self._storage_endpoints()
        self.ways_out: list[IDependable] = [
            self.vpc.select_subnets(
                subnet_type=self.workers_subnets.subnet_type
            ).internet_connectivity_established,
            self._s3,
            self._dynamodb,
        ]
        """The resources that a worker needs before it starts, to fetch its image and its secret."""
        self.security_groups: list[ec2.ISecurityGroup] | None = None
        """The groups of workers; `None`: one of the service's own, which lets everything out."""
        if stage.egress:
            self._restrict(stage.egress, reachable)
        if stage.flow_logs:
            self._log_flows(stage)
        else:
            acknowledge(
                self.vpc, "AwsSolutions-VPC7", because="The local cloud has no network to watch."
            )

    def _storage_endpoints(self) -> tuple[ec2.GatewayVpcEndpoint, ec2.GatewayVpcEndpoint]:
        """Make gateway endpoints, which are free; NAT gateways charge by the gigabyte."""
        services = ec2.GatewayVpcEndpointAwsService
        return (
            self.vpc.add_gateway_endpoint("S3", service=services.S3),
            self.vpc.add_gateway_endpoint("DynamoDb", service=services.DYNAMODB),
        )

    def _restrict(self, egress: Egress, reachable: Reachable) -> None:
        restricted = RestrictedEgress(
            self,
            "Egress",
            egress=egress,
            vpc=self.vpc,
            subnets=self.workers_subnets,
            reachable=reachable,
        )
        restrict_storage(self._s3, self._dynamodb, reachable)
        self.security_groups = [restricted.workers]
        self.ways_out += restricted.endpoints

    def _log_flows(self, stage: Stage) -> None:
        """The record of where an agent's shell connected to."""
        log_group = logs.LogGroup(
            self,
            "Flows",
            log_group_name=f"/switchyard/{stage.name}/flows",
            retention=stage.log_retention,
            removal_policy=stage.removal_policy,
        )
        self.vpc.add_flow_log(
            "FlowLog", destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group)
        )
