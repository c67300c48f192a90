"""A webhook on loopback: records requests, and answers as a test configures it."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Arrived:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookServer:
    port: int
    answers: list[Answer]
    """One after the other; then the last again."""
    arrived: list[Arrived] = field(default_factory=list)
    leave: threading.Event = field(default_factory=threading.Event)
    """Set when the server stops, so that slow answers end."""

    def url(self, host: str = "127.0.0.1", *, scheme: str = "http", path: str = "/hook") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.answers[min(len(self.arrived), len(self.answers)) - 1](handler)


def status(code: int, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Length": "0", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer


@contextmanager
def a_webhook(*answers: Answer, tls: ssl.SSLContext | None = None) -> Iterator[WebhookServer]:
    server = WebhookServer(0, list(answers) or [status(204)])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.arrived.append(Arrived(self.path, dict(self.headers.items()), body))
            server.answer(self)

        def log_request(self, *args: object) -> None: ...

    class Listening(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore a client that has left."""

    with Listening(("127.0.0.1", 0), Handler) as listening:
        if tls is not None:
            listening.socket = tls.wrap_socket(listening.socket, server_side=True)
        server.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.leave.set()
            listening.shutdown()
            thread.join()


def a_closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def a_certificate(folder: Path, names: Sequence[str]) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the TLS contexts of a server of these names and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's webhook")])
    long_ago, far_ahead = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(long_ago)
        .not_valid_after(far_ahead)
        .add_extension(x509.SubjectAlternativeName(list(map(_name, names))), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    file = folder / "webhook.pem"
    file.write_bytes(
        pem
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=pem.decode())


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
