"""A model ``router/auto`` that forwards each question: short ones to a small model, others to a large one.

The settings name them: ``"router": {"small": "anthropic/claude-haiku-4-5", "large": "anthropic/claude-opus-4-5"}``.
"""

from collections.abc import AsyncIterator

from pi_hookspecs import (
    AssistantMessageEvent,
    Context,
    Model,
    PiAPI,
    PiContext,
    ProviderInfo,
    StreamOptions,
    UserError,
    UserMessage,
    hookimpl,
)

HARD = ("why", "debug", "design", "refactor", "plan")
LONG = 400
"""Characters from which a question counts as hard, whatever it says."""


@hookimpl
def register_models() -> list[ProviderInfo]:
    auto = Model(id="auto", name="Small or large", api="router", provider="router", reasoning=True)
    return [ProviderInfo(id="router", name="Router", api="router", keyless=True, models=(auto,))]


@hookimpl
def activate(pi: PiAPI) -> None:
    session: PiContext | None = None

    @pi.on("session_start")
    def begin(ctx: PiContext) -> None:
        nonlocal session
        session = ctx

    def stream(model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        assert session is not None  # noqa: S101 - a request is made in a session
        size = "large" if is_hard(context) else "small"
        name = session.settings.get_str(["router", size], None)
        if name is None:
            raise UserError(f"The setting router.{size} names no model: set it to one, as --model takes it.")
        target = session.models.find(name)
        session.ui.set_status("router", target.reference)
        return session.models.stream(target, context, options)

    # The model is known before there is a session, so that --model finds it; who answers for it is known now.
    pi.register_provider("router", register_models()[0], stream=stream)


def is_hard(context: Context) -> bool:
    """Whether the user's last words ask for the large model."""
    prompt = next((each.text for each in reversed(context.messages) if isinstance(each, UserMessage)), "")
    return len(prompt) >= LONG or any(word in prompt.lower().split() for word in HARD)
