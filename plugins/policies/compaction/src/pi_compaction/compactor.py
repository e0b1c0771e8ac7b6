"""One compaction: plans it, requests the summary, and stores details of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pi_compaction import prompts
from pi_compaction.asking import Answer, Question, ask, budget
from pi_compaction.cut import find_cut, find_helpful_cut
from pi_compaction.files import FileLists
from pi_compaction.limits import Limits, limits_of
from pi_compaction.pins import Pins, pins, pins_of_entry, pins_text
from pi_compaction.serialise import serialise
from pi_compaction.size import branch_tokens, text_tokens
from pi_hookspecs import Compaction, CompactionPreparation, NoModel, PiError, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_compaction.context_messages import ReadBranch
    from pi_hookspecs import AgentMessage, CompactionEntry, CompactionRequest, PiContext

__all__ = ["compact", "prepare"]

_HISTORY_SHARE = 0.8
_PREFIX_SHARE = 0.5


class _SummaryText(NamedTuple):
    """The model's summary, and its usage."""

    text: str
    usage: Usage
    requests: int


def prepare(request: CompactionRequest, ctx: PiContext, branch: ReadBranch) -> CompactionPreparation | None:
    """Return the plan of a compaction of a branch; None when there is nothing to summarise."""
    limits = _limits(ctx)
    entries, previous, messages = branch.entries, branch.previous, branch.messages
    find = find_cut if request.reason == "manual" else find_helpful_cut
    cut = find(branch, limits.keep)
    if cut is None:
        return None
    files = FileLists()
    files.add_summary(previous)
    files.add_calls(messages[: cut.kept])
    pinned = pins(entries[: cut.kept], messages[: cut.kept], previous, ctx)
    usage = ctx.context_usage()
    tokens = usage.tokens if usage is not None else None
    return CompactionPreparation(
        first_kept_entry_id=entries[cut.kept].id,
        entries_to_summarize=tuple(entries[: cut.summarised]),
        turn_prefix_entries=tuple(entries[cut.summarised : cut.prefix]),
        tokens_before=tokens if tokens is not None else branch_tokens(request.entries),
        previous_summary=_model_part(previous),
        details={**files.details(), "pinned": pinned},
    )


async def compact(request: CompactionRequest, ctx: PiContext, branch: ReadBranch) -> Compaction | None:
    """Return the compaction of a branch; None when there is nothing to compact.

    Raises:
        Aborted: It was aborted.
        PiError: The summary failed, or is longer than the text it replaces.
    """
    preparation = request.preparation or prepare(request, ctx, branch)
    if preparation is None:
        return None
    seen = _SeenMessages(branch, preparation)
    summed = await _summarise(preparation, seen, request, ctx)
    replaced = seen.dropped_tokens + text_tokens(preparation.previous_summary or "")
    if text_tokens(summed.text) >= replaced:
        raise PiError(
            f"Summarization failed: the summary (about {text_tokens(summed.text)} tokens) is not shorter than what"
            f" it would replace (about {replaced})"
        )
    files = FileLists()
    files.add_details(preparation.details)
    pinned = preparation.details["pinned"]
    summary = summed.text + pins_text(pinned) + files.text()
    return Compaction(
        summary=summary,
        first_kept_entry_id=preparation.first_kept_entry_id,
        tokens_before=preparation.tokens_before,
        details={**files.details(), "receipt": _receipt(request, seen, summed, pinned)},
        usage=summed.usage,
    )


class _SeenMessages:
    """The messages of a compaction as the model saw them, with context edits applied, including later ones."""

    def __init__(self, branch: ReadBranch, preparation: CompactionPreparation) -> None:
        places = {entry.id: place for place, entry in enumerate(branch.entries)}
        history = [places[entry.id] for entry in preparation.entries_to_summarize if entry.id in places]
        prefix = [places[entry.id] for entry in preparation.turn_prefix_entries if entry.id in places]
        self.history = _present(branch.messages[place] for place in history)
        self.prefix = _present(branch.messages[place] for place in prefix)
        self.dropped = len(preparation.entries_to_summarize) + len(preparation.turn_prefix_entries)
        self.dropped_tokens = sum(branch.sizes[place] for place in (*history, *prefix))
        first = places.get(preparation.first_kept_entry_id, len(branch.entries))
        self.kept = len(branch.entries) - first
        self.kept_tokens = sum(branch.sizes[first:])


def _receipt(request: CompactionRequest, seen: _SeenMessages, summed: _SummaryText, pinned: Pins) -> dict[str, Any]:
    """Return the details to store: what was summarised and what was kept."""
    files = FileLists()
    files.add_calls((*seen.history, *seen.prefix))
    touched = sorted({*files.read, *files.modified})
    return {
        "reason": request.reason,
        "dropped": {"entries": seen.dropped, "tokens": seen.dropped_tokens, "files": touched},
        "kept": {"entries": seen.kept, "tokens": seen.kept_tokens},
        "pinned": pinned,
        "requests": summed.requests,
        "cost": summed.usage.cost.total,
    }


async def _summarise(
    preparation: CompactionPreparation, seen: _SeenMessages, request: CompactionRequest, ctx: PiContext
) -> _SummaryText:
    """Request the summary; for a turn that is split, also one of its beginning, after that of the history."""
    history, prefix = serialise(seen.history), serialise(seen.prefix)
    previous, focus = preparation.previous_summary, request.custom_instructions
    answers: list[Answer] = []

    async def answer(parts: list[str], instructions: str, share: float, **more: Any) -> str:
        most = budget(share, _limits(ctx).reserve, ctx)
        wanted = Question(parts, instructions, "compaction", most, focus=focus, **more)
        answers.append(await ask(wanted, ctx, request.signal, request.reason))
        return answers[-1].text

    text = previous
    if history:
        form = prompts.UPDATE if previous else prompts.FIRST
        text = await answer(history, form, _HISTORY_SHARE, previous=previous)
    if prefix:
        begun = await answer(prefix, prompts.PREFIX, _PREFIX_SHARE, failure="Turn prefix summarization failed")
        text = prompts.merged(text, begun)
    return _SummaryText(text or "", sum((each.usage for each in answers), Usage()), len(answers))


def _limits(ctx: PiContext) -> Limits:
    limits = limits_of(ctx)
    if limits is None:
        raise NoModel("No model is available to summarize the conversation. Choose one with --model PROVIDER/ID.")
    return limits


def _model_part(previous: CompactionEntry | None) -> str | None:
    """Return the previous summary without the file lists and pins after it, which are carried over separately."""
    if previous is None:
        return None
    files = FileLists()
    files.add_summary(previous)
    summary = previous.summary.removesuffix(files.text())
    return summary.removesuffix(pins_text(pins_of_entry(previous))).strip() or None


def _present(messages: Iterable[AgentMessage | None]) -> list[AgentMessage]:
    return [message for message in messages if message is not None]
