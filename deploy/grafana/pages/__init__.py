"""The dashboards, one page each."""

from pages.audit import AUDIT
from pages.engine import ENGINE
from pages.games import GAMES
from pages.money import MONEY
from pages.overview import OVERVIEW
from pages.service import SERVICE

DASHBOARDS = (OVERVIEW, SERVICE, MONEY, AUDIT, GAMES, ENGINE)
