"""Tests of where weights are looked for and put, and of the plan that is shown before a download."""

from __future__ import annotations

from pathlib import Path

import pytest
from light import light_hub
from light.light_hub import REPO

from helpers import catalog, messages
from helpers.download import clientfiles, errors, places, plan
from helpers.download.record import Listing
from helpers.download.verify import verified

pytestmark = pytest.mark.usefixtures("own_state")
SHARD = "model-00001-of-00002.safetensors"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "source", shard=2000)


@pytest.fixture
def listing(source: Path) -> Listing:
    return light_hub.listed(source)


@pytest.fixture
def searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return three places of a search list: a fixed path, a persistent directory, a cache."""
    roots = [tmp_path / name for name in ("opt", "work", "modelscope")]
    monkeypatch.setattr(places, "SEARCHED", tuple(f"{root}/{{name}}" for root in roots))
    return [root / "Light" for root in roots]


def copy(source: Path, place: Path) -> Path:
    """Return a complete copy."""
    place.mkdir(parents=True)
    for path in source.iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    return place


def test_complete_copy_is_found_wherever_it_is(
    source: Path, listing: Listing, searched: list[Path]
) -> None:
    copy(source, searched[2])
    searched[0].mkdir(parents=True)
    (searched[0] / "config.json").write_text("{}")

    assert places.choose(REPO, listing) == searched[2]


def test_place_where_a_download_was_begun_is_taken_again(
    listing: Listing, searched: list[Path]
) -> None:
    searched[0].parent.mkdir()
    (searched[1] / ".cache" / "huggingface" / "download").mkdir(parents=True)

    assert places.choose(REPO, listing) == searched[1]


def test_first_writable_place_with_room_is_taken(
    listing: Listing, searched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in searched:
        place.parent.mkdir()
    full = searched[0].parent
    monkeypatch.setattr(places, "free", lambda place: 0 if full in place.parents else 10**12)

    assert places.choose(REPO, listing) == searched[1]


def test_directory_of_somebody_else_is_not_taken(listing: Listing, searched: list[Path]) -> None:
    searched[0].mkdir(parents=True)
    (searched[0] / "thesis.tex").write_text("mine")

    assert places.choose(REPO, listing) == places.own(REPO)


def test_another_programs_cache_is_never_written(listing: Listing, searched: list[Path]) -> None:
    searched[2].parent.mkdir()

    assert places.choose(REPO, listing) == places.own(REPO)


def test_search_list_is_that_of_the_catalogue() -> None:
    for entry in catalog.labs().values():
        for place in entry["model_dirs"].get("ascend", []):
            repo = f"OpenBMB/{entry['model']}"
            known = [one.format(name=entry["model"], repo=repo) for one in places.SEARCHED]
            assert str(place).replace("$HOME", "~") in known


def test_volatile_file_system_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Part:
        def __init__(self, mountpoint: Path, fstype: str) -> None:
            self.mountpoint, self.fstype = str(mountpoint), fstype

    parts = [Part(Path("/"), "overlay"), Part(tmp_path / "kept", "ext4")]
    monkeypatch.setattr(places.psutil, "disk_partitions", lambda all: parts)
    (tmp_path / "kept").mkdir()

    assert places.volatile(tmp_path / "new" / "model") == "overlay"
    assert places.volatile(tmp_path / "kept" / "model") == ""


def test_plan_tells_what_is_there_what_is_wrong_and_what_is_not_ours(
    source: Path, listing: Listing, tmp_path: Path
) -> None:
    target = copy(source, tmp_path / "target")
    (target / SHARD).unlink()
    (target / "tokenizer.json").write_text("edited")
    (target / "notes.txt").write_text("mine")
    messages.use("en")

    made = plan.make(listing, target)

    assert [one.path for one in made.missing] == [SHARD]
    assert [one.path for one in made.wrong] == ["tokenizer.json"]
    assert made.extra == ("notes.txt",)
    assert made.bytes == sum((source / n).stat().st_size for n in (SHARD, "tokenizer.json"))
    shown = "\n".join(made.lines())
    assert "tokenizer.json" in shown and "notes.txt" in shown and "5 files" in shown


def test_plan_tells_another_revisions_file_from_a_learners(
    source: Path, listing: Listing, tmp_path: Path
) -> None:
    target = copy(source, tmp_path / "target")
    known = verified(target, listing).files
    (source / SHARD).write_bytes(b"\0" * 4000)
    (source / "README.md").write_text("next revision")
    (target / "README.md").write_text("mine")

    made = plan.make(light_hub.listed(source), target, known)

    assert [one.path for one in made.outdated] == [SHARD]
    assert [one.path for one in made.wrong] == ["README.md"]
    assert "1" in made.lines()[3]


def test_plan_counts_what_a_partial_file_has(
    source: Path, listing: Listing, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    hashes = {one.path: one.hash for one in listing.files}
    partial = clientfiles.partial_path(target, SHARD, str(hashes[SHARD]))
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"\0" * 1500)

    assert plan.make(listing, target).here == 1500


def test_plan_without_room_is_refused(
    listing: Listing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan.make(listing, tmp_path / "target")
    monkeypatch.setattr(places, "free", lambda place: made.bytes - 1)

    with pytest.raises(errors.NoRoom):
        plan.need_room(made)

    assert not (tmp_path / "target").exists()


def test_directory_that_cannot_be_made_is_refused(listing: Listing, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(errors.NotWritable) as caught:
        plan.need_room(plan.make(listing, tmp_path / "file" / "target"))

    assert caught.value.original


def test_file_set_aside_keeps_its_content_and_loses_the_clients_note(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("mine")
    note = clientfiles.metadata_path(tmp_path, "config.json")
    note.parent.mkdir(parents=True)
    note.write_text("commit\netag\n1\n")

    first = clientfiles.set_aside(tmp_path, "config.json")
    (tmp_path / "config.json").write_text("again")
    second = clientfiles.set_aside(tmp_path, "config.json")

    assert first and second and first != second
    assert (first.read_text(), second.read_text()) == ("mine", "again")
    assert not note.exists()
    assert clientfiles.set_aside(tmp_path, "config.json") is None


def test_pieces_of_a_download_are_removed_and_a_learners_file_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    kept = clientfiles.set_aside(tmp_path, "README.md")
    partial = clientfiles.partial_path(tmp_path, "sub/x.bin", "e" * 64)
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"piece")
    clientfiles.set_partial_aside(tmp_path, "sub/x.bin", "e" * 64)

    clientfiles.drop_partials(tmp_path)

    left = [path for path in (tmp_path / clientfiles.ASIDE).rglob("*") if path.is_file()]
    assert left == [kept]
