"""Compacts a conversation without a model: what the user said stays, and the last exchange; the rest goes."""

from pi_hookspecs import Compaction, CompactionRequest, MessageEntry, PiContext, Service, UserMessage, hookimpl


class FirstAndLast:
    """A ``Compactor``: the summary is what the user asked for, word for word."""

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        asked = [
            entry
            for entry in request.entries
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
        ]
        if len(asked) < 2:  # noqa: PLR2004 - the last one stays, so there must be another that goes
            return None
        usage = ctx.context_usage()
        return Compaction(
            summary="The user asked, in this order:\n" + "\n".join(f"- {entry.message.text}" for entry in asked[:-1]),
            first_kept_entry_id=asked[-1].id,
            tokens_before=(usage.tokens if usage else None) or 0,
        )


@hookimpl
def register_services() -> list[Service]:
    return [FirstAndLast()]
