"""The settings of packages: a list that the TypeScript pi reads, too, and options with a dot in their names."""

# ruff: noqa: RUF009, FBT003 - as in the schema

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from pi_core.settings.schema_field import setting

__all__ = ["PackageSettings"]


@frozen(kw_only=True)
class PackageSettings:
    """What is installed, and from where."""

    packages: list[str | dict[str, Any]] = setting(
        list, "Packages with plugins, extensions, skills, prompts and themes"
    )
    packages_auto_install: bool = setting(
        True, "Install locked packages that are missing when pi starts", key="packages.autoInstall"
    )
    packages_installer: list[str] = setting(
        list, "Command of uv or pip to install packages with, as a list of words", key="packages.installer"
    )
    packages_index: str | None = setting(
        None,
        "URL of the package index, instead of the one in the configuration of uv or pip",
        key="packages.index",
    )
    packages_find_links: list[str] = setting(
        list, "Folders and web pages with wheels, in addition to the index", key="packages.findLinks"
    )
    packages_allow_builds: bool = setting(
        False, "Allow building dependencies from source, which runs their code", key="packages.allowBuilds"
    )
    packages_min_age_days: float = setting(
        0.0, "Ignore releases that are younger than this many days; needs uv", at_least=0, key="packages.minAgeDays"
    )
    packages_deny: list[str] = setting(
        list, "Patterns of packages that are neither installed nor loaded", key="packages.deny"
    )
    packages_verify: Literal["attested"] | None = setting(
        None,
        "Proof that packages of an index need: `attested` requires a valid attestation of their publisher",
        key="packages.verify",
    )
    packages_catalogues: list[str] = setting(
        list, "Additional catalogues for `pi search`: paths and URLs of JSON files", key="packages.catalogues"
    )
