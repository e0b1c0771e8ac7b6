"""What TAB and ``help()`` show of a package is what it exports."""

from __future__ import annotations

from importlib import import_module

from pi_testing import for_each

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
