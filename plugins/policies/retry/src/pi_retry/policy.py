"""Retry policy: whether to retry a failed request, after which delay, and with which model."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pi_hookspecs import PiError, RetryDecision
from pi_retry.kinds import WORTH_WAITING, kind_of, server_hint_ms, status_of
from pi_retry.settings import BASE_DELAY, ENABLED, FAILOVER, JITTER, MAX_AGENT_DELAY, MAX_DELAY, MAX_RETRIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AssistantMessage, Context, LeftOut, Model, PiContext, SettingsView

__all__ = ["Backoff"]

LONGEST_HINT_MS = 60_000

_ANOTHER_MODEL_HELPS = WORTH_WAITING | {"quota", "auth"}


class Backoff:
    """Waits ``retry.baseDelayMs``, doubled each time up to ``retry.maxDelayMs``, or longer if the server asks for it.

    After ``retry.maxRetries`` attempts, and where waiting does not help, the models of ``retry.failover`` are next.
    """

    def decide(self, message: AssistantMessage, attempt: int, ctx: PiContext) -> RetryDecision | None:
        """Return when to retry, or None to give up."""
        settings = ctx.settings
        if not ENABLED.read(settings):
            return None
        model = ctx.model
        kind = kind_of(message, model.context_window if model is not None else None, _host(model))
        retries = MAX_RETRIES.read(settings)
        if kind in WORTH_WAITING and attempt <= retries:
            delay = _delay_ms(message, attempt, settings)
            if delay is not None:
                return RetryDecision(attempt=attempt, max_attempts=retries, delay_ms=delay)
        return _next_model(message, kind, retries, ctx)

    def leave_out(self, message: AssistantMessage, request: Context, attempt: int, ctx: PiContext) -> LeftOut | None:
        """Return the part of a refused request without which it is sent again, and every later one."""
        from pi_core import failure_kind
        from pi_hookspecs.failures import status_in
        from pi_retry.refused import Refusal, refused_part

        text, model = (message.error_message or "").partition("\n")[0], ctx.model
        if model is None:
            return None
        if model.is_virtual:
            model = ctx.find_model(f"{message.provider}/{message.model}")
        status = status_of(message)
        status = status_in(text) if status is None else status
        return refused_part(Refusal(text, status, failure_kind(message, host=_host(model)), model), request, attempt)


def _host(model: Model | None) -> str:
    """Return the host name of a model's server; "" if it is not known."""
    from urllib.parse import urlsplit

    try:
        return (urlsplit(model.base_url).hostname or "") if model is not None else ""
    except ValueError:
        return ""


def _delay_ms(message: AssistantMessage, attempt: int, settings: SettingsView) -> int | None:
    """Return the delay: the server's, but at least the backoff's.

    A server may say 0, but if that is wrong all attempts are used up within milliseconds. None is returned when it asks
    for more than ``retry.provider.maxRetryDelayMs``: the user would wait without knowing why.
    """
    hint = server_hint_ms(message) or 0
    limit = settings.get_number("retry.provider.maxRetryDelayMs", LONGEST_HINT_MS, minimum=0)
    if limit and hint > limit:
        return None
    longest = MAX_DELAY.read(settings, default=MAX_AGENT_DELAY.read(settings, default=MAX_DELAY.default))
    delay: int = min(BASE_DELAY.read(settings) * (1 << min(attempt - 1, 40)), longest)
    jitter: float = JITTER.read(settings)
    spread = round(delay * (1 + random.uniform(-1, 1) * min(jitter, 1.0)))  # noqa: S311 - no secret, only spread
    return max(hint, spread)


def _next_model(message: AssistantMessage, kind: str, retries: int, ctx: PiContext) -> RetryDecision | None:
    """Return a retry with the model after the current one in the user's list."""
    from pi_core import error_text

    names = FAILOVER.read(ctx.settings)
    if not names or kind not in _ANOTHER_MODEL_HELPS or ctx.model is None:
        return None
    # The answer names the model that failed, also where a virtual model chose it.
    present = f"{message.provider}/{message.model}" if ctx.model.is_virtual else ctx.model.reference
    models = _usable(names, ctx)
    following = models[models.index(present) + 1 :] if present in models else models
    if not following:
        return None
    why = error_text(message.error_message or "no reason given").words
    reason = f"{present} failed ({kind}: {why}); continuing with {following[0]}"
    return RetryDecision(attempt=1, max_attempts=max(retries, 1), delay_ms=0, model=following[0], reason=reason)


def _usable(names: Sequence[str], ctx: PiContext) -> list[str]:
    """Return the models that the user names, each once and by its full reference; report unusable ones."""
    models: dict[str, None] = {}
    for name in names:
        try:
            models[ctx.find_model(name).reference] = None
        except PiError as error:
            ctx.ui.notify(f"Model {name!r} of the setting retry.failover is not used: {error}", "warning")
    return list(models)
