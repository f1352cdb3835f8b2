"""Read the topics of `npu-smi info -t …`, `-m` and `-l`: board, health, usages, memory, processes.

Pure functions on text. Keys are looked up by name, so that a topic of another version that has more
lines, or fewer, is read as far as it is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from helpers.doctor import npu_smi
from helpers.doctor.reading import clean, decimal, integer

_PROCESS = re.compile(
    r"Process id\s*:\s*(\d+)\s+Process name\s*:\s*(.*?)\s+Process memory\(MB\)\s*:\s*(\d+)", re.I
)
_MAPPING = re.compile(r"^\s*NPU ID\s+Chip ID\s+Chip Logic ID", re.I)
_CODE = re.compile(r"\b[0-9A-F]{8}\b")
_EMPTY = {"", "na", "n/a", "-"}


@dataclass(frozen=True)
class Mapped:
    """A row of `npu-smi info -m`: where a chip is, by three counts."""

    id: int
    chip_id: int
    logic_id: int | None
    name: str


@dataclass(frozen=True)
class Topic:
    """What a topic says; None where it does not. Sizes in MiB, temperatures in degrees Celsius."""

    driver_version: str | None = None
    firmware_version: str | None = None
    product_name: str | None = None
    chip_name: str | None = None
    chip_type: str | None = None
    bus_id: str | None = None
    chip_count: int | None = None
    total_count: int | None = None
    hbm_capacity_mb: int | None = None
    hbm_usage_percent: int | None = None
    hbm_temp_c: int | None = None
    ddr_capacity_mb: int | None = None
    aicore_count: int | None = None
    temp_c: int | None = None
    power_w: float | None = None
    health: str | None = None
    error_codes: tuple[str, ...] = ()
    processes: tuple[npu_smi.Process, ...] = ()
    chips: tuple[Mapped, ...] = ()


def topic(text: str) -> Topic:
    """Return what the text of one topic says about the first chip that it names."""
    cleaned = clean(text)
    said = _fields(cleaned)
    return Topic(
        driver_version=said.get("software version"),
        firmware_version=said.get("firmware version"),
        product_name=said.get("product name"),
        chip_name=said.get("chip name"),
        chip_type=said.get("chip type"),
        bus_id=said.get("pcie bus info"),
        chip_count=integer(said.get("chip count")),
        total_count=integer(said.get("total count")),
        hbm_capacity_mb=integer(said.get("hbm capacity(mb)")),
        hbm_usage_percent=integer(said.get("hbm usage rate(%)")),
        hbm_temp_c=integer(said.get("hbm temperature(c)")),
        ddr_capacity_mb=integer(said.get("ddr capacity(mb)")),
        aicore_count=integer(said.get("aicore count")),
        temp_c=integer(said.get("temperature(c)")),
        power_w=decimal(said.get("npu real-time power(w)")),
        health=said.get("health status") or said.get("health"),
        error_codes=tuple(_CODE.findall(said.get("error code", ""))),
        processes=tuple(
            npu_smi.Process(integer(said.get("npu id")) or 0, None, int(m[1]), m[2], int(m[3]))
            for m in _PROCESS.finditer(cleaned)
        ),
        chips=mapping(cleaned),
    )


def mapping(text: str) -> tuple[Mapped, ...]:
    """Return the rows of `npu-smi info -m`, without the controller (Mcu), which is no chip."""
    rows, inside = [], False
    for line in clean(text).splitlines():
        if _MAPPING.match(line):
            inside = True
            continue
        cells = [cell for cell in re.split(r"\s{2,}|\t+", line.strip()) if cell]
        if not inside or len(cells) < 4 or integer(cells[0]) is None or integer(cells[1]) is None:
            continue
        name = " ".join(cells[3:])
        if name.lower() != "mcu":
            rows.append(Mapped(int(cells[0]), int(cells[1]), integer(cells[2]), name))
    return tuple(rows)


def _fields(text: str) -> dict[str, str]:
    """Return key (lower case) → value; the first chip's, and nothing of the controller's part."""
    said: dict[str, str] = {}
    for part in re.split(r"\n\s*\n", text):
        last = ""
        own: dict[str, str] = {}
        for line in part.splitlines():
            key, colon, value = line.partition(":")
            if not colon:
                continue
            name = re.sub(r"\s+", " ", key.strip().lower())
            if name:
                own.setdefault(name, value.strip())
                last = name
            elif last:
                own[last] = f"{own[last]} {value.strip()}".strip()
        if own.get("chip name", "").lower() != "mcu":
            said = own | said
    return {name: value for name, value in said.items() if value.lower() not in _EMPTY}
