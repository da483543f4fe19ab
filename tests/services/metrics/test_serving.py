"""The port that is scraped: its two formats, and which trace a slow call belongs to."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from croupier.services.metrics import exemplars, serve

OPEN_METRICS = "application/openmetrics-text"


def scrape(server, accept="text/plain"):
    url = f"http://127.0.0.1:{server.port}/metrics"
    with urlopen(Request(url, headers={"Accept": accept})) as response:  # our own
        return response.headers["Content-Type"], response.read().decode()


@pytest.fixture
def server(watched):
    server = serve(0, "127.0.0.1", watched.registry)
    yield server
    server.close()


@pytest.fixture
def traced(monkeypatch):
    """Return the context of a trace that is being recorded."""
    context = SimpleNamespace(
        is_valid=True, trace_id=0xABC, trace_flags=SimpleNamespace(sampled=True)
    )
    span = SimpleNamespace(get_span_context=lambda: context)
    library = SimpleNamespace(get_current_span=lambda: span)
    monkeypatch.setitem(sys.modules, exemplars.LIBRARY, library)
    return context


def test_the_port_answers_until_it_is_closed(watched):
    server = serve(0, "127.0.0.1", watched.registry)
    url = f"http://127.0.0.1:{server.port}/metrics"
    with urlopen(url) as response:
        assert b"croupier_build_info" in response.read()
    server.close()
    with pytest.raises(URLError, match="refused"):
        urlopen(url)


def test_who_asks_for_openmetrics_gets_it_and_others_get_the_plain_text(server):
    kind, text = scrape(server, OPEN_METRICS)
    assert kind.startswith(OPEN_METRICS)
    assert text.endswith("# EOF\n")
    kind, text = scrape(server)
    assert kind.startswith("text/plain")
    assert "# EOF" not in text


def test_no_series_tells_only_when_another_began(server):
    assert "_created" not in scrape(server)[1]


def test_a_call_that_is_traced_leads_to_its_trace(server, metrics, traced):
    metrics.call_finished("PlayService/Play", "OK", "", 0.3)
    _, text = scrape(server, OPEN_METRICS)
    (line,) = [one for one in text.splitlines() if " # {" in one]
    assert line.startswith('croupier_call_seconds_bucket{le="0.5",method="PlayService/Play"} 1.0')
    assert f'# {{trace_id="{0xABC:032x}"}} 0.3' in line
    # The plain text has no way to say it.
    assert "trace_id" not in scrape(server)[1]


@pytest.mark.parametrize("missing", ["valid", "sampled"])
def test_a_call_whose_trace_is_not_recorded_leads_nowhere(server, metrics, traced, missing):
    if missing == "valid":
        traced.is_valid = False
    else:
        traced.trace_flags.sampled = False
    metrics.call_finished("PlayService/Play", "OK", "", 0.3)
    assert "trace_id" not in scrape(server, OPEN_METRICS)[1]


def test_without_tracing_there_is_no_trace(monkeypatch):
    monkeypatch.delitem(sys.modules, exemplars.LIBRARY, raising=False)
    assert exemplars.exemplar() is None
