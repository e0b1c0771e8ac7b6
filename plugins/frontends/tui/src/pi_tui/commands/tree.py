"""The command that continues from another point of the session tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_terminal_kit.settings import SKIP_SUMMARY_PROMPT, TREE_FILTER
from pi_tui.commands.chosen import choose, choose_while
from pi_tui.commands.table import Command
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.tree import EntryCopied, LabelChanged, TreeSelector
from pi_tui.selectors.tree_rows import FILTERS
from pi_tui.view.skills import as_typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_NO, _YES, _WITH_PROMPT = "no", "yes", "prompt"

_CHOICES = (
    Option(_NO, "No summary"),
    Option(_YES, "Summarize"),
    Option(_WITH_PROMPT, "Summarize with custom prompt"),
)


class _Summary(NamedTuple):
    wanted: bool
    instructions: str | None = None


async def _tree(talk: Talk, argument: str) -> None:
    lists = talk.lists
    named = argument or TREE_FILTER.read(talk.session.settings)
    wanted = next((each for each in FILTERS if each == named), None)
    if wanted is None:
        talk.notice(f"{named!r} is not a filter of the tree. Use one of {', '.join(FILTERS)}.", "warning")
        return
    tree = lists.tree()
    if not tree.rows(lambda entry: entry.passes("default")):
        talk.notice("No entries in session")
        return

    async def carry_out(outcome: LabelChanged | EntryCopied) -> None:
        if isinstance(outcome, LabelChanged):
            lists.set_label(outcome.entry_id, outcome.label)
        else:
            talk.screen.clipboards.copy(outcome.text)

    chosen: str | None = None
    while (outcome := await choose_while(talk, TreeSelector(lists.tree(), wanted, chosen), carry_out)) is not None:
        chosen = outcome.value.id
        if lists.tree().is_here(outcome.value.id):
            talk.notice("Already at this point")
            return
        if talk.session.is_streaming:  # before the question about a summary, which would be for nothing
            talk.notice("A prompt is being answered. Wait for it or abort it before moving in the tree.", "warning")
            continue
        summary = await _ask_for_summary(talk)
        if summary is not None:
            await _navigate(talk, outcome.value.id, summary)
            return


async def _ask_for_summary(talk: Talk) -> _Summary | None:
    """Ask whether to summarize the abandoned branch; return None if the user goes back to the tree."""
    if SKIP_SUMMARY_PROMPT.read(talk.session.settings):
        return _Summary(wanted=False)
    while True:
        outcome = await choose(talk, Pick("Summarize branch?", _CHOICES, searched=False))
        if outcome is None:
            return None
        if outcome.value.value != _WITH_PROMPT:
            return _Summary(outcome.value.value == _YES)
        instructions = await talk.ui.editor("Custom summarization instructions")
        if instructions is not None:
            return _Summary(wanted=True, instructions=instructions.strip() or None)


async def _navigate(talk: Talk, entry_id: str, summary: _Summary) -> None:
    if summary.wanted:
        talk.notice("Summarizing the branch...")
    went = await talk.session.navigate_tree(
        entry_id, summarize=summary.wanted, custom_instructions=summary.instructions
    )
    if went.cancelled:
        talk.notice("The conversation is unchanged.", "warning")
        return
    talk.notice("Navigated to selected point")
    if went.editor_text:
        talk.screen.put_text(as_typed(went.editor_text))


def _filters(_talk: Talk) -> Sequence[str]:
    return FILTERS


COMMANDS = {"tree": Command("Show the session tree, and continue from another point: /tree FILTER", _tree, _filters)}
