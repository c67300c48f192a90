"""Builds the exporter that sends spans to a collector of traces."""

from collections.abc import Mapping

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.otlp import OtlpSpanExporter
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.contracts.otlp import headers_in
from switchyard.ports import SpanExporter
from switchyard.settings import SaveEventSettings


def span_exporter(settings: SaveEventSettings) -> SpanExporter:
    return OtlpSpanExporter(
        settings.otel_exporter_otlp_endpoint, headers=_Headers(settings).now, stage=settings.stage
    )


class _Headers:
    """The headers of the settings, overridden by those of the secret, if there is one."""

    def __init__(self, settings: SaveEventSettings) -> None:
        self._known = headers_in(settings.otel_exporter_otlp_headers)
        self._name = settings.otlp_secret
        self._secrets = SecretsManagerSecrets(aws.client("secretsmanager"), clock=function_clock())

    def now(self) -> Mapping[str, str]:
        if not self._name:
            return self._known
        return self._known | headers_in(self._secrets.text(self._name) or "")
