"""Which generation a chip belongs to, by the name that npu-smi prints: data in chips.yml, with
sources.

Not for versions or images; those stand in course/versions.yml and are read by `stacks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import yaml

from helpers.doctor.npu_smi import Chip

SUPPORTED = ("A2", "A3", "310P", "A5")
EXPERIMENTAL = ("310P", "A5")
"""310P: docs/source/faqs.md@v0.23.0 of vllm-ascend; A5: its documents name the 950DT only, and two
suffixes for one image.
"""

IDLE_MB = 5120
IDLE_SHARE = 0.1
"""What an idle chip may use: the larger of 5 GiB and a tenth. Idle chips of all generations in
tests/fixtures/ascend/recorded use between 0 and 6154 of 65536 MiB.
"""


@lru_cache(maxsize=1)
def _rules() -> list[tuple[re.Pattern[str], str]]:
    loaded = yaml.safe_load(Path(__file__).with_name("chips.yml").read_text(encoding="utf-8"))
    return [(re.compile(rule["pattern"], re.IGNORECASE), rule["generation"]) for rule in loaded]


def generation(chip: Chip) -> str | None:
    """Return the generation of a chip ("A2", "A3", "310P", "A5", "910", …), None where unknown.

    A bare "910" says too little: with a Phy-ID column it is an A3, with DDR the first generation.
    """
    name = re.sub(r"^ascend[ _-]+", "", chip.name.strip(), flags=re.IGNORECASE)
    found = next((gen for rule, gen in _rules() if rule.fullmatch(name)), None)
    if found or name != "910":
        return found
    if chip.phy_or_device_id is not None:
        return "A3"
    return "910" if chip.ddr_total_mb else None


def of_machine(chips: Iterable[Chip]) -> str | None:
    """Return the generation that all chips share; None where there are none, or several."""
    found = {generation(chip) for chip in chips}
    return found.pop() if len(found) == 1 else None


def idle_limit_mb(chip: Chip) -> float:
    """Return the MiB above which a chip is in use by somebody."""
    return max(IDLE_MB, IDLE_SHARE * (chip.total_mb or 0))
