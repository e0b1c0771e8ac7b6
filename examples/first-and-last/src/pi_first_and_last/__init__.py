"""Compacts a conversation without a model: keeps user messages and the last exchange, and removes the rest."""

from pi_hookspecs import Compaction, CompactionRequest, MessageEntry, PiContext, Service, UserMessage, hookimpl


class FirstAndLast:
    """A ``Compactor``: the summary is what the user asked for, word for word."""

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Keep everything from the user's last message on; with one message alone there is nothing to do."""
        messages = [(entry.id, entry.message) for entry in request.entries if isinstance(entry, MessageEntry)]
        asked = [(entry_id, message.text) for entry_id, message in messages if isinstance(message, UserMessage)]
        if not asked[1:]:
            return None
        usage = ctx.context_usage()
        return Compaction(
            summary="The user asked, in this order:\n" + "\n".join(f"- {text}" for _, text in asked[:-1]),
            first_kept_entry_id=asked[-1][0],
            tokens_before=(usage.tokens if usage else None) or 0,
        )


@hookimpl
def register_services() -> list[Service]:
    return [FirstAndLast()]
