"""What was read of a machine, as data: outputs of tools, texts of files, facts of the system.

`probe` fills it in, the rules draw findings from it, tests write it down. It decides nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from helpers.doctor import version_files
from helpers.doctor.npu_failures import Failure, failure
from helpers.doctor.npu_smi import Table, table

GIB = 2**30

# Read once, though many rules ask; by text, since a Machine may be copied with another one.
_table = lru_cache(maxsize=16)(table)
_failure = lru_cache(maxsize=16)(failure)
_version_file = lru_cache(maxsize=64)(version_files.read)


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tool(_Data):
    """One external command that was run, or was not.

    Attributes:
        state: ran, missing (no such command), timeout, or error (could not be started).
        output: its standard output and error, in that order.
        returncode: exit status, None unless it ran.
    """

    state: Literal["ran", "missing", "timeout", "error"] = "missing"
    output: str = ""
    returncode: int | None = None


class Node(_Data):
    """A device node under /dev, and what this user may do with it."""

    name: str
    readable: bool = True
    writable: bool = True
    group: str | None = None


class Engine(_Data):
    """The interpreter that runs vLLM, as it answered.

    Attributes:
        python: path of the executable; origin: as helpers.interpreters names it.
        versions: by distribution (PEP 503 names), and "python".
        plugins: names of the entry points of vllm.platform_plugins.
        glibc: version that it runs on, None elsewhere than on glibc.
        error: why it did not answer, None if it did.
    """

    python: str
    origin: str = "PATH"
    versions: dict[str, str] = Field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    glibc: str | None = None
    error: str | None = None


class Place(_Data):
    """A directory that the course writes to.

    Attributes:
        path: as shown to people.
        free: bytes that this user may still write; None where unknown.
        writable: False where it, or the nearest parent that exists, refuses writing.
        kept: False where its file system goes with the container (overlay, tmpfs); None: unknown.
    """

    path: str
    free: int | None = None
    writable: bool = True
    kept: bool | None = None


class Notebook(_Data):
    """The notebook server that runs this kernel, if any.

    Attributes:
        inside: True where this process is, or was started by, a Jupyter kernel or server.
        widgets: True where ipywidgets is importable by this kernel's Python.
        kernelspec: True where the kernel "minicpm-labs" is registered for this user.
        platform: "modelarts" or "atomgit" where a variable or path says so.
    """

    inside: bool = False
    widgets: bool = True
    kernelspec: bool = False
    platform: str | None = None


class Deep(_Data):
    """What the engine's interpreter said when torch_npu and vLLM were really imported."""

    tool: Tool
    torch_npu: str | None = None
    devices: int | None = None
    platform: str | None = None
    error: str | None = None


class Machine(_Data):
    """Everything that the rules look at; a field that could not be read is None or empty.

    Attributes:
        system, arch: as platform.system() and platform.machine() say.
        os: PRETTY_NAME of /etc/os-release.
        python: version of this kernel's Python; glibc: of this process.
        uid, user, groups: of this process; user is None where the uid has no passwd entry.
        container: True inside a container; docker: True where the docker command exists.
        environ: variables, secrets left out.
        nodes: /dev/davinci* and the manager nodes, by name.
        npu_smi: the run of `npu-smi info`; `npus` and `npu_failure` read it.
        version_texts: texts of version files by path.
        cann_scripts: CANN's and NNAL's set_env.sh that exist.
        engine: None where no interpreter with vLLM was found.
        weights, state: where weights and the course's state go.
        shm, memory: bytes of /dev/shm, bytes of memory that are available.
        port_owner: who listens on the course's port 8000, None if nobody.
        vllm_processes: "pid name" of processes named VLLM::… that no server of ours accounts for.
        kernel_modules: "atomgit_hub" and others that this kernel has imported and should not.
        deep: only where it was asked for.
    """

    system: str = "Linux"
    arch: str = "aarch64"
    os: str | None = None
    python: str = "3.11.0"
    glibc: str | None = None
    uid: int | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()
    container: bool = False
    docker: bool = False
    environ: dict[str, str] = Field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    npu_smi: Tool = Tool()
    version_texts: dict[str, str] = Field(default_factory=dict)
    cann_scripts: tuple[str, ...] = ()
    engine: Engine | None = None
    weights: Place | None = None
    state: Place | None = None
    shm: int | None = None
    memory: int | None = None
    port_owner: str | None = None
    vllm_processes: tuple[str, ...] = ()
    kernel_modules: tuple[str, ...] = ()
    notebook: Notebook = Notebook()
    deep: Deep | None = None

    @property
    def npus(self) -> Table:
        """Return what `npu-smi info` says."""
        return _table(self.npu_smi.output)

    @property
    def npu_failure(self) -> Failure | None:
        """Return why `npu-smi info` has no table, as far as its text says."""
        return _failure(self.npu_smi.output)

    @property
    def files(self) -> dict[str, version_files.VersionFile]:
        """Return the version files by path, read."""
        return {path: _version_file(text) for path, text in self.version_texts.items()}

    @property
    def ordinals(self) -> list[int]:
        """Return the numbers of the /dev/davinciN nodes, sorted."""
        numbers = (node.name.removeprefix("davinci") for node in self.nodes)
        return sorted(int(number) for number in numbers if number.isdecimal())

    @property
    def has_npu(self) -> bool:
        """Return True where any trace of an NPU is seen: a node, a table, a driver, or a tool that
        is there and fails.
        """
        return bool(
            self.nodes
            or self.npus.chips
            or self.npu_smi.state in ("ran", "timeout", "error")
            or any(found.driver_version for found in self.files.values())
        )
