"""What the package offers, and what it costs a run of pytest that does not use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_testing


def test_every_public_name_exists_in_its_module():
    assert sorted(" ".join(pi_testing._HOMES.values()).split()) == sorted(pi_testing.__all__)
    assert all(getattr(pi_testing, name) is not None for name in pi_testing.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        pi_testing.nonsense  # noqa: B018 - asking is the test


def test_starting_pytest_imports_no_class_of_pi():
    code = (
        "import sys, pi_testing.plugin;"
        "print(*(name for name in sys.modules if name.startswith(('pi_core', 'pi_hookspecs', 'attr'))))"
    )
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert sorted(name for name in imported if name.startswith("pi_")) == ["pi_hookspecs", "pi_hookspecs.lazy"]
