"""The publisher of a file according to the index (PEP 740), stored in the lock file to detect a change of publisher.

This is continuity, not proof: the index is trusted, and no signature is verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["provenance_of", "publisher_of"]

_SIMPLE = {"Accept": "application/vnd.pypi.simple.v1+json"}
_SECONDS = 20.0


def publisher_of(table: Mapping[str, Any], find_index: Callable[[], str | None]) -> str | None:
    """Return the publisher of a locked distribution, as in ``github sea/tides release.yml``; None if none is known.

    Args:
        table: Its table of the lock file.
        find_index: Returns the address of the index that it comes from.

    Raises:
        UserError: The index cannot be asked.
    """
    wheels = [each for each in table.get("wheels", ()) if str(each.get("url")).startswith(("https://", "http://"))]
    hashes = {file["hashes"]["sha256"] for file in wheels if "sha256" in file.get("hashes", {})}
    return _named(provenance_of(table["name"], hashes, find_index))


def provenance_of(name: str, hashes: set[str], find_index: Callable[[], str | None]) -> Any:
    """Return the index's provenance of the first of these files that it knows; None if there is none.

    Args:
        name: The distribution.
        hashes: The SHA-256 of files.
        find_index: Returns the address of the index; only called if there are files.

    Raises:
        UserError: The index cannot be asked.
    """
    index = find_index() if hashes else None
    if index is None:
        return None
    import httpx

    try:
        with httpx.Client(timeout=_SECONDS, follow_redirects=True) as client:
            page = client.get(f"{index.rstrip('/')}/{name}/", headers=_SIMPLE)
            page.raise_for_status()
            if "json" not in page.headers.get("content-type", ""):
                return None  # an index without provenance
            address = _provenance(page.json(), hashes)
            if address is None:
                return None
            found = client.get(str(page.url.join(address)))
            found.raise_for_status()
            return found.json()
    except (httpx.HTTPError, ValueError) as error:
        raise UserError(f"the index does not name the publisher of {name}: {error}") from error


def _provenance(page: Any, hashes: set[str]) -> str | None:
    files = page.get("files", ()) if isinstance(page, dict) else ()
    found = (file.get("provenance") for file in files if file.get("hashes", {}).get("sha256") in hashes)
    return next((each for each in found if isinstance(each, str)), None)


def _named(provenance: Any) -> str | None:
    """Return the first publisher of a provenance object as one text."""
    bundles = provenance.get("attestation_bundles", ()) if isinstance(provenance, dict) else ()
    for bundle in bundles:
        publisher = bundle.get("publisher", {})
        parts = [publisher.get(key) for key in ("kind", "repository", "workflow")]
        named = " ".join(str(part) for part in parts if part)
        if named:
            return named
    return None
