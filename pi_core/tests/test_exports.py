"""What ``pi_core`` offers: every public name is there, is loaded on first use, and is found by completion."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pi_core
from pi_testing import for_each


def test_every_name_that_is_offered_is_listed_for_completion_and_star_imports():
    offered = {name for names in pi_core._HOMES.values() for name in names.split()}

    assert set(pi_core.__all__) == offered
    assert offered <= set(dir(pi_core))


@for_each("name", pi_core.__all__)
def test_every_name_can_be_imported_and_says_what_it_is(name):
    value = getattr(pi_core, name)

    assert value.__doc__
    home = next(module for module, names in pi_core._HOMES.items() if name in names.split())
    assert getattr(import_module(f"pi_core.{home}"), name) is value


def test_listing_the_names_imports_nothing():
    program = "import sys, pi_core; dir(pi_core); print(*[each for each in sys.modules if each.startswith('pi_core.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
