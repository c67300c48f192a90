"""`python -m scenarios.worker`: the real worker, with the switches of a scenario.

Its code is that of `python -m worker`; only the ports that it is given are wrapped.
"""

from collections.abc import Sequence
from dataclasses import replace

from scenarios.crashes import Crashes
from scenarios.effects import MessageEffects
from scenarios.inbox import Bodies, SwitchedInbox
from scenarios.journal import Journal
from scenarios.leases import Effect, EffectiveLeases
from scenarios.switches import WorkerSwitches
from switchyard.adapters import aws
from switchyard.bootstrap import WorkerPorts, worker_ports
from switchyard.settings import WorkerSettings
from worker.__main__ import leave, main


def connect(settings: WorkerSettings) -> WorkerPorts:
    switches, ports = WorkerSwitches(), worker_ports(settings)
    if not switches.planted:
        return switched(ports, switches)
    from scenarios.defects import with_defect  # noqa: PLC0415 - no other run has any of it

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
    from scenarios.reconciliation import reconciling  # noqa: PLC0415 - of one scenario alone

    return (reconciling(aws.client("dynamodb"), switches),)


if __name__ == "__main__":
    leave(main(connect))
