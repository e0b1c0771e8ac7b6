"""Stores provider requests and responses as entries of the session; `/debug-provider` displays them."""

import json
from collections.abc import Sequence
from typing import Any

from pi_hookspecs import (
    AfterProviderResponseEvent,
    BeforeProviderRequestEvent,
    CustomEntry,
    MessageUpdateEvent,
    PiAPI,
    PiContext,
    hookimpl,
)

TYPE = "debug-provider"


@hookimpl
def activate(pi: PiAPI) -> None:
    seen: list[str] = []

    @pi.on("before_provider_request")
    def request(event: BeforeProviderRequestEvent) -> None:
        seen.clear()
        pi.append_entry(TYPE, {"request": event.payload})

    @pi.on("after_provider_response")
    def response(event: AfterProviderResponseEvent) -> None:
        pi.append_entry(TYPE, {"status": event.status, "headers": event.headers})

    @pi.on("message_update")
    def update(event: MessageUpdateEvent) -> None:
        seen.append(event.assistant_message_event.type)

    @pi.on("turn_end")
    def ended() -> None:
        pi.append_entry(TYPE, {"events": list(seen)})

    @pi.register_message_renderer(TYPE)
    def show(entry: CustomEntry, *, width: int, expanded: bool) -> Sequence[str]:
        lines = json.dumps(entry.data, indent=2, ensure_ascii=False).splitlines()
        return [line[:width] for line in (lines if expanded else lines[:10])]

    @pi.register_command("debug-provider", description="Show the latest request and what came of it")
    def latest(args: str, ctx: PiContext) -> None:
        record: dict[str, Any] = {}
        for entry in ctx.session.branch():
            if isinstance(entry, CustomEntry) and entry.custom_type == TYPE:
                record |= entry.data
        ctx.ui.notify(json.dumps(record, indent=2, ensure_ascii=False) if record else "Nothing was asked yet.")
