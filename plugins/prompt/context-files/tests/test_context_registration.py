"""What the plugin registers, and that asking costs no import of what does the work."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_context_files


@pytest.mark.pi(plugins={"context-files": pi_context_files})
def test_it_registers_its_kinds_and_answers_for_the_prompt(pi_host):
    kinds = [each.name for each in pi_host.registrations("register_resource_kinds")]

    assert kinds == ["context", "system", "append-system"]
    assert pi_context_files.__all__ == ["register_project_files", "register_resource_kinds", "system_prompt"]


def test_being_imported_imports_nothing_of_its_own():
    code = "import sys, pi_context_files; print([name for name in sys.modules if name.startswith('pi_context_files.')])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
