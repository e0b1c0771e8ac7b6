"""A plugin that requires other versions of pi's packages is not imported, and the user reads what it needs."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from packaging.version import Version

HERE = Version(version("pluggypi-hookspecs"))
NEXT, THIS = HERE.major + 1, f"{HERE.major}.{HERE.minor}"
LISTENS = "@hookimpl\ndef turn_start(event): pass\n"


@pytest.fixture
def requiring(site):
    """Install a plugin, or change it, so that it requires something; return its file."""

    def install(*requires, source=LISTENS):
        file = next(site.folder.glob("acme_*.py"), None) or site.install("acme", source)
        site.metadata("acme", {"acme": file.stem}, requires=requires)
        (site.folder / f"{len(list(site.folder.iterdir()))}.pth").touch()  # something has changed
        return file

    return install


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        (f"pluggypi-hookspecs>={NEXT}", f">={NEXT}, and pluggypi-hookspecs {HERE} is installed. Update pi"),
        (f"pluggypi_hookspecs ~= {NEXT}.1", "Update pi"),
        (f"PluggyPi.Core>{HERE}", "Update pi"),
        ("pluggypi-core<1", f"Install a version of acme for pi {THIS}"),
        (f"pluggypi-cli!={HERE}", f"Install a version of acme for pi {THIS}"),
        (f"pluggypi-core=={NEXT}.*; python_version > '3'", "Update pi"),
    ],
)
def test_one_that_does_not_fit_is_not_imported(site, requiring, problems, requires, expected):
    requiring(requires)

    for _ in ("cold", "warm"):
        host = site.host()
        ((plugin, step, message),) = problems(host)
        host.load_listeners()

        assert (plugin, step, host.records["acme"].loads) == ("acme", "import", False)
        assert message.startswith("not loaded: it needs pluggypi-")
        assert message.endswith(expected)
        assert site.imported() == []


@pytest.mark.parametrize(
    "requires",
    [
        f"pluggypi-hookspecs>={HERE.major},<{NEXT}",
        "pluggypi-hookspecs",
        f"pluggypi-hookspecs>={NEXT}; python_version < '3'",
        f"pluggypi-hookspecs>={NEXT}; extra == 'later'",
        f"pluggypi-that-is-not-installed>={NEXT}",
        "pluggy>=1",
        "no requirement at all !",
    ],
)
def test_one_that_fits_is_loaded(site, requiring, problems, requires):
    requiring(requires)
    host = site.host()

    assert problems(host) == []
    assert host.records["acme"].loads


def test_it_is_loaded_when_it_fits(site, requiring):
    requiring(f"pluggypi-hookspecs>={NEXT}")
    assert not site.host().records["acme"].loads

    requiring(f"pluggypi-hookspecs>={HERE}")

    assert site.host().records["acme"].loads


def test_a_guard_that_does_not_fit_any_more_refuses(site, requiring):
    requiring(source="@hookimpl\ndef tool_call(event): pass\n")
    assert site.host().records["acme"].guards == ["tool_call"]
    requiring(f"pluggypi-hookspecs>={NEXT}")

    host = site.host()
    host.load_listeners()
    (implementation,) = host.dispatcher(print).implementations("tool_call")

    assert implementation.defect.startswith(f"it needs pluggypi-hookspecs>={NEXT}")
