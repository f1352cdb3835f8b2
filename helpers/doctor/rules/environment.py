"""Variables: graph mode, synchronous errors, leftovers of CUDA, hubs and older courses, proxies,
mirrors.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.doctor.findings import Finding, ok, problem, warning
from helpers.doctor.machine import Machine
from helpers.environment import LOOPBACK

MADE_UP = ("VLLM_LIMIT_MM_PER_PROMPT", "VLLM_ASCEND_MEMORY_PROFILER_ESTIMATE_NPUGRAPHS")
"""Names that no version of vLLM or vllm-ascend reads, though courses and skills set them."""

PROXIES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
MIRRORS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "TORCH_INDEX_URL", "UV_INDEX_URL")
ATOMGIT = ("atomgit", "gitcode")


def graph(machine: Machine) -> Iterator[Finding]:
    """Yield whether a variable forbids graph capture."""
    value = machine.environ.get("TASK_QUEUE_ENABLE")
    if value is None:
        return
    code, evidence = "doctor.graph.task_queue", f"TASK_QUEUE_ENABLE={value}"
    if value == "2":
        yield problem(code, evidence, "doctor.graph.task_queue.two")
    elif value not in ("0", "1"):
        yield warning(code, evidence, "doctor.graph.task_queue.other")
    else:
        yield ok(code, evidence)


def synchronous(machine: Machine) -> Iterator[Finding]:
    """Yield debug variables that are still on: they slow everything down, or fill the disk."""
    value = machine.environ.get("ASCEND_LAUNCH_BLOCKING")
    if value == "1":
        evidence = f"ASCEND_LAUNCH_BLOCKING={value}"
        yield warning("doctor.debug.launch_blocking", evidence, "doctor.debug.launch_blocking.on")
    elif value not in (None, "0"):
        evidence = f"ASCEND_LAUNCH_BLOCKING={value}"
        yield problem("doctor.debug.launch_blocking", evidence, "doctor.debug.launch_blocking.bad")
    level = machine.environ.get("ASCEND_GLOBAL_LOG_LEVEL")
    if level in ("0", "1"):
        evidence = f"ASCEND_GLOBAL_LOG_LEVEL={level}"
        yield warning("doctor.debug.log_level", evidence, "doctor.debug.log_level.loud")


def leftovers(machine: Machine) -> Iterator[Finding]:
    """Yield variables without effect, or with an effect that nobody wants here."""
    environ = machine.environ
    if "CUDA_VISIBLE_DEVICES" in environ:
        evidence = f"CUDA_VISIBLE_DEVICES={environ['CUDA_VISIBLE_DEVICES']}"
        yield warning("doctor.env.cuda", evidence, "doctor.env.cuda.drop")
    unread = [name for name in MADE_UP if name in environ]
    if unread:
        names = ", ".join(unread)
        yield warning("doctor.env.made_up", names, "doctor.env.made_up.drop", names=names)
    plugins = environ.get("VLLM_PLUGINS")
    if plugins is not None and machine.has_npu and "ascend" not in plugins.split(","):
        evidence = f"VLLM_PLUGINS={plugins}"
        yield problem("doctor.env.plugins", evidence, "doctor.env.plugins.drop")
    home = environ.get("ASCEND_HOME_PATH")
    if home and machine.has_npu:
        places = [one.install_path or "" for one in machine.files.values() if one.cann_version]
        known = any(_leads_to(home, path, place) for path, place in _pairs(machine, places))
        if not known:
            evidence = f"ASCEND_HOME_PATH={home}"
            yield warning("doctor.env.cann", evidence, "doctor.env.cann.elsewhere", home=home)
    if "atomgit_hub" in machine.kernel_modules or "atomgit" in machine.kernel_modules:
        yield problem("doctor.env.atomgit", "atomgit_hub", "doctor.env.atomgit.restart")
    else:
        leaked = [n for n in ("HF_HOME", "HF_ENDPOINT") if _of_atomgit(environ.get(n, ""))]
        if leaked:
            evidence = ", ".join(f"{name}={environ[name]}" for name in leaked)
            names = ", ".join(leaked)
            yield warning("doctor.env.atomgit", evidence, "doctor.env.atomgit.unset", names=names)


def hub(machine: Machine) -> Iterator[Finding]:
    """Yield where Hugging Face's libraries were sent elsewhere, or cut off."""
    environ = machine.environ
    endpoint = environ.get("HF_ENDPOINT")
    told = [f"HF_ENDPOINT={endpoint}"] if endpoint and not _of_atomgit(endpoint) else []
    told += [f"{n}={environ[n]}" for n in ("VLLM_USE_MODELSCOPE",) if _is_on(environ.get(n))]
    if told:
        yield warning("doctor.env.hub", ", ".join(told), "doctor.env.hub.note")


def network(machine: Machine) -> Iterator[Finding]:
    """Yield whether a proxy stands between this machine and itself, who has the port, mirrors."""
    environ = machine.environ
    proxy = next((name for name in PROXIES if environ.get(name)), None)
    if proxy:
        free = environ.get("NO_PROXY", "") + "," + environ.get("no_proxy", "")
        listed = {word.strip() for word in free.split(",")}
        evidence = f"{proxy}={environ[proxy]}; NO_PROXY={environ.get('NO_PROXY', '')}"
        if {"127.0.0.1", "localhost"} <= listed or "*" in listed:
            yield ok("doctor.network.loopback", evidence)
        else:
            yield warning(
                "doctor.network.loopback",
                evidence,
                "doctor.network.loopback.proxied",
                names=",".join(LOOPBACK),
            )
    if machine.port_owner is not None:
        evidence = f"127.0.0.1:8000: {machine.port_owner}"
        yield warning("doctor.network.port", evidence, "doctor.network.port.taken")
    mirrors = {name: environ[name] for name in MIRRORS if environ.get(name)}
    if mirrors:
        evidence = ", ".join(f"{name}={value}" for name, value in mirrors.items())
        if any(value.startswith("http://") for value in mirrors.values()):
            yield warning("doctor.network.mirror", evidence, "doctor.network.mirror.plain")
        else:
            yield ok("doctor.network.mirror", evidence)


def _pairs(machine: Machine, places: list[str]) -> list[tuple[str, str]]:
    paths = [path for path, one in machine.files.items() if one.cann_version]
    return list(zip(paths, places, strict=True))


def _leads_to(home: str, path: str, place: str) -> bool:
    """Return True where a CANN package lies at, below or above a home: a release's folder and
    `latest` both lead to the same files.
    """
    base = home.rstrip("/")
    parent = base.rpartition("/")[0]
    return (
        path.startswith(f"{base}/")
        or place == base
        or place.startswith(f"{base}/")
        or (base.endswith("/latest") and path.startswith(f"{parent}/"))
    )


def _of_atomgit(value: str) -> bool:
    return any(word in value.lower() for word in ATOMGIT)


def _is_on(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true", "yes", "on")
