"""Summarizes the whole conversation in one request when it is compacted, with a cheap model if there is one."""

from pi_hookspecs import (
    Compaction,
    Context,
    MessageEntry,
    Model,
    PiContext,
    PiError,
    SessionBeforeCompactEvent,
    SessionBeforeCompactResult,
    SideRequest,
    UserMessage,
    hookimpl,
    text_of,
)

CHEAP_MODEL = "google/gemini-2.5-flash"
INSTRUCTIONS = "Sum up this conversation for a colleague who goes on with it: goals, decisions, files, what is left."


@hookimpl
async def session_before_compact(event: SessionBeforeCompactEvent, ctx: PiContext) -> SessionBeforeCompactResult | None:
    plan = event.preparation
    conversation = [
        entry.message
        for entry in (*plan.entries_to_summarize, *plan.turn_prefix_entries)
        if isinstance(entry, MessageEntry)
    ]
    parts = [
        plan.previous_summary or "",
        *(f"[{message.role}] {text_of(getattr(message, 'content', ''))}" for message in conversation),
    ]
    ctx.ui.notify(f"Summing up {len(conversation)} messages...")
    answer = await ctx.complete(
        Context(system_prompt=INSTRUCTIONS, messages=(UserMessage(content="\n\n".join(filter(None, parts))),)),
        SideRequest(purpose="compaction", signal=event.signal, reason=event.reason, model=_cheap_model(ctx)),
    )
    if answer.stop_reason == "error" or not answer.text:
        return None  # the installed compactor does it
    return SessionBeforeCompactResult(
        compaction=Compaction(
            summary=answer.text,
            first_kept_entry_id=plan.first_kept_entry_id,
            tokens_before=plan.tokens_before,
            usage=answer.usage,
        )
    )


def _cheap_model(ctx: PiContext) -> Model | None:
    try:
        return ctx.find_model(CHEAP_MODEL)
    except PiError:
        return None  # not known, or without a key: the session's model
