"""Environment variables that force what a terminal can do, as the settings of the screen declare them."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, Settings


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("PI_CLEAR_ON_SHRINK", "1", "terminal.clearOnShrink", True),
        ("PI_HARDWARE_CURSOR", "1", "showHardwareCursor", True),
        ("PI_HYPERLINKS", "auto", "terminal.hyperlinks", "auto"),
        ("PI_HYPERLINKS", "0", "terminal.hyperlinks", False),
        ("PI_TRUE_COLOR", "1", "terminal.trueColor", True),
        ("PI_IMAGE_PROTOCOL", "iterm2", "terminal.images", "iterm2"),
        ("PI_IMAGE_PROTOCOL", "0", "terminal.images", False),
    ],
)
def test_a_variable_wins_over_the_users_file(tmp_path, variable, text, name, value):
    group, _, key = name.rpartition(".")
    content = {group: {key: "of the file"}} if group else {key: "of the file"}
    (tmp_path / "settings.json").write_text(json.dumps(content))
    settings = Settings.load(tmp_path, tmp_path, environ={variable: text})

    assert settings.get(name) == "of the file"
    assert PluginHost(settings).records["tui"]

    assert settings.get(name) == value
    assert settings.place(name) == variable


def test_a_protocol_that_is_not_known_is_reported(tmp_path):
    settings = Settings.load(tmp_path, tmp_path, environ={"PI_IMAGE_PROTOCOL": "sixel"})
    assert PluginHost(settings).records["tui"]

    assert settings.problems == [
        "PI_IMAGE_PROTOCOL must be auto, kitty, iterm2, none or 0, not 'sixel'; it is ignored."
    ]
