"""Options as data: defaults, presets, single values, and what is refused."""

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.domain.games.options import Option, resolve

OPTIONS = (
    Option("payout", "even", "how wins pay", choices=("even", "multiplied")),
    Option("factor", 2, "how much", least=1, most=10),
    Option("hot", True, "whether so"),
)
PRESETS = {"plain": {}, "rich": {"payout": "multiplied", "factor": 7}}


@pytest.mark.parametrize(
    "given, resolved",
    [
        ({}, ("plain", "even", 2, True)),
        ({"preset": "plain"}, ("plain", "even", 2, True)),
        ({"preset": "rich"}, ("rich", "multiplied", 7, True)),
        ({"preset": "rich", "factor": 3}, ("rich", "multiplied", 3, True)),
        ({"hot": False}, ("plain", "even", 2, False)),
        ({"factor": 1}, ("plain", "even", 1, True)),
        ({"factor": 10, "payout": "multiplied"}, ("plain", "multiplied", 10, True)),
    ],
)
def test_what_is_given_goes_before_the_preset_and_the_preset_before_the_default(given, resolved):
    names = ("preset", "payout", "factor", "hot")
    assert resolve(OPTIONS, PRESETS, given) == dict(zip(names, resolved, strict=True))


def test_resolving_what_was_resolved_changes_nothing():
    once = resolve(OPTIONS, PRESETS, {"preset": "rich", "hot": False})
    assert resolve(OPTIONS, PRESETS, once) == once


@pytest.mark.parametrize(
    "given, reason, field",
    [
        ({"preset": "other"}, Reason.INVALID_OPTION, "options.preset"),
        ({"preset": 1}, Reason.INVALID_OPTION, "options.preset"),
        ({"payout": "Even"}, Reason.INVALID_OPTION, "options.payout"),
        ({"payout": ""}, Reason.INVALID_OPTION, "options.payout"),
        ({"payout": 0}, Reason.INVALID_OPTION, "options.payout"),
        ({"factor": 0}, Reason.INVALID_OPTION, "options.factor"),
        ({"factor": 11}, Reason.INVALID_OPTION, "options.factor"),
        ({"factor": "3"}, Reason.INVALID_OPTION, "options.factor"),
        ({"factor": True}, Reason.INVALID_OPTION, "options.factor"),
        ({"hot": 1}, Reason.INVALID_OPTION, "options.hot"),
        ({"hot": "true"}, Reason.INVALID_OPTION, "options.hot"),
        ({"colour": "red"}, Reason.UNKNOWN_OPTION, "options"),
        ({"": True}, Reason.UNKNOWN_OPTION, "options"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused_and_the_option_named(given, reason, field):
    with pytest.raises(Refused) as caught:
        resolve(OPTIONS, PRESETS, given)
    assert (caught.value.reason, caught.value.field) == (reason, field)
    assert caught.value.metadata["option"] == next(iter(given))


def test_a_refusal_never_echoes_a_flood():
    for given in ({"x" * 10_000: True}, {"payout": "x" * 10_000}):
        with pytest.raises(Refused) as caught:
            resolve(OPTIONS, PRESETS, given)
        shown = [caught.value.message, *caught.value.metadata.values()]
        assert max(map(len, shown)) < 200
