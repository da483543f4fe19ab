"""Reads the service's own metrics as Prometheus does: over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPConnection

from prometheus_client.parser import text_string_to_metric_families

from croupier.services.demo.checks import Series

TIMEOUT_S = 10


def scrape(host: str, port: int, labels: Mapping[str, tuple[str, ...]]) -> dict[Series, int]:
    """Return the series of the metrics that `labels` names, by the values of those labels.

    Raises:
        OSError: nobody answers there.

    """
    connection = HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    return {
        (sample.name, tuple(sample.labels[label] for label in labels[sample.name])): int(
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name in labels
    }
