"""``plugin_errors`` alone: what the code of a service raises."""

from __future__ import annotations

import pytest

from pi_core.conversation.plugin_errors import plugin_errors
from pi_hookspecs import PiError


def test_what_a_service_raises_is_reported_with_the_plugin_and_its_task(runtime, recorder):
    with (
        pytest.raises(PiError, match=r"Plugin 'tides' failed to compact: KeyError: 'moon'"),
        plugin_errors(runtime, "tides", "Compactor.compact", "compact"),
    ):
        raise KeyError("moon")

    assert recorder.of("extension_error")[0].extension_path == "tides"


def test_an_error_that_front_ends_know_is_not_changed(runtime, recorder):
    with (
        pytest.raises(PiError, match=r"^Nothing to compact$"),
        plugin_errors(runtime, "tides", "Compactor.compact", "compact"),
    ):
        raise PiError("Nothing to compact")

    assert recorder.of("extension_error") == []
