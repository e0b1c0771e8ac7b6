"""The settings of ``pi install`` and its siblings; what is installed, and what may be loaded, the engine decides."""

from __future__ import annotations

from typing import Any

from pi_hookspecs import PluginSetting

__all__ = [
    "ALLOW_BUILDS",
    "AUTO_INSTALL",
    "CATALOGUES",
    "FIND_LINKS",
    "INDEX",
    "INSTALLER",
    "MIN_AGE_DAYS",
    "MODEL_DATA",
    "SETTINGS",
    "UPDATE_MODELS",
    "VERIFY",
]

_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "default": []}

INSTALLER = PluginSetting(
    "packages.installer",
    schema=_TEXTS,
    description="Command of uv or pip to install packages with, as a list of words",
    project="nothing",
)
INDEX = PluginSetting(
    "packages.index",
    schema={"type": "string"},
    description="URL of the package index, instead of the one in the configuration of uv or pip",
    project="nothing",
)
FIND_LINKS = PluginSetting(
    "packages.findLinks",
    schema=_TEXTS,
    description="Folders and web pages with wheels, in addition to the index",
    project="nothing",
)
ALLOW_BUILDS = PluginSetting(
    "packages.allowBuilds",
    schema={"type": "boolean", "default": False},
    description="Allow building dependencies from source, which runs their code",
    project="nothing",
)
MIN_AGE_DAYS = PluginSetting(
    "packages.minAgeDays",
    schema={"type": "number", "minimum": 0, "default": 0.0},
    description="Ignore releases that are younger than this many days; needs uv",
    project="nothing",
)
VERIFY = PluginSetting(
    "packages.verify",
    schema={"enum": ["attested"]},
    description="Proof that packages of an index need: `attested` requires a valid attestation of their publisher",
    project=("attested",),
)
CATALOGUES = PluginSetting(
    "packages.catalogues",
    schema=_TEXTS,
    description="Additional catalogues for `pi search`: paths and URLs of JSON files",
    project="nothing",
)
AUTO_INSTALL = PluginSetting(
    "packages.autoInstall",
    schema={"type": "boolean", "default": True},
    description="Install locked packages that are missing when pi starts",
    project="disable",
)
MODEL_DATA = PluginSetting(
    "packages.modelData",
    schema={**_TEXTS, "default": ["npm:@earendil-works/pi-ai", "pypi:litellm"]},
    description="The packages from which `pi update --models` takes data about models; empty for none",
    project="nothing",
)
UPDATE_MODELS = PluginSetting(
    "packages.updateModels",
    schema={"type": "boolean", "default": False},
    description="Run `pi update --models` once a day in the background; what it fetches counts from the next start",
    project="nothing",
)
SETTINGS = (
    *(AUTO_INSTALL, INSTALLER, INDEX, FIND_LINKS, ALLOW_BUILDS, MIN_AGE_DAYS, VERIFY, CATALOGUES),
    *(MODEL_DATA, UPDATE_MODELS),
)
