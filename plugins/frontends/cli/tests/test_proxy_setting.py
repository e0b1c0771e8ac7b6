"""``httpProxy`` in the user's settings is the proxy of pi and of the programs that it starts."""

from __future__ import annotations

import json
import os

import pytest

from pi_cli.options import Options
from pi_cli.project import open_host


@pytest.mark.parametrize(("place", "is_used"), [("agent/settings.json", True), ("work/.pi/settings.json", False)])
def test_the_users_proxy_is_used_and_a_projects_is_not(tmp_path, monkeypatch, place, is_used):
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "environ", {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "agent")})
    for folder in ("agent", "work/.pi"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / place).write_text(json.dumps({"httpProxy": "http://127.0.0.1:9"}))

    open_host(tmp_path / "work", os.environ, Options(approve=True), ())

    assert os.environ.get("HTTPS_PROXY") == ("http://127.0.0.1:9" if is_used else None)
