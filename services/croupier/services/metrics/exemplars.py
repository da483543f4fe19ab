"""Which trace a measurement belongs to, so that a dashboard leads from a slow call to its trace."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Tracing is an extra: without it no measurement belongs to a trace.
_trace: Any = import_module("opentelemetry.trace") if find_spec("opentelemetry") else None


def exemplar() -> dict[str, str] | None:
    """Return the id of the trace that is being recorded, None where there is none."""
    if _trace is None:
        return None
    context = _trace.get_current_span().get_span_context()
    if not (context.is_valid and context.trace_flags.sampled):
        return None
    return {"trace_id": f"{context.trace_id:032x}"}
