"""Advice before a download or a start: does it fit, and if not, what to lower and by how much.

The arithmetic is `memory`'s; this puts a model, options and a machine together and forms findings.
It starts nothing and downloads nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from helpers import catalog, messages
from helpers.doctor import memory, stacks
from helpers.doctor.findings import STATUS_CODES, Finding, ok, problem, warning
from helpers.doctor.machine import Machine
from helpers.doctor.memory import GIB, Budget, Shape
from helpers.doctor.npu_smi import MIB, Chip
from helpers.options import Options
from helpers.tables import Table

TEXT_TOKENS = 512
"""Left for the question and the answer beside the pictures of a prompt."""

TERMS = {
    "usable": "doctor.term.usable",
    "requested": "doctor.term.requested",
    "weights": "doctor.term.weights",
    "activations": "doctor.term.activations",
    "non_torch": "doctor.term.non_torch",
    "kv_cache": "doctor.term.kv_cache",
    "graphs": "doctor.term.graphs",
}
STEP = 256
"""Suggested lengths are multiples of this."""


@dataclass(frozen=True)
class Advice:
    """The terms of the formula and what follows from them.

    Attributes:
        budget: for one device; None where its memory is unknown.
        findings: in the order in which a start would meet them.
    """

    budget: Budget | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Return True where no finding is a problem."""
        return all(one.status != "problem" for one in self.findings)

    @property
    def terms(self) -> Table:
        """Return the formula's terms as a table, in GiB."""
        return terms(self.budget) if self.budget else Table((), [])

    def __str__(self) -> str:
        lines = [str(self.terms), ""] if self.budget else []
        for one in self.findings:
            mark = messages.text(STATUS_CODES[one.status])
            lines.append(f"[{mark}] {one.name}: {one.evidence}")
            lines += [f"    {one.advice}"] if one.advice else []
        return "\n".join(lines)

    __repr__ = __str__


def before_download(size: int, free: int, path: str) -> Advice:
    """Return whether a download of `size` bytes has room in the `free` bytes of a place.

    A tenth more is asked for: parts and checks lie beside the files while they arrive.
    """
    needed = int(size * 1.1)
    evidence = f"{path}: {gib(free)} GiB; {gib(needed)} GiB"
    if free >= needed:
        return Advice(None, (ok("doctor.preflight.disk", evidence),))
    lacking = gib(needed - free)
    found = problem(
        "doctor.preflight.disk", evidence, "doctor.preflight.disk.full", path=path, lacking=lacking
    )
    return Advice(None, (found,))


def before_start(
    shape: Shape,
    options: Options,
    *,
    usable: int | None,
    free: int | None = None,
    devices: int = 1,
    vllm: str = "0.23.0",
) -> Advice:
    """Return whether a server with these options fits, and what to change where it does not.

    Args:
        usable: bytes of one device as torch sees it (`features.memory_of`); None where unknown.
        free: bytes of it that are free now; None means all.
        devices: how many the server may see.
        vllm: version whose defaults hold where an option is None.
    """
    size = options.tensor_parallel_size or 1
    share = options.gpu_memory_utilization or float(catalog.default("gpu_memory_utilization", vllm))
    found = [_parallel(shape, size, devices)]
    length = options.max_model_len or shape.max_context
    if length is not None:
        found += _context(shape, options, length)
    if usable is None:
        return Advice(None, tuple(found))
    terms = memory.budget(
        shape,
        usable,
        free=free,
        gpu_memory_utilization=share,
        tensor_parallel_size=size,
        max_num_seqs=options.max_num_seqs or 256,
        max_num_batched_tokens=max(8192, length or 0) if shape.image_tokens else 8192,
        enforce_eager=bool(options.enforce_eager),
    )
    found.append(_start(terms, share))
    if length is not None:
        found.append(_cache(terms, length, share))
    return Advice(terms, tuple(found))


def on_machine(shape: Shape, options: Options, machine: Machine) -> Advice:
    """Return `before_start` for the chips that a program on this machine would get.

    The chip with the least free memory decides; a machine without an NPU has no device memory to
    divide, so that only context, pictures and parallelism are judged.
    """
    chips = _visible(machine, options)
    usable, free = _memory(chips)
    stack = stacks.of_engine(machine.engine.versions) if machine.engine else None
    return before_start(
        shape,
        options,
        usable=usable,
        free=free,
        devices=max(1, len(chips)),
        vllm=(stack or stacks.default())["vllm"]["value"],
    )


def _visible(machine: Machine, options: Options) -> list[Chip]:
    """Return the chips that are asked for, else those that the environment leaves, else all."""
    text = machine.environ.get("ASCEND_RT_VISIBLE_DEVICES", "")
    words = options.devices or [int(word) for word in text.split(",") if word.strip().isdecimal()]
    chips = machine.npus.chips
    return [chips[number] for number in words if number < len(chips)] or list(chips)


def _memory(chips: list[Chip]) -> tuple[int | None, int | None]:
    """Return usable and free bytes of the chip with the least; what an idle chip "uses" is the
    firmware's, and not counted twice.
    """
    told = []
    for chip in chips:
        if chip.total_mb:
            usable = int(chip.total_mb * MIB * memory.USABLE_SHARE)
            held = chip.total_mb * MIB - usable
            told.append((usable - max(0, (chip.used_mb or 0) * MIB - held), usable))
    if not told:
        return None, None
    free, usable = min(told)
    return usable, free


def terms(budget: Budget) -> Table:
    """Return the terms as a table: what, GiB, how it comes about."""
    rows = [(messages.text(code), gib(getattr(budget, name))) for name, code in TERMS.items()]
    rows.append((messages.text("doctor.term.token_bytes"), f"{budget.token_bytes:,} B"))
    rows.append((messages.text("doctor.term.tokens"), f"{budget.tokens:,}"))
    return Table((messages.text("doctor.term"), "GiB"), rows)


def told(budget: Budget) -> str:
    """Return the formula with its figures, on one line: what is asked for less what is taken."""
    taken = (budget.weights, budget.activations, budget.non_torch)
    parts = " - ".join(gib(part) for part in (budget.requested, *taken))
    cache = f"{gib(budget.kv_cache)} GiB / {budget.token_bytes:,} B"
    return f"{parts} = {cache} = {budget.tokens:,} tokens"


def gib(size: int) -> str:
    """Return bytes in GiB with two decimals."""
    return f"{size / GIB:.2f}"


def _parallel(shape: Shape, size: int, devices: int) -> Finding:
    code = "doctor.preflight.parallel"
    evidence = f"tensor_parallel_size={size}; {devices} devices; {shape.heads} heads"
    fitting = [n for n in range(1, devices + 1) if shape.heads % n == 0]
    best = max(fitting, default=1)
    if size > devices:
        return problem(code, evidence, "doctor.preflight.parallel.devices", best=best)
    if shape.heads % size:
        return problem(code, evidence, "doctor.preflight.parallel.heads", best=best)
    return ok(code, evidence)


def _context(shape: Shape, options: Options, length: int) -> list[Finding]:
    """Return whether the context is one that the model has, and one that the pictures fit into."""
    code, found = "doctor.preflight.context", []
    if shape.max_context is not None:
        evidence = f"max_model_len={length}; max_position_embeddings={shape.max_context}"
        if length > shape.max_context:
            longest = shape.max_context
            found.append(problem(code, evidence, "doctor.preflight.context.long", longest=longest))
        else:
            found.append(ok(code, evidence))
    images = (options.limit_mm_per_prompt or {}).get("image")
    count = images.get("count") if isinstance(images, dict) else images
    if not shape.image_tokens or not isinstance(count, int):
        return found
    needed = math.ceil((count * shape.image_tokens + TEXT_TOKENS) / STEP) * STEP
    evidence = f"{count} x {shape.image_tokens} + {TEXT_TOKENS} = {needed}; max_model_len={length}"
    if needed <= length:
        return [*found, ok("doctor.preflight.images", evidence)]
    fits = max(0, (length - TEXT_TOKENS) // shape.image_tokens)
    advice = "doctor.preflight.images.many"
    return [
        *found,
        warning("doctor.preflight.images", evidence, advice, needed=needed, fits=fits),
    ]


def _start(terms: Budget, share: float) -> Finding:
    """Return whether vLLM would start at all: it wants its whole share free."""
    code = "doctor.preflight.start"
    evidence = f"{gib(terms.free)} / {gib(terms.usable)} GiB; {share} = {gib(terms.requested)} GiB"
    possible = math.floor(round(terms.free / terms.usable * 100, 6) - 1) / 100
    if terms.free < terms.requested:
        return problem(code, evidence, "doctor.preflight.start.free", possible=max(0.0, possible))
    if terms.requested + terms.graphs > terms.usable:
        room = math.floor((terms.usable - terms.graphs) / terms.usable * 100) / 100
        return warning(code, evidence, "doctor.preflight.start.graphs", possible=room)
    return ok(code, evidence)


def _cache(terms: Budget, length: int, share: float) -> Finding:
    """Return whether one sequence of the full length fits into the KV cache."""
    code, evidence = "doctor.preflight.memory", told(terms)
    if terms.tokens >= length:
        at_once = terms.tokens / length
        return ok(code, evidence, "doctor.preflight.memory.room", times=f"{at_once:.1f}")
    lacking = (length - terms.tokens) * terms.token_bytes - min(0, terms.kv_cache)
    raised = math.ceil((share + lacking / terms.usable) * 100) / 100
    shorter = terms.tokens // STEP * STEP
    if terms.kv_cache <= 0 or shorter < STEP:
        return problem(code, evidence, "doctor.preflight.memory.weights", lacking=gib(lacking))
    if raised <= min(0.95, terms.free / terms.usable):
        advice = "doctor.preflight.memory.raise"
        return problem(code, evidence, advice, shorter=shorter, raised=raised, lacking=gib(lacking))
    return problem(
        code, evidence, "doctor.preflight.memory.shorter", shorter=shorter, lacking=gib(lacking)
    )
