"""uv, pip and the pip of ``ensurepip`` give the same; without any the error says what to install."""

from __future__ import annotations

import sys

import pytest

from pi_hookspecs import UserError
from pi_packages import installers
from pi_packages.installers import find_installer


@pytest.mark.slow
def test_without_uv_the_pip_that_python_brings_installs_the_same(bench, monkeypatch):
    bench.library("zztide", "1.0")
    bench.plugin("tides", requires=("zztide", "attrs"))
    monkeypatch.setattr(installers, "find_program", lambda *_: None)
    monkeypatch.setattr(installers.shutil, "which", lambda *_, **__: None)

    bench.ok("install", "tides")

    assert bench.installed() == {"pluggypi-tides": "1.0", "zztide": "1.0"}
    assert (bench.agent_dir / "pylock.pi.toml").read_text().count("sha256") == 2


@pytest.mark.slow
def test_the_users_words_come_first(bench):
    bench.set("packages.installer", [sys.executable, "-c", "raise SystemExit('sunk')"])
    bench.plugin("tides")

    assert "sunk" in bench.fails("install", "tides")


def test_without_any_installer_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(installers, "find_program", lambda *_: None)
    monkeypatch.setattr(installers.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(installers, "_bundled_pip", lambda: None)
    monkeypatch.setattr(installers.sys, "executable", "/bin/false")

    with pytest.raises(UserError, match=r"Neither uv nor pip .* Install uv"):
        find_installer([], tmp_path, {})
