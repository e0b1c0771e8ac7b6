"""What the plugin registers, and that a start of pi loads none of what does the work."""

from __future__ import annotations

import subprocess
import sys

import pi_compaction
from pi_hookspecs import BranchSummarizer, Compactor

PROGRAM = """
import sys
import pi_compaction
pi_compaction.register_services(), pi_compaction.register_commands()
print(*sorted(name for name in sys.modules if name.startswith("pi_compaction.") or name == "pi_core"))
"""


def test_it_provides_a_compactor_and_a_summariser_of_branches() -> None:
    compactor, branches = pi_compaction.register_services()

    assert isinstance(compactor, Compactor)
    assert isinstance(branches, BranchSummarizer)


def test_registering_loads_only_the_names() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["pi_compaction.command", "pi_compaction.services"]


def test_the_command_completes_undo() -> None:
    (command,) = pi_compaction.register_commands()

    assert command.complete is not None
    assert list(command.complete("un")) == ["undo"]
    assert list(command.complete("focus")) == []
