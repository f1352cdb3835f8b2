"""A fake Ascend machine: a folder with devices, CANN's scripts, version files and an npu-smi that
prints what it is told. Files only; nothing in it pretends to be an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
TOOLKIT = """#!/bin/bash
# as CANN's own: reads variables that may be unset, ends in a test that may be false
export ASCEND_TOOLKIT_HOME={base}/usr/local/Ascend/ascend-toolkit/latest
export ASCEND_HOME_PATH=$ASCEND_TOOLKIT_HOME
export LD_LIBRARY_PATH=$ASCEND_TOOLKIT_HOME/lib64:$LD_LIBRARY_PATH
[ -n "$ASCEND_NEVER_SET" ] && export NEVER=1
true
"""
ATB = """#!/bin/bash
export ATB_HOME_PATH={base}/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_1
export LD_LIBRARY_PATH=$ATB_HOME_PATH/lib:$LD_LIBRARY_PATH
"""
INSTALL = """package_name=Ascend-cann-toolkit
version={cann}
arch=aarch64
os=linux
path=/usr/local/Ascend/ascend-toolkit/{cann}/aarch64-linux
"""


def make(
    root: Path,
    *,
    cards: Sequence[int] = (0,),
    cann: str = "9.1.0",
    npu_smi: str | None = None,
    script: str | None = None,
) -> Path:
    """Return the folder, filled.

    Args:
        cards: numbers of the davinci nodes.
        npu_smi: what `npu-smi info` prints; None leaves the tool out.
        script: body of an npu-smi of the test's own, in its place.
    """
    ascend = root / "usr/local/Ascend"
    for name in (*(f"davinci{card}" for card in cards), *MANAGERS):
        _write(root / "dev" / name, "")
    _write(ascend / "ascend-toolkit/set_env.sh", TOOLKIT.format(base=root))
    _write(ascend / "nnal/atb/set_env.sh", ATB.format(base=root))
    info = INSTALL.format(cann=cann)
    real = ascend / f"ascend-toolkit/{cann}/aarch64-linux"
    _write(real / "ascend_toolkit_install.info", info)
    (ascend / "ascend-toolkit/latest").symlink_to(cann)
    _write(ascend / "nnal/atb/latest/version.info", f"    Ascend-cann-atb : {cann}\n")
    _write(ascend / "driver/version.info", "Version=25.5.0\nascendhal_version=7.35.23\n")
    _write(root / "etc/os-release", 'PRETTY_NAME="openEuler 24.03 (LTS-SP3)"\n')
    if npu_smi is not None:
        table = root / "table.txt"
        _write(table, npu_smi)
        script = f'[ "$1" = info ] && exec cat {table}'
    if script is not None:
        tool = root / "usr/local/bin/npu-smi"
        _write(tool, f"#!/bin/bash\n{script}\n")
        tool.chmod(0o755)
    return root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
