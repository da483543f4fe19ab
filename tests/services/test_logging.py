"""Log lines are for whoever watches; a call's answer does not depend on them."""

from __future__ import annotations

import io
import json
import sys

import pytest
import structlog

from croupier.services.commands.process import set_up_logging


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    structlog.reset_defaults()


class FullDisk(io.StringIO):
    def write(self, text):
        raise OSError(28, "No space left on device")


def test_a_line_goes_to_standard_error_as_it_is_now(monkeypatch):
    set_up_logging("info", "json")
    now = io.StringIO()
    monkeypatch.setattr(sys, "stderr", now)
    structlog.get_logger().warning("refused", reason="TOKEN_UNKNOWN")
    line = json.loads(now.getvalue())
    assert (line["event"], line["level"], line["reason"]) == ("refused", "warning", "TOKEN_UNKNOWN")


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_line_that_cannot_be_written_ends_nothing(monkeypatch, form):
    set_up_logging("info", form)
    closed = io.StringIO()
    closed.close()
    for nowhere in (closed, FullDisk()):
        monkeypatch.setattr(sys, "stderr", nowhere)
        structlog.get_logger().error("store unavailable")


def test_lines_below_the_level_are_left_out(monkeypatch):
    set_up_logging("error", "json")
    now = io.StringIO()
    monkeypatch.setattr(sys, "stderr", now)
    structlog.get_logger().warning("refused")
    assert now.getvalue() == ""
