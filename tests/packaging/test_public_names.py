"""What TAB and ``help()`` show of a package is what it exports."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

from pi_testing import for_each

ROOT = Path(__file__).resolve().parents[2]
LAZY = (
    "pi_client",
    "pi_hookspecs",
    "pi_core",
    "pi_testing",
    "pi_process_kit",
    "pi_provider_kit",
    "pi_provider_kit.oauth",
)


@for_each("package", LAZY)
def test_a_package_shows_its_public_names_and_nothing_else(package: str) -> None:
    module = import_module(package)

    assert dir(module) == sorted(module.__all__)


PROGRAMS = {
    "pi_cli": "the command `pi`: it prepares plugin host, settings and models before there is a session",
    "pi_isolated": "the plugin host for plugins in other processes",
    "pi_packages": "`pi install`: it builds the environments from which the plugin host loads",
    "pi_tui": "the screen",
}
"""Packages that know modules inside pi_core, because they are programs on top of it, and what each is."""


def test_only_programs_on_top_of_the_engine_know_its_modules() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (each for each in linter["contracts"] if each["id"] == "public")

    assert {*contract["source_modules"]} == {*linter["root_packages"]} - {"pi_core", "pi_hookspecs"} - {*PROGRAMS}
