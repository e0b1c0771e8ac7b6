"""A virtual model ``plan-edit/auto``: a strong model reads and plans, a cheap one continues once files are edited.

The settings name them: ``"router": {"plan": "anthropic/claude-opus-4-8", "edit": "anthropic/claude-haiku-4-5"}``.
"""

from pi_hookspecs import (
    AssistantMessage,
    PiContext,
    Route,
    RouteRequest,
    ToolResultMessage,
    UserError,
    UserMessage,
    VirtualModel,
    hookimpl,
)

EDITS = {"edit", "write"}


@hookimpl
def register_models() -> list[VirtualModel]:
    return [
        VirtualModel(
            provider="plan-edit",
            id="auto",
            name="Plan with a strong model, edit with a cheap one",
            route=route,
            thinking_levels=("off", "low", "medium", "high"),
            context_window=200_000,
            max_tokens=32_000,
            input=("text", "image"),
        )
    ]


def route(request: RouteRequest, ctx: PiContext) -> Route:
    role = role_of(request)
    name = ctx.settings.get_str(["router", role], None)
    if name is None:
        raise UserError(f"the setting router.{role} names no model; set it to one, as --model takes it")
    return name, request.thinking_level if role == "plan" else "low"


def role_of(request: RouteRequest) -> str:
    """Return ``edit`` for summaries and while edits succeed, else ``plan``: also after a step that failed."""
    if request.reason == "direct":
        return "edit"
    failed = edited = False
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolResultMessage) and not edited:
            failed = failed or message.is_error
        elif isinstance(message, AssistantMessage):
            if failed:
                return "plan"
            edited = edited or any(call.name in EDITS for call in message.tool_calls)
    return "edit" if edited else "plan"
