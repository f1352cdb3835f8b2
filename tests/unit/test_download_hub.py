"""Tests of asking a hub: what it lists, what it refuses, answers that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from light import light_hub
from light.light_hub import REPO, Handler

from helpers import download
from helpers.download import errors
from helpers.download.hub import Hub
from helpers.download.patience import Patience
from helpers.download.record import Listing
from helpers.download.verify import verified
from helpers.errors import LabError

pytestmark = pytest.mark.usefixtures("own_state")
QUICK = Patience(connect=1, answer=1, tries=2, pause=0.01)
SHARD = "model-00001-of-00002.safetensors"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return light_hub.checkpoint(tmp_path / "source", shard=2000)


def ask(source: Path, handler: type[Handler] = Handler, revision: str | None = None) -> Listing:
    """Return what a hub with this handler lists."""
    with download.loopback_hub(source, REPO, handler=handler) as hub:
        return Hub(REPO, hub.url, patience=QUICK).listing(revision)


def test_listing_has_every_file_with_size_and_hash(source: Path) -> None:
    listing = ask(source)

    assert [one.path for one in listing.files] == sorted(p.name for p in source.iterdir())
    assert all(one.size == (source / one.path).stat().st_size for one in listing.files)
    kinds = {one.path: one.algorithm for one in listing.files}
    assert (kinds[SHARD], kinds["config.json"]) == ("sha256", "git-sha1")
    assert verified(source, listing).complete


def test_listing_at_a_known_commit_asks_for_no_file_again(source: Path) -> None:
    with download.loopback_hub(source, REPO) as hub:
        asked = Hub(REPO, hub.url, patience=QUICK)
        known = verified(source, asked.listing())
        hub.asked.clear()

        again = asked.listing(known=known)

    assert again.files == known.listing().files
    assert [line.split()[0] for line in hub.asked] == ["GET", "GET"]


def test_listing_of_a_commit_is_that_of_its_branch(source: Path) -> None:
    commit = ask(source).commit

    listing = ask(source, revision=commit)

    assert (listing.revision, listing.commit) == (commit, commit)


def master_only(handler: type[Handler] = Handler) -> type[Handler]:
    class MasterOnly(handler):  # type: ignore[valid-type,misc]
        def _route(self, *, body: bool) -> None:
            if self.path.rstrip("/") == f"/api/models/{REPO}":
                return self.refuse(404)
            if self.path.endswith("/main"):
                return self.refuse(404)
            self.path = self.path.replace("/master", "/main")
            return super()._route(body=body)

    return MasterOnly


def test_default_branch_that_the_hub_does_not_tell_is_found(source: Path) -> None:
    assert ask(source, master_only()).revision == "master"


def test_large_repository_without_names_is_listed_by_its_tree(source: Path) -> None:
    class Large(Handler):
        def revision(self) -> dict[str, object]:
            return {**super().revision(), "siblings": []}

    assert len(ask(source, Large).files) == 7


def test_redirect_within_the_hub_is_followed(source: Path) -> None:
    class Renamed(Handler):
        def _route(self, *, body: bool) -> None:
            if "/resolve/" in self.path and not self.path.startswith("/moved/"):
                return self.refuse(307, {"Location": f"/moved{self.path}"})
            self.path = self.path.removeprefix("/moved")
            return super()._route(body=body)

    assert ask(source, Renamed).files == ask(source).files


def test_file_without_a_hash_is_listed_without_one(source: Path) -> None:
    class NoTag(Handler):
        def send_header(self, keyword: str, value: str) -> None:
            if keyword not in ("ETag", "X-Linked-Etag"):
                super().send_header(keyword, value)

    listing = ask(source, NoTag)

    assert all(one.hash is None and one.size for one in listing.files)
    assert not verified(source, listing).complete


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/../../b", "a\\..\\b", ""])
def test_name_that_leads_out_of_the_directory_is_refused(source: Path, name: str) -> None:
    class Leading(Handler):
        def revision(self) -> dict[str, object]:
            return {**super().revision(), "siblings": [{"rfilename": name}]}

    with pytest.raises(errors.HubStrange):
        ask(source, Leading)


def page(status: int = 200) -> type[Handler]:
    """Return a login page that answers in the hub's place."""

    class Page(Handler):
        def _route(self, *, body: bool) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "24")
            self.end_headers()
            if body:
                self.wfile.write(b"<html>Please log in</html"[:24])

    return Page


@pytest.mark.parametrize("value", [[], {"id": 1}, "text", {"sha": 7}])
def test_answer_that_is_no_revision_is_told_as_strange(source: Path, value: object) -> None:
    class Odd(Handler):
        def answer(self, known: object, body: bool) -> None:
            super().answer(value if "sha" in str(known) else known, body)

    with pytest.raises(errors.HubStrange):
        ask(source, Odd)


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        (page(), errors.HubStrange),
        (page(302), errors.HubStrange),
        (light_hub.failing(503), errors.HubUnreachable),
        (light_hub.failing(429), errors.HubUnreachable),
        (light_hub.failing(403), errors.NoAccess),
        (light_hub.failing(418), errors.HubStrange),
        (light_hub.failing(404), errors.RepoMissing),
    ],
)
def test_hub_that_refuses_is_told_by_its_kind(
    source: Path, handler: type[Handler], error: type[LabError]
) -> None:
    with pytest.raises(error) as caught:
        ask(source, handler)

    assert caught.value.original


def test_hub_that_fails_once_is_asked_again(source: Path) -> None:
    faults = light_hub.Faults(1)

    class Once(Handler):
        def _route(self, *, body: bool) -> None:
            if faults.take():
                return self.refuse(503)
            return super()._route(body=body)

    assert len(ask(source, Once).files) == 7
    assert faults.happened == 1


def test_connection_that_is_refused_is_unreachable(source: Path) -> None:
    with download.loopback_hub(source, REPO) as hub:
        address = hub.url

    with pytest.raises(errors.HubUnreachable, match="127"):
        Hub(REPO, address, patience=QUICK).listing()


def test_proxy_is_not_used_for_a_loopback_hub(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    assert len(ask(source).files) == 7


def test_refused_token_of_a_public_repository_is_left_out(source: Path) -> None:
    class Public(Handler):
        def _route(self, *, body: bool) -> None:
            if self.headers.get("Authorization"):
                return self.refuse(401)
            return super()._route(body=body)

    with download.loopback_hub(source, REPO, handler=Public) as hub:
        asked = Hub(REPO, hub.url, token="expired", patience=QUICK)
        listing = asked.listing()

    assert len(listing.files) == 7
    assert (asked.token, asked.public) == ("", True)
