"""The optional packages, by what they are for: which are there, and how to get the others."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

_PACKAGE = "anchorview"
_FOR_DEVELOPERS = ("dev",)
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([\w,\s-]+)\])?\s*\(?(?:>=\s*([\d.]+))?[^;]*;(.*)$")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


def find_extras(requirements: list[str] | None = None) -> list[dict[str, Any]]:
    """Return the optional packages of every extra.

    Parameters
    ----------
    requirements : list of str, optional
        What the package needs, as its metadata have it; by default those of the installed package.

    Returns
    -------
    list of dict
        ``extra``, ``package``, ``least`` (the oldest version that will do, or None), ``installed`` (its version, or
        None), ``recent`` (whether it is there and new enough) and ``command``, which installs it.

    Examples
    --------
    >>> find_extras(['numpy>=1.26', 'none-such>=2; extra == "cloud"'])[0]["command"]
    "pip install 'anchorview[cloud]'"
    """
    if requirements is None:
        try:
            requirements = metadata.requires(_PACKAGE) or []
        except metadata.PackageNotFoundError:  # the source, without having been installed
            requirements = []
    direct: dict[str, dict[str, str | None]] = {}
    includes: dict[str, list[str]] = {}
    for text in requirements:
        parts = _REQUIREMENT.match(text)
        extra = _EXTRA.search(parts.group(4)) if parts else None
        if parts is None or extra is None:
            continue
        if parts.group(1) == _PACKAGE:
            includes.setdefault(extra.group(1), []).extend(re.split(r"\s*,\s*", (parts.group(2) or "").strip()))
        else:
            direct.setdefault(extra.group(1), {})[parts.group(1)] = parts.group(3)
    names = [name for name in dict.fromkeys([*direct, *includes]) if name not in _FOR_DEVELOPERS]
    return [
        _describe(name, package, least)
        for name in names
        for package, least in _packages(name, direct, includes, ()).items()
    ]


def _packages(
    name: str, direct: dict[str, dict[str, str | None]], includes: dict[str, list[str]], above: tuple[str, ...]
) -> dict[str, str | None]:
    """Return the packages of an extra, those of the extras that it includes among them."""
    found: dict[str, str | None] = {}
    for other in includes.get(name, []):
        if other not in (*above, name):
            found |= _packages(other, direct, includes, (*above, name))
    return found | direct.get(name, {})


def _describe(extra: str, package: str, least: str | None) -> dict[str, Any]:
    try:
        installed: str | None = metadata.version(package)
    except metadata.PackageNotFoundError:
        installed = None
    return {
        "extra": extra,
        "package": package,
        "least": least,
        "installed": installed,
        "recent": installed is not None and (least is None or _numbers(installed) >= _numbers(least)),
        "command": f"pip install '{_PACKAGE}[{extra}]'",
    }


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without trailing zeros: 1.10 comes after 1.9."""
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
