"""The changes of a version, from the file that the wheel contains."""

from __future__ import annotations

from importlib.metadata import version

from pi_terminal_kit.changelog import changes

TEXT = """\
# Changelog

Words.

## 1.10.0 (2026-11-26)

### Added

- Tides.

## 1.9.0 (2026-11-22)

### Fixed

- Ebb: see ## 1.8.0 of the sea.

## 1.8.0

- Moon.
"""


def test_the_newest_version_comes_first_and_names_the_earlier_ones():
    assert changes(text=TEXT) == (
        "## 1.10.0 (2026-11-26)\n\n### Added\n\n- Tides.\n\nEarlier versions: /changelog 1.9.0, /changelog 1.8.0"
    )


def test_any_version_can_be_asked_for():
    assert changes("v1.9.0", TEXT).startswith("## 1.9.0 (2026-11-22)\n\n### Fixed\n\n- Ebb: see ## 1.8.0 of the sea.\n")
    assert changes(" 1.8.0 ", TEXT) == "## 1.8.0\n\n- Moon."


def test_a_version_that_is_not_there_is_answered_with_those_that_are():
    assert changes("2", TEXT) == "There is no version '2' in the list of changes. It has 1.10.0, 1.9.0, 1.8.0."
    assert changes(text="") == "The list of changes is not installed. Reinstall pi."


def test_the_version_that_is_installed_has_a_section():
    assert changes().startswith(f"## {version('pluggypi-terminal-kit')} (")
