"""What a log line may be: every one that the code writes is in the schema that the docs publish."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import jsonschema
import pytest

from croupier.services import cli

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/log.schema.json").read_text())
LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}


def lines_of_code():
    """Yield each call that writes a log line: where, its event, and the names of its fields."""
    for path in sorted(Path(cli.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in LEVELS
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "logger"
            ):
                fields = {one.arg for one in node.keywords if one.arg}
                yield f"{path.name}:{node.lineno}", ast.literal_eval(node.args[0]), fields


FOUND = list(lines_of_code())


def test_every_line_of_the_code_is_in_the_schema_and_no_other():
    assert len(FOUND) > 20
    events = set(SCHEMA["properties"]["event"]["enum"])
    for where, event, fields in FOUND:
        assert event in events, where
        assert fields <= set(SCHEMA["properties"]), where
    assert events == {event for _, event, _ in FOUND}


def test_the_schema_is_one_and_refuses_what_is_not_in_it():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    line = {"event": "ready again", "level": "info", "timestamp": "2026-01-01T00:00:00Z"}
    jsonschema.validate(line, SCHEMA)
    for wrong in ({"token": "x"}, {"event": "hello"}, {"level": "loud"}, {"event": "call"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(line | wrong, SCHEMA)
