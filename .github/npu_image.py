"""Print the image of vllm-ascend for a generation of chips and a stack, from course/versions.yml.

Usage: python3 .github/npu_image.py [CHIPS [STACK]]      (defaults: A2, the table's default_stack)

For runners: standard library only, since a new one has no PyYAML. It reads the table's lines, and
a test holds what it reads against the table itself. Not for the course: helpers.doctor.stacks knows
all of a stack.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "course" / "versions.yml"
SYSTEM = "Ubuntu"


def image(chips: str = "", stack: str = "", text: str | None = None) -> str:
    """Return the tag of the Ubuntu image.

    Args:
        chips: "A2", "A3", "310P" or "A5"; "" takes A2.
        stack: an id of the table; "" takes its default.
        text: the table; None reads it.
    Raises:
        LookupError: the table has no such image; says which there are.
    """
    table = TABLE.read_text(encoding="utf-8") if text is None else text
    default = re.search(r"^default_stack: (\S+)$", table, re.M)
    wanted = stack or (default.group(1) if default else "")
    blocks = dict(re.findall(r"^  - id: (\S+)$(.*?)(?=^  - id: |^\S|\Z)", table, re.M | re.S))
    entry = re.compile(rf'- {{chips: "([^"]+)", system: "{SYSTEM} [^"]*", value: "([^"]+)"')
    found = dict(entry.findall(blocks.get(wanted, "")))
    if (chips or "A2") not in found:
        raise LookupError(
            f"no image for chips {chips or 'A2'} of stack {wanted}; "
            f"stacks: {', '.join(blocks)}; chips of this one: {', '.join(found) or '-'}"
        )
    return found[chips or "A2"]


if __name__ == "__main__":
    try:
        print(image(*sys.argv[1:3]))
    except LookupError as error:
        sys.exit(str(error))
