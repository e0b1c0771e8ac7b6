"""A model request: what the model is told, the payload, the answer's head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs._markers import Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.events.request import (
        AfterProviderResponseEvent,
        BeforeProviderRequestEvent,
        ContextEvent,
        ContextResult,
    )


@hookspec
@answers(messages=Rule.PIPE, block=Rule.VETO)
async def context(event: ContextEvent, ctx: PiContext) -> ContextResult | None:
    """Change what the model is told in this request, or refuse to make it; the transcript stays as it is.

    Args:
        event: The messages, plugins' own included, before they are converted for the model.
        ctx: The session.

    When: before every request.
    Answers: veto for ``block``, the first wins and no request is made. ``messages`` are piped.
    On error: reported; the messages stay as they were.
    Since: 1.0
    """


@hookspec
@answers(Rule.PIPE, into="payload")
async def before_provider_request(event: BeforeProviderRequestEvent, ctx: PiContext) -> Any:
    """Change the request in the API's own shape; return the whole payload.

    Args:
        event: The payload and the model.
        ctx: The session.

    When: after the codec has made the payload, before it is sent.
    Answers: pipe; each plugin gets the payload that the one before returned. ``None`` leaves it.
    On error: reported; the payload stays as it was.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def after_provider_response(event: AfterProviderResponseEvent, ctx: PiContext) -> None:
    """See the status and headers of an answer, for example its rate limits.

    Args:
        event: Status and headers.
        ctx: The session.

    When: when the answer's head has arrived, before its body.
    Answers: notify; what is returned is ignored.
    On error: reported.
    Since: 1.0
    """
