"""Read the table of `npu-smi info`: chips, memory, health, processes. Pure functions on text.

Columns are taken from the table's own head, never from fixed positions: layouts differ between
chips and versions (HBM or not, Phy-ID or Device, NPU ID in a column of its own). What is cut off,
masked or printed as NA is None. Failures of the tool are read by `npu_failures`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from helpers.doctor.reading import clean, decimal, integer

MIB = 2**20
HEALTHY = "OK"
KNOWN_HEALTH = frozenset({"OK", "Warning", "Alarm", "Critical", "UNKNOWN"})
"""Words of the Health column (npu-smi's documents; OK, Warning, Alarm also in recordings).
"""

_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version\s*:\s*([^\s|]+)", re.IGNORECASE)
_HEAD_WORD = re.compile(r"NPU (?:ID|Util)\S*|Process \S+|[^\s|]+")
_PAIR = re.compile(r"([\w.-]+)\s*/\s*([\w.-]+)")
_BUS = re.compile(r"^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]$")
_BUS_LIKE = re.compile(r"^(?:[\w*]+:[\w*]+:[\w*]+\.[\w*]+|NA|N/A|-|)$", re.IGNORECASE)
_IDLE = re.compile(r"No running processes found in NPU\s+(\d{1,9})", re.IGNORECASE)


@dataclass(frozen=True)
class Chip:
    """One chip of the table; a card of an A3 or a 300I Duo gives two with the same `id`.

    Attributes:
        id: the NPU column. Not an ordinal: it may begin anywhere.
        chip: the Chip column, None where the layout has none.
        phy_or_device_id: the Phy-ID (A3) or Device (310P) column, None where there is none.
        name, health: as printed.
        power_w, temp_c: watts, degrees Celsius.
        bus_id: PCI address, None where it is masked.
        hbm_used_mb, hbm_total_mb: HBM-Usage, MiB.
        memory_used_mb, memory_total_mb: Memory-Usage where the table has no HBM column, MiB.
        ddr_used_mb, ddr_total_mb: Memory-Usage where it has both, and it is not empty, MiB.
        utilization_percent: AICore or NPU Util.
    """

    id: int
    chip: int | None = None
    phy_or_device_id: int | None = None
    name: str = ""
    health: str | None = None
    power_w: float | None = None
    temp_c: int | None = None
    bus_id: str | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    ddr_used_mb: int | None = None
    ddr_total_mb: int | None = None
    utilization_percent: int | None = None

    @property
    def label(self) -> str:
        """Return "NPU 4" or, where a card has several chips, "NPU 4 chip 1"."""
        return f"NPU {self.id} chip {self.chip}" if self.chip else f"NPU {self.id}"

    @property
    def used_mb(self) -> int | None:
        """Return the used device memory in MiB: HBM, or what a chip without HBM has."""
        return self.memory_used_mb if self.hbm_used_mb is None else self.hbm_used_mb

    @property
    def total_mb(self) -> int | None:
        """Return the device memory in MiB: HBM, or what a chip without HBM has."""
        return self.memory_total_mb if self.hbm_total_mb is None else self.hbm_total_mb


@dataclass(frozen=True)
class Process:
    """One row of the process table; `name` is cut by npu-smi to about 13 characters."""

    npu_id: int
    chip: int | None
    pid: int
    name: str
    memory_mb: int | None


@dataclass(frozen=True)
class Table:
    """What one `npu-smi info` says.

    Attributes:
        npu_smi_version: of the tool; driver_version: the "Version:" beside it, the driver's.
        chips, processes: in the table's order.
        idle: NPU ids of which it says that nothing runs.
        has_process_part: False where the output ends before it (or was cut).
    """

    npu_smi_version: str | None = None
    driver_version: str | None = None
    chips: tuple[Chip, ...] = ()
    processes: tuple[Process, ...] = ()
    idle: tuple[int, ...] = ()
    has_process_part: bool = False


def table(text: str) -> Table:
    """Return what the last `npu-smi info` in the text says; an empty Table where there is none.

    Lines before and after it (prompts, log lines, other commands) do not matter.
    """
    reader = _Reader()
    for line in clean(text).splitlines():
        version = _VERSION.search(line)
        if version:  # another table begins
            reader = _Reader(version[1], version[2])
        else:
            reader.read(line)
    return reader.table()


def used_memory(text: str) -> dict[tuple[int, int | None], int]:
    """Return the used device memory in bytes by (NPU id, chip); {} where the text has no table.

    A chip whose figure is cut off or NA is left out: unknown is not zero.
    """
    return {
        (chip.id, chip.chip): chip.used_mb * MIB
        for chip in table(text).chips
        if chip.used_mb is not None
    }


class _Reader:
    """Line by line, since any line may be missing."""

    def __init__(self, tool: str | None = None, driver: str | None = None) -> None:
        self.tool, self.driver = tool, driver
        self.chips: list[Chip] = []
        self.processes: list[Process] = []
        self.idle: list[int] = []
        self.heads: dict[str, _Head] = {}
        self.in_processes = False
        self.pending = False  # the first of a chip's two lines was read, the second not yet

    def table(self) -> Table:
        return Table(
            self.tool,
            self.driver,
            chips=tuple(self.chips),
            processes=tuple(self.processes),
            idle=tuple(self.idle),
            has_process_part=self.in_processes,
        )

    def read(self, line: str) -> None:
        idle = _IDLE.search(line)
        if idle:
            self.in_processes = True
            self.idle.append(int(idle[1]))
            return
        start = line.find("|")
        if start < 0 or not line[start:].strip("+-=| \t"):
            return
        cells = _cells(line[start + 1 :].rstrip())
        if self._is_head(cells):
            return
        if self.in_processes or _looks_like_a_process(cells):
            self._process(cells)
        else:
            self._chip(cells)

    def _is_head(self, cells: list[str]) -> bool:
        text = " ".join(cells)
        for kind, mark in (("process", "Process id"), ("first", "Health"), ("second", "Bus-Id")):
            if re.search(rf"(?<!\w){mark}(?!\w)", text, re.IGNORECASE):
                self.heads[kind] = _Head.of(cells, mark)
                self.in_processes = kind == "process"
                self.pending = False
                return True
        return False

    def _chip(self, cells: list[str]) -> None:
        second = self.heads.get("second") or _Head.guessed("second", cells)
        if self.pending and len(cells) > 1 and _BUS_LIKE.match(_at(cells, second.middle)):
            self.pending = False
            self.chips[-1] = _with_second(self.chips[-1], second, cells)
            return
        chip = _first(self.heads.get("first") or _Head.guessed("first", cells), cells)
        if chip:
            self.chips.append(chip)
            self.pending = True

    def _process(self, cells: list[str]) -> None:
        ids = [integer(word) for word in _at(cells, 0).split()]
        pid = integer(_at(cells, 1))
        if not ids or ids[0] is None or pid is None:
            return
        chip = ids[1] if len(ids) > 1 else None
        self.in_processes = True
        self.processes.append(Process(ids[0], chip, pid, _at(cells, 2), integer(_at(cells, 3))))


@dataclass(frozen=True)
class _Head:
    """One head line: the words before, and after, the cell that holds its mark."""

    lead: tuple[str, ...]
    middle: int
    tail: tuple[str, ...]

    @staticmethod
    def of(cells: list[str], mark: str) -> _Head:
        middle = next(i for i, cell in enumerate(cells) if mark.lower() in cell.lower())
        lead = _HEAD_WORD.findall(" ".join(cells[:middle]))
        return _Head(tuple(lead), middle, tuple(_HEAD_WORD.findall(" ".join(cells[middle + 1 :]))))

    @staticmethod
    def guessed(kind: str, cells: list[str]) -> _Head:
        """Return the usual layout where the head is cut off."""
        middle = 1 if len(cells) < 4 else 2
        if kind == "first":
            return _Head(("NPU", "Name"), middle, ("Power(W)", "Temp(C)", "Hugepages-Usage(page)"))
        pairs = len(_PAIR.findall(" ".join(cells[middle + 1 :])))
        tail = ("AICore(%)", "Memory-Usage(MB)", *(("HBM-Usage(MB)",) if pairs > 1 else ()))
        return _Head(("Chip", "Phy-ID"), middle, tail)


def _first(head: _Head, cells: list[str]) -> Chip | None:
    lead = " ".join(cells[: head.middle]).split()
    number = integer(lead[0]) if lead else None
    if number is None or len(lead) < 2 or _BUS.match(_at(cells, head.middle)):
        return None  # no name, or a second line whose first is cut off
    values = _named(head.tail, cells[head.middle + 1 :])
    return Chip(
        id=number,
        name=" ".join(lead[1:]),
        health=_at(cells, head.middle) or None,
        power_w=decimal(values.get("power")),
        temp_c=integer(values.get("temp")),
    )


def _with_second(chip: Chip, head: _Head, cells: list[str]) -> Chip:
    lead = dict(zip(head.lead, " ".join(cells[: head.middle]).split(), strict=False))
    others = [word for name, word in lead.items() if name.lower() != "chip"]
    values = _named(head.tail, cells[head.middle + 1 :])
    bus = _at(cells, head.middle)
    memory, hbm = _pair(values.get("memory-usage")), _pair(values.get("hbm-usage"))
    has_hbm = any(word.lower().startswith("hbm-usage") for word in head.tail)
    chip = replace(
        chip,
        chip=integer(lead.get("Chip")),
        phy_or_device_id=integer(others[0]) if others else None,
        bus_id=bus if _BUS.match(bus) else None,
        utilization_percent=integer(values.get("aicore") or values.get("npu util")),
    )
    if not has_hbm:  # a total of 0 is the empty DDR column of a table whose HBM column is cut off
        memory = memory if memory[1] else (None, None)
        return replace(chip, memory_used_mb=memory[0], memory_total_mb=memory[1])
    chip = replace(chip, hbm_used_mb=hbm[0], hbm_total_mb=hbm[1])
    return replace(chip, ddr_used_mb=memory[0], ddr_total_mb=memory[1]) if memory[1] else chip


def _named(columns: Iterable[str], cells: list[str]) -> dict[str, str]:
    """Return the values of a line's last cells by column, without units: "Power(W)" → "power".

    A pair ("0 / 65536") belongs to a usage column, a single word to another; each in its order, so
    that columns that have drifted, or glued themselves together, do not matter.
    """
    text = " ".join(cells)
    names = [re.sub(r"\(.*", "", column).lower() for column in columns]
    pairs = [name for name in names if name.endswith("usage")]
    singles = [name for name in names if not name.endswith("usage")]
    found = dict(zip(singles, _PAIR.sub(" ", text).split(), strict=False))
    return found | dict(zip(pairs, (m[0] for m in _PAIR.finditer(text)), strict=False))


def _pair(text: str | None) -> tuple[int | None, int | None]:
    used, _, total = (text or "").partition("/")
    return integer(used), integer(total)


def _looks_like_a_process(cells: list[str]) -> bool:
    """Return True for "| 0  0 | 1234 | python | 567 |", whose head may be cut off."""
    return len(cells) >= 4 and integer(cells[1]) is not None and integer(cells[3]) is not None


def _cells(line: str) -> list[str]:
    """Return the cells of a line; where it is cut off, its last word, maybe half a number, goes."""
    closed = line.endswith("|")
    cells = [cell.strip() for cell in line.removesuffix("|").split("|")]
    return cells if closed else [*cells[:-1], cells[-1].rpartition(" ")[0].rstrip()]


def _at(cells: list[str], index: int) -> str:
    return cells[index] if index < len(cells) else ""
