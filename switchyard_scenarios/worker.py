"""`python -m switchyard_scenarios.worker`: the real worker, with the switches of a scenario.

Its code is that of `python -m switchyard_worker`; only the ports that it is given are wrapped.
"""

from collections.abc import Sequence
from dataclasses import replace

from switchyard.adapters import aws
from switchyard.bootstrap import WorkerPorts, worker_ports
from switchyard.settings import WorkerSettings
from switchyard_scenarios.reporting.journal import Journal
from switchyard_scenarios.switched.crashes import Crashes
from switchyard_scenarios.switched.effects import MessageEffects
from switchyard_scenarios.switched.inbox import Bodies, SwitchedInbox
from switchyard_scenarios.switched.leases import Effect, EffectiveLeases
from switchyard_scenarios.switched.switches import WorkerSwitches
from switchyard_worker.__main__ import leave, main


def connect(settings: WorkerSettings) -> WorkerPorts:
    switches, ports = WorkerSwitches(), worker_ports(settings)
    if not switches.planted:
        return switched(ports, switches)
    from switchyard_scenarios.switched.defects import with_defect  # noqa: PLC0415 - no other run has any of it

    return with_defect(ports, switches, switched)


def switched(ports: WorkerPorts, switches: WorkerSwitches) -> WorkerPorts:
    journal, bodies = Journal(switches.journal_file, ports.clock), Bodies()
    effects = MessageEffects(
        aws.client("dynamodb"),
        status_table=switches.message_status_table,
        completed_table=switches.message_completed_table,
        clock=ports.clock,
    )
    inbox = SwitchedInbox(
        ports.inbox,
        switches,
        journal=journal,
        bodies=bodies,
        effects=effects,
        clock=ports.clock,
    )
    leases = EffectiveLeases(
        leases=ports.leases,
        effects=effects,
        bodies=bodies,
        journal=journal,
        crashes=Crashes(switches=switches, journal=journal, randomness=ports.randomness),
        others=_other_effects(switches),
    )
    return replace(ports, inbox=inbox, leases=leases)


def _other_effects(switches: WorkerSwitches) -> Sequence[Effect]:
    if not switches.entities_table:
        return ()
    from switchyard_scenarios.switched.reconciliation import reconciling  # noqa: PLC0415 - of one scenario alone

    return (reconciling(aws.client("dynamodb"), switches),)


if __name__ == "__main__":
    leave(main(connect))
