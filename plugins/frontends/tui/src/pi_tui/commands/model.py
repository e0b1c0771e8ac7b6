"""Commands about the model: the current model, its reasoning effort, and the credentials of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import THINKING_LEVELS
from pi_tui.commands.chosen import choose, choose_while
from pi_tui.commands.table import Command
from pi_tui.selectors.models import LevelMadeDefault, MadeDefault, ModelSelector, ThinkingSelector
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.scoped_models import ScopeChanged, ScopedModelSelector, ScopeSaved
from pi_tui.session.facts import problems_of, why_no_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS", "choose_default_model", "choose_level_of_model"]


_SHOWN = {"show": True, "hide": False}

_NO_MODELS = "No provider's models can be used: sign in to one with /login, or set its key."


async def _model(talk: Talk, argument: str) -> None:
    lists = talk.lists
    if argument:
        await _use_model(talk, argument)
        return
    rows = lists.models()
    if not rows:
        talk.notice(why_no_model(talk.session) or _NO_MODELS, "warning")
        return
    outcome = await choose(talk, ModelSelector(rows), MadeDefault)
    if isinstance(outcome, MadeDefault):
        await lists.set_default_model(outcome.value.reference)
        talk.notice(f"Model: {outcome.value.reference}, now the default of new sessions")
    elif outcome is not None:
        await _use_model(talk, outcome.value.reference)


async def choose_default_model(talk: Talk) -> None:
    """Let the user choose the model of this session and of new ones."""
    rows = talk.lists.models()
    if not rows:
        talk.notice(why_no_model(talk.session) or _NO_MODELS, "warning")
        return
    outcome = await choose(talk, ModelSelector(rows), MadeDefault)
    if outcome is not None:
        await talk.lists.set_default_model(outcome.value.reference)
        talk.notice(f"Model: {outcome.value.reference}, now the default of new sessions")


async def choose_level_of_model(talk: Talk) -> None:
    """Let the user choose a model, and the reasoning effort with which its new sessions begin."""
    lists = talk.lists
    chosen = await choose(talk, ModelSelector(lists.models()))
    if chosen is None:
        return
    reference = chosen.value.reference
    options = [Option("", "not set: as for other models"), *(Option(each, each) for each in THINKING_LEVELS)]
    level = await choose(talk, Pick(f"Reasoning effort of new sessions with {reference}", options))
    if level is not None:
        lists.set_setting(f'modelThinkingLevels."{reference}"', level.value.value or None)
        talk.notice(f"Thinking level of {reference} in new sessions: {level.value.value or 'not set'}")


async def _use_model(talk: Talk, name: str) -> None:
    """Use a model, and display warnings about it, e.g. that its provider does not list it."""
    reference = await talk.lists.use_model(name)
    talk.screen.warn(*problems_of(talk.session))
    talk.notice(f"Model: {reference}")


async def _scoped_models(talk: Talk, _argument: str) -> None:
    lists = talk.lists
    rows = lists.models()
    if not rows:
        talk.notice(why_no_model(talk.session) or _NO_MODELS, "warning")
        return

    async def carry_out(outcome: ScopeChanged | ScopeSaved) -> None:
        if isinstance(outcome, ScopeChanged):
            lists.set_scope(outcome.references)
        else:
            lists.save_scope(outcome.references)
            talk.notice("The models to cycle through are saved.")

    await choose_while(talk, ScopedModelSelector(rows, lists.scope()), carry_out)


async def _thinking(talk: Talk, argument: str) -> None:
    if argument in _SHOWN:
        talk.screen.show_thinking(shown=_SHOWN[argument])
        return
    levels = talk.lists.thinking_levels()
    if not argument and len(levels) < 2:  # noqa: PLR2004 - there is nothing to choose
        talk.notice("This model has no reasoning effort to choose.")
        return
    if argument and argument not in levels:
        offered = ", ".join([*levels, *_SHOWN])
        talk.notice(f"{argument!r} is not a thinking level of this model. Use one of {offered}.", "warning")
        return
    if argument:
        await talk.lists.use_thinking_level(argument)
        talk.notice(f"Thinking level: {argument}")
        return
    outcome = await choose(talk, ThinkingSelector(levels, talk.session.thinking_level), LevelMadeDefault)
    if isinstance(outcome, LevelMadeDefault):
        await talk.lists.use_thinking_level(outcome.value.value, as_default=True)
        talk.notice(f"Thinking level: {outcome.value.value}, now the default of new sessions")
    elif outcome is not None:
        await talk.lists.use_thinking_level(outcome.value.value)
        talk.notice(f"Thinking level: {outcome.value.value}")


async def _login(talk: Talk, argument: str) -> None:
    provider = argument or await _provider(talk, "Sign in to which provider?", talk.lists.providers())
    if provider is not None:
        reference = await talk.lists.sign_in(provider)
        if reference is not None:
            talk.notice(f"Model: {reference}. /model chooses another.")


async def _logout(talk: Talk, argument: str) -> None:
    stored = talk.lists.credentials()
    if not argument and not stored:
        talk.notice("Nothing is stored for any provider.")
        return
    provider = argument or await _provider(talk, "Forget the credential of which provider?", stored)
    if provider is not None:
        await talk.lists.sign_out(provider)


async def _provider(talk: Talk, title: str, options: Sequence[Option]) -> str | None:
    outcome = await choose(talk, Pick(title, options))
    return None if outcome is None else outcome.value.value


def _with_login(talk: Talk) -> Sequence[str]:
    return talk.lists.provider_names()


def _stored(talk: Talk) -> Sequence[str]:
    return talk.lists.provider_names(stored=True)


def _models(talk: Talk) -> Sequence[str]:
    return talk.lists.model_names()


def _levels(talk: Talk) -> Sequence[str]:
    return [*talk.lists.thinking_levels(), *_SHOWN]


COMMANDS = {
    "model": Command("Choose the model: /model NAME", _model, _models),
    "scoped-models": Command("Choose the models to cycle through", _scoped_models),
    "thinking": Command("Choose the reasoning effort: /thinking [LEVEL | show | hide]", _thinking, _levels),
    "login": Command("Sign in to a provider, or store its API key: /login PROVIDER", _login, _with_login),
    "logout": Command("Delete the stored login or key of a provider: /logout PROVIDER", _logout, _stored),
}
