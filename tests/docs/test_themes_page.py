"""The theme on the page docs/themes.md can be used as it is written there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pi_core.resources.theme_resolver import resolve_theme, theme_of_file
from pi_hookspecs import OPTIONAL_THEME_ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "themes.md").read_text(encoding="utf-8")


def test_the_theme_on_the_page_has_every_role_and_no_mistake():
    data = json.loads(re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0])

    resolved, problems = resolve_theme(theme_of_file("sea", data))

    assert problems == ()
    assert resolved.colors["accent"] == data["vars"]["sea"]


def test_the_page_names_the_roles_that_may_be_added():
    assert [role for role in OPTIONAL_THEME_ROLES if f"`{role}`" not in PAGE] == []
