"""A session's handlers, only those that its settings need."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_redact.settings import PROVIDER, STRICT

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiContext, ToolResultEvent
    from pi_redact.hooks import Hooks

__all__ = ["handlers"]


def handlers(ctx: PiContext) -> dict[str, Callable[..., Any]]:
    """Return the handlers by hook: those for stored entries, and two more if the provider receives marks."""

    @cache
    def hooks() -> Hooks:
        from pi_redact.hooks import Hooks
        from pi_redact.key import mark_key
        from pi_redact.options import Options, read_options
        from pi_redact.prefilter import prefilter_of
        from pi_redact.redactor import Redactor

        options = read_options(ctx.settings) or Options()
        for problem in options.problems:
            ctx.ui.notify(problem, "warning")
        agent_dir = Path(ctx.settings.agent_dir)
        key = mark_key(agent_dir)
        redactor = Redactor(
            key, patterns=options.patterns, strict=options.strict, prefilter=prefilter_of(agent_dir, key)
        )
        return Hooks(redactor, provider=options.provider)

    found: dict[str, Callable[..., Any]] = {
        "session_before_append": lambda event, ctx: hooks().session_before_append(event, ctx),
        "tool_result": _learn_environment_files,
    }
    if PROVIDER.read(ctx.settings):
        found["before_provider_request"] = lambda event, ctx: hooks().before_provider_request(event, ctx)
        found["tool_call"] = lambda event, ctx: hooks().tool_call(event, ctx)
    if STRICT.read(ctx.settings):
        found["before_model_request"] = _refuse_wrong_patterns
    return found


def _learn_environment_files(event: ToolResultEvent, ctx: PiContext) -> None:
    """Add the secrets of an ``.env`` file that a tool has read: they are replaced wherever they occur."""
    if ".env" not in str(event.input):
        return
    from pi_hookspecs import TextContent
    from pi_redact.assignments import environment_values

    if _ENVIRONMENT_FILE.search(" ".join(each for each in event.input.values() if isinstance(each, str))):
        for part in event.content:
            if isinstance(part, TextContent):
                for value in environment_values(part.text):
                    ctx.secrets.add(value)


_ENVIRONMENT_FILE = re.compile(r"(?:^|[\s/'\"=<])\.env(?!\.(?:example|sample|template|dist)\b)(?:\.\w+)?(?![\w.])")


def _refuse_wrong_patterns(_event: Any, ctx: PiContext) -> Any:
    """Refuse requests while a pattern is invalid."""
    from pi_hookspecs import BeforeModelRequestResult
    from pi_redact.options import read_options

    try:
        read_options(ctx.settings)
    except UserError as error:
        return BeforeModelRequestResult(block=True, reason=str(error), exit_code=1)
    return None
