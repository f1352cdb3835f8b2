"""Read the version files of Ascend's software: CANN (install info, version.cfg, version.info),
NNAL, driver, firmware. Pure functions on text; a paste with prompts or line numbers is read too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERED = re.compile(r"^\s*\d+\s{2,}")
_KEY = re.compile(r"^\s*([A-Za-z_][\w .-]*?)\s*[=:]\s*(.*?)\s*$")
_INNER = re.compile(r"\[[^:\]]*:([^\]]+)\]")
_CANN_HOME = re.compile(r"/(?:ascend-toolkit|nnae|nnrt|cann)(?:[/-]|$)")
_RANGE = re.compile(r"\[([^,\]]*),?([^\]]*)\]")


@dataclass(frozen=True)
class VersionFile:
    """What one of these files says; None where it is another kind of file.

    Attributes:
        cann_version: release name, for instance "8.5.1" or "8.2.RC1".
        arch, install_path: of a CANN package.
        nnal_version: release of NNAL's ATB.
        driver_version, firmware_version: of the driver's or the firmware's own version.info.
        driver_install_path: from /etc/ascend_install.info.
        compatible_firmware: (lowest, highest) that the driver names.
        compatible_drivers: (from, up to) pairs that the firmware names.
    """

    cann_version: str | None = None
    arch: str | None = None
    install_path: str | None = None
    nnal_version: str | None = None
    driver_version: str | None = None
    firmware_version: str | None = None
    driver_install_path: str | None = None
    compatible_firmware: tuple[str, str] | None = None
    compatible_drivers: tuple[tuple[str, str], ...] = ()


def read(text: str) -> VersionFile:
    """Return what a version file says; which kind it is follows from its keys."""
    said = _fields(text)
    path = said.get("path", "")
    package = said.get("package_name", "").lower()
    is_cann = "cann" in package or (not package and bool(_CANN_HOME.search(path)))
    cann = said.get("version") if is_cann else None
    if cann is None:
        cann = said.get("version_dir", "").removeprefix("cann-") or _from_cfg(said)
    firmware = "firmware_version" in said or "compatible_version_drv" in said
    driver = "ascendhal_version" in said or "compatible_version_fw" in said
    fits = _RANGE.search(said.get("compatible_version_fw", ""))
    return VersionFile(
        cann_version=cann,
        arch=said.get("arch") if is_cann else None,
        install_path=(path or None) if is_cann else None,
        nnal_version=said.get("ascend-cann-atb") or said.get("ascend-cann-nnal"),
        driver_version=said.get("version") if driver and not firmware else None,
        firmware_version=said.get("version") if firmware else None,
        driver_install_path=said.get("driver_install_path_param"),
        compatible_firmware=(fits[1], fits[2]) if fits else None,
        compatible_drivers=tuple(_RANGE.findall(said.get("compatible_version_drv", ""))),
    )


def _from_cfg(said: dict[str, str]) -> str | None:
    """Return the release of version.cfg: the part after the colon of [inner:release]."""
    first = ("toolkit_running_version", "runtime_running_version")
    others = (name for name in said if name.endswith("running_version"))
    for name in (*first, *others):
        found = _INNER.search(said.get(name, ""))
        if found:
            return found[1]
    return None


def _fields(text: str) -> dict[str, str]:
    """Return key (lower case) → value, the first one of each."""
    said: dict[str, str] = {}
    for line in text.splitlines():
        match = _KEY.match(_NUMBERED.sub("", line))
        if match and match[2]:
            said.setdefault(match[1].lower(), match[2].strip("\"'"))
    return said
