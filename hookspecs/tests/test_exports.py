"""What `from pi_hookspecs import ...` offers is what the modules declare, and it is loaded on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pi_hookspecs
from pi_testing import for_each

PACKAGE = Path(pi_hookspecs.__file__).parent


def test_every_public_name_of_a_module_is_importable_from_the_package():
    for module, names in pi_hookspecs._HOMES.items():
        declared = import_module(f"pi_hookspecs.{module}").__all__

        assert sorted(names.split()) == sorted(declared), module


def test_type_checkers_see_the_same_modules():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    seen = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"}

    assert seen == {f"pi_hookspecs.{module}" for module in pi_hookspecs._HOMES}


@for_each("name", pi_hookspecs.__all__)
def test_a_public_name_can_be_had(name):
    assert getattr(pi_hookspecs, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        pi_hookspecs.Nonsense  # noqa: B018 - looking is the test


def test_marking_a_hook_loads_no_values():
    code = (
        "import sys\nfrom pi_hookspecs import hookimpl\n"
        "print([m for m in ('messages', 'stream', 'entries', 'tools') if f'pi_hookspecs.{m}' in sys.modules])"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"
