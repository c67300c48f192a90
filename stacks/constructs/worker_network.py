"""Where workers live: they call out, nobody calls them."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.permissions import acknowledge
from stacks.stage import Stage

PUBLIC = ec2.SubnetConfiguration(
    name="Public", subnet_type=ec2.SubnetType.PUBLIC, map_public_ip_on_launch=False
)
PRIVATE = ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)


class WorkerNetwork(Construct):
    """Two zones, behind NAT gateways if the stage pays for any."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
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
        self._keep_storage_traffic_inside_aws()
        if stage.flow_logs:
            self._log_flows(stage)
        else:
            acknowledge(
                self.vpc, "AwsSolutions-VPC7", because="The local cloud has no network to watch."
            )

    def _keep_storage_traffic_inside_aws(self) -> None:
        """Gateway endpoints are free; NAT gateways charge by the gigabyte."""
        services = ec2.GatewayVpcEndpointAwsService
        self.vpc.add_gateway_endpoint("S3", service=services.S3)
        self.vpc.add_gateway_endpoint("DynamoDb", service=services.DYNAMODB)

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
