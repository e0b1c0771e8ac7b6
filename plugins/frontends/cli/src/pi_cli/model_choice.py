"""Selects the model, the reasoning effort and the models to cycle through from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import THINKING_LEVELS, NoModel
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from pi_cli.options import Options
    from pi_core import ModelRegistry, SessionManager
    from pi_core.models.patterns import ModelMatch
    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["ModelChoice", "choice_without_model", "choose_model"]


@frozen(eq=False, repr=False)
class ModelChoice(Value):
    """The selection; None if the session has its own.

    Attributes:
        scope: The models to cycle through.
        warnings: Problems with the options, in full sentences.
        is_open: Whether it can only be made when the session has started, because a plugin may add the model then.
    """

    model: Model | None
    thinking_level: ThinkingLevel | None
    scope: tuple[ModelMatch, ...] = ()
    warnings: tuple[str, ...] = ()
    is_open: bool = False


async def choose_model(options: Options, models: ModelRegistry, session: SessionManager) -> ModelChoice:
    """Select, in order of precedence: options, scope of a new session, the session's own, the saved default, the first.

    ``--api-key`` applies to the selected model.

    Raises:
        UserError: No such model, or no usable one.
    """
    patterns = options.models or models.host.settings.get_str_list("enabledModels")
    scope = models.scope(patterns) if patterns else None
    scoped = scope.models if scope is not None else ()
    level, warnings = _level(options.thinking)
    warnings += scope.warnings if scope is not None else ()
    own = session.build_session_context().model
    if options.model is None and options.provider is None and (own is not None or scoped):
        if own is not None:
            await models.discover([own.provider])
            return ModelChoice(None, level, scoped, warnings)
        return ModelChoice(scoped[0].model, level or scoped[0].thinking_level, scoped, warnings)
    try:
        meant = await models.resolve(options.model, options.provider)
    except NoModel as error:
        servers = [info for info in await models.discover() if info.models]
        if options.provider is not None or not servers:
            raise
        names = " or ".join(f"--model {info.id}/{info.models[0].id}" for info in servers)
        raise NoModel(f"{error} A server on this machine has models: {names}") from error
    if options.api_key is not None:
        models.auth.set_runtime_api_key(meant.model.provider, options.api_key)
    return ModelChoice(meant.model, level or meant.thinking_level, scoped, warnings)


def choice_without_model(options: Options) -> ModelChoice:
    """Return the selection for a session whose model the user chooses later."""
    level, warnings = _level(options.thinking)
    return ModelChoice(None, level, warnings=warnings)


def _level(requested: str | None) -> tuple[ThinkingLevel | None, tuple[str, ...]]:
    if requested is None:
        return None, ()
    level = next((each for each in THINKING_LEVELS if each == requested), None)
    if level is not None:
        return level, ()
    known = ", ".join(THINKING_LEVELS)
    return None, (f'Invalid thinking level "{requested}". Valid values: {known}. Using the default instead.',)
