"""Which tools a selection means."""

from __future__ import annotations

from pi_core.conversation.toolbox import ToolSelection
from pi_testing import for_each

KNOWN = ["read", "bash", "edit", "write", "grep", "find", "ls", "git_log", "git_diff"]
DEFAULT = ["read", "bash", "edit", "write"]


@for_each(
    ("wanted", "excluded", "names"),
    [
        (None, (), ["read", "bash", "edit", "write"]),
        ((), (), []),
        (["grep", "read", "grep"], (), ["grep", "read"]),
        (["git_*", "read"], (), ["git_log", "git_diff", "read"]),
        (["*"], (), KNOWN),
        (["+grep"], (), ["read", "bash", "edit", "write", "grep"]),
        (["-bash", "-write"], (), ["read", "edit"]),
        (["+git_*", "-git_log"], (), ["read", "bash", "edit", "write", "git_diff"]),
        (["*", "-git_*"], (), ["read", "bash", "edit", "write", "grep", "find", "ls"]),
        (["read", "unheard"], (), ["read", "unheard"]),
        (None, ["bash"], ["read", "edit", "write"]),
        (["*"], ["git_*", "bash"], ["read", "edit", "write", "grep", "find", "ls"]),
        ((), ["bash"], []),
    ],
)
def test_a_selection_means_these_tools(wanted, excluded, names):
    assert ToolSelection(wanted, excluded).names(KNOWN, DEFAULT) == names


def test_only_names_given_in_full_are_required():
    assert ToolSelection(["*", "+grep", "-bash"], ["git_*", "ls"]).exact_names() == ["grep", "bash", "ls"]
