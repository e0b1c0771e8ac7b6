"""Backspace, Delete and the arrows on the input line take whole clusters."""

from __future__ import annotations

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Always
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import DummyOutput

from pi_cli.line.clusters import add_cluster_keys, length_after, length_before
from pi_testing import for_each

CLUSTERS = (
    "\U0001f1e9\U0001f1ea",  # a flag
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family
    "\U0001f469\U0001f3fd\u200d\U0001f91d\u200d\U0001f468\U0001f3ff",  # a couple, each with a colour of skin
    "\U0001f44d\U0001f3fd",
    "\U0001f469\U0001f3fe\u200d\u2708\ufe0f",  # a pilot
    "\U0001f3f3\ufe0f\u200d\U0001f308",  # a flag of joined emoji
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # a flag of tags
    "1\ufe0f\u20e3",
    "e\u0301",
)
LEFT, RIGHT, DELETE, BACKSPACE = "\x1b[D", "\x1b[C", "\x1b[3~", "\x7f"


def typed(keys: str) -> str:
    """Return what the line contains after these keys and Enter."""
    bindings = KeyBindings()
    add_cluster_keys(bindings, Always())
    with create_pipe_input() as source:
        source.send_text(f"{keys}\r")
        return PromptSession(key_bindings=bindings, input=source, output=DummyOutput()).prompt()


@pytest.mark.slow
@for_each("cluster", CLUSTERS)
def test_a_cluster_goes_as_a_whole(cluster: str) -> None:
    assert typed(f"a{cluster}b{LEFT}{BACKSPACE}") == "ab"
    assert typed(f"a{cluster}b{LEFT}{LEFT}{DELETE}") == "ab"
    assert typed(f"a{cluster}b{LEFT}{LEFT}x{RIGHT}y") == f"ax{cluster}yb"
    assert typed(f"{cluster}{cluster}{BACKSPACE}") == cluster


def test_plain_text_is_edited_as_before() -> None:
    assert typed(f"abc{LEFT}{LEFT}{BACKSPACE}{BACKSPACE}x{DELETE}{RIGHT}{RIGHT}y") == "xcy"
    assert typed(f"ab\x1b2{BACKSPACE}") == ""


@pytest.mark.parametrize("clusters", [0, 1, 2, 9])
def test_lengths_of_a_text_without_so_many_clusters(clusters: int) -> None:
    flag = CLUSTERS[0]

    assert (
        length_before(f"{flag}b", clusters)
        == length_after(f"b{flag}", clusters)
        == min(clusters, 1) + 2 * (clusters > 1)
    )
