"""The proxy's own process: serves children, obeys the worker, and reports to it."""

import asyncio
import socket
from typing import Final

from switchyard_worker.parent.claude.proxy.accounts import Accounts
from switchyard_worker.parent.claude.proxy.connections import Server
from switchyard_worker.parent.claude.proxy.control import (
    MAX_LINE_BYTES,
    Listening,
    Message,
    Register,
    Registered,
    Revoke,
    Start,
    Strangers,
    decode,
    encode,
)
from switchyard_worker.parent.claude.proxy.forwarding import Forwarder, upstream_client

SECONDS_BETWEEN_REPORTS: Final = 0.25


async def serve(control: socket.socket, listener: socket.socket) -> None:
    """Serve until the worker has ended."""
    reader, writer = await asyncio.open_unix_connection(sock=control, limit=MAX_LINE_BYTES)
    start = decode(await reader.readline())
    if not isinstance(start, Start):
        raise TypeError("the first message says what to add and where to send it")
    accounts = Accounts()
    orders = _Orders(accounts, writer)
    async with upstream_client() as client:
        server = Server(Forwarder(start, accounts, client).answer, accounts.note_stranger)
        listening = await asyncio.start_server(server.accept, sock=listener)
        orders.say(Listening())
        orders.report()
        while line := await reader.readline():
            await orders.obey(decode(line))
        listening.close()
        server.cut_all()


class _Orders:
    def __init__(self, accounts: Accounts, writer: asyncio.StreamWriter) -> None:
        self._accounts = accounts
        self._writer = writer

    def say(self, message: Message) -> None:
        if not self._writer.is_closing():
            self._writer.write(encode(message))

    async def obey(self, order: Message) -> None:
        if isinstance(order, Register):
            self._accounts.add(order, now=asyncio.get_running_loop().time())
            self.say(Registered(id=order.id))
        elif isinstance(order, Revoke):
            self.say(await self._accounts.revoke(order.id))

    def report(self) -> None:
        """Report changes at intervals, so that many requests do not make many reports."""
        for spent in self._accounts.changed():
            self.say(spent)
        if self._accounts.strangers:
            self.say(Strangers(refusals=dict(self._accounts.strangers)))
            self._accounts.strangers.clear()
        asyncio.get_running_loop().call_later(SECONDS_BETWEEN_REPORTS, self.report)
