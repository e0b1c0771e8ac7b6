"""The plugin under test, a scripted model with the prices of a large one, and the breaks of a session."""

from __future__ import annotations

import pytest
from attrs import evolve

import pi_cache_lint
from pi_hookspecs import ModelCost


@pytest.fixture
def cache_lint():
    return pi_cache_lint


@pytest.fixture
def pi_plugins(cache_lint):
    return {"cache-lint": cache_lint}


@pytest.fixture
def script(script):
    script.model = evolve(script.model, cost=ModelCost(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75))
    script.info = evolve(script.info, models=(script.model,))
    return script


@pytest.fixture
def breaks():
    def found(session):
        entries = (each for each in session.session_manager.entries() if each.type == "custom")
        return [each.data["break"] for each in entries if "break" in each.data]

    return found
