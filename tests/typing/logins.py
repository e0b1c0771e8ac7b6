"""Logins, and the terminal that asks for them, do what the protocols say. Checked by mypy, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_cli.terminal_ui import TerminalUI
    from pi_hookspecs import Login, UserInterface
    from pi_provider_anthropic.login import AnthropicLogin
    from pi_provider_copilot.login import CopilotLogin
    from pi_provider_openai.codex_login import CodexLogin


def logins_are_complete(claude: AnthropicLogin, chatgpt: CodexLogin, copilot: CopilotLogin) -> tuple[Login, ...]:
    return claude, chatgpt, copilot


def the_terminal_can_ask(ui: TerminalUI) -> UserInterface:
    return ui
