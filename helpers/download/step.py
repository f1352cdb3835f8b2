"""The download step from beginning to end: ask, plan, fetch, verify, record. `helpers.download`
offers it.

Each part has its own module; here is their order, and what is shown of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from helpers import messages, paths
from helpers.download import (
    access,
    client,
    clientfiles,
    errors,
    hub,
    lockfile,
    meter,
    places,
    plan,
    record,
)
from helpers.download.fetch import Fetch
from helpers.download.hashing import Seen
from helpers.download.patience import DEFAULT, Patience
from helpers.download.record import Expected, Listing, Record
from helpers.download.verify import compare, existing, expected_of, failure, verified
from helpers.errors import BadOption, LabError
from helpers.progress import Live

SOURCES = ("atomgit", "local")


def download(
    repo: str,
    model_dir: str | Path = "",
    *,
    source: str = "atomgit",
    revision: str | None = None,
    hub: str | None = None,
    everything: bool = False,
    patience: Patience = DEFAULT,
) -> Record:
    """Return the record of a verified copy of a repository, after fetching what is missing.

    Nothing is fetched where a complete copy is there; what is there is verified each time (only
    what has changed is read). An interrupted download goes on from where it was.

    Args:
        repo: "owner/name".
        model_dir: where it shall lie; "" takes a complete copy from the search list, else the first
            writable place with room; with a loopback hub the course's own place.
        source: "atomgit", or "local" to verify what somebody copied in.
        revision: branch, tag or commit; None takes what the class's lock pins, else the
            repository's default branch.
        hub: address of another hub; None is AtomGit.
        everything: read every byte also of what has not changed.
        patience: waiting and trying again.
    Raises:
        LabError: one of `download.errors`, each with what, why and what next.
    """
    if source not in SOURCES:
        raise BadOption(name="SOURCE", value=repr(source), rule=" | ".join(SOURCES))
    with Live() as live:
        if source == "local":
            made = _local(repo, model_dir, everything, live)
        else:
            asked = _hub(repo, hub, patience)
            made = _from_hub(asked, model_dir, revision or None, everything, patience, live)
        live.done(messages.text("download.done", repo=repo, files=len(made.files),
            total=record.amount(made.bytes)))  # fmt: skip
    return made


def _hub(repo: str, address: str | None, patience: Patience) -> hub.Hub:
    return hub.Hub(repo, address or hub.ATOMGIT, access.token(), patience)


def _from_hub(
    asked: hub.Hub, model_dir: str | Path, revision: str | None, everything: bool,
    patience: Patience, live: Live,
) -> Record:  # fmt: skip
    """Return the record of a copy fetched from a hub, or found complete."""
    local_hub = record.is_loopback(asked.url)
    where = "download.hub.is_loopback" if local_hub else "download.hub.is"
    live.step(messages.text(where, hub=asked.url))
    locked = None if local_hub or revision else lockfile.listing(asked.repo)
    given = Path(model_dir).expanduser().absolute() if str(model_dir) else None
    if given is None and local_hub:
        given = places.own(asked.repo)
    try:
        listing = _listing(asked, revision, locked, given)
    except (errors.HubUnreachable, errors.HubSilent) as error:
        return _without_hub(asked.repo, given, revision, everything, error, live)
    if asked.public:
        live.step(messages.text("download.token_refused", repo=asked.repo))
    if locked:
        _same_as_lock(listing, locked)
    directory = given or places.choose(asked.repo, listing)
    with _alone(directory):
        known = record.read(directory)
        made = plan.make(
            listing,
            directory,
            known.files if known else (),
            everything=everything,
            show=meter.reading(listing.bytes, live.update),
        )
        for line in made.lines():
            live.step(line)
        if not made.wanted:
            return verified(directory, listing, known=made.right)
        plan.need_room(made)
        client.prepare(live.step, live.update)
        return _fetched(asked, made, patience, live)


def _listing(
    asked: hub.Hub, revision: str | None, locked: Listing | None, given: Path | None
) -> Listing:
    """Return what the hub has: at the locked commit, or under the locked name where the hub does
    not know commits by their number. A private repository's token is asked for once, where somebody
    can answer.
    """
    known = record.read(given) if given else None
    names = [locked.commit, locked.revision] if locked else [revision]
    for name in names:
        try:
            return asked.listing(name, known)
        except errors.RevisionMissing:
            if name == names[-1]:
                raise
        except errors.NoAccess:
            asked.token = access.ask(asked.repo)
            if not asked.token:
                raise
            return asked.listing(name, known)
    raise AssertionError(names)


def _fetched(asked: hub.Hub, made: plan.Plan, patience: Patience, live: Live) -> Record:
    """Return the record after fetching; a file that came wrong is fetched anew."""
    for one in made.wrong:
        clientfiles.set_aside(made.directory, one.path)
    wanted: tuple[Expected, ...] = made.wanted
    fresh: dict[str, Seen] = {}
    for last in (*[False] * (patience.tries - 1), True):
        fetch = Fetch(
            asked, made.listing, made.directory, wanted, patience,
            lambda state: live.update(state.line("download.progress")),
        )  # fmt: skip
        fresh.update(fetch.run())
        found = compare(made.directory, made.listing, known=made.right, fresh=fresh)
        bad = [one for one in found.problems if one.content]
        if not bad or last:
            break
        live.step(messages.text("download.again", names=", ".join(one.file for one in bad)))
        names = {problem.file for problem in bad}
        wanted = tuple(one for one in made.listing.files if one.path in names)
        for problem in bad:
            _drop(made.directory, problem.file)
    if found.problems:
        for problem in found.problems:
            if problem.content:
                clientfiles.set_aside(made.directory, problem.file)
        raise failure(found.problems)
    clientfiles.drop_partials(made.directory)
    return verified(made.directory, made.listing, known=made.right, fresh=fresh)


def _drop(directory: Path, name: str) -> None:
    """Remove a file that the client has just fetched wrong, and its note, so that it comes anew."""
    (directory / name).unlink(missing_ok=True)
    clientfiles.metadata_path(directory, name).unlink(missing_ok=True)


def _without_hub(
    repo: str, given: Path | None, revision: str | None, everything: bool, error: LabError,
    live: Live,
) -> Record:  # fmt: skip
    """Return the record of a copy that is right without asking the hub, else raise why the hub did
    not answer. A directory that merely is not empty is no copy.
    """
    for directory in [given] if given else places.searched(repo):
        known = record.read(directory)
        wanted = revision in (None, known.revision, known.commit) if known else False
        if known and wanted and known.repo == repo and known.complete:
            listing = expected_of(directory, repo, known) or known.listing()
            found = verified(directory, listing, known=known.files, everything=everything)
            live.step(messages.text("download.offline", directory=paths.shown(directory)))
            return found
    raise error


def _local(repo: str, model_dir: str | Path, everything: bool, live: Live) -> Record:
    """Return the record of a copy that somebody brought; no hub and no client is needed."""
    places_ = [model_dir] if str(model_dir) else [p for p in places.searched(repo) if p.is_dir()]
    directory = existing(places_[0] if places_ else places.searched(repo)[0])
    known = record.read(directory)
    listing = expected_of(directory, repo, known)
    if listing is None:
        # Nobody knows a hash: the files' own structure is all that can be looked at.
        files = tuple(
            Expected(name, clientfiles.size(directory / name), None)
            for name in clientfiles.present(directory)
        )
        listing = Listing(repo, "", "", files, "nothing")
        live.step(messages.text("download.no_hashes"))
    return verified(
        directory,
        listing,
        known=known.files if known else (),
        everything=everything,
        show=meter.reading(listing.bytes, live.update),
    )


def _same_as_lock(listing: Listing, locked: Listing) -> None:
    """Raise where the hub has other content than the class's lock.

    Raises:
        LockDiffers: names the first file.
    """
    there = {one.path: (one.size, one.hash) for one in listing.files}
    pinned = {one.path: (one.size, one.hash) for one in locked.files}
    for name in sorted(there.keys() | pinned.keys()):
        if there.get(name) != pinned.get(name):
            raise errors.LockDiffers(repo=listing.repo, revision=listing.revision, file=name)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold a directory against a second download; the system lets go when the holder dies.

    Raises:
        AlreadyRunning.
    """
    key = sha256(str(directory).encode(errors="surrogateescape")).hexdigest()[:16]
    lock = paths.state_dir() / "downloads" / f"{key}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(lock), timeout=0):
            yield
    except Timeout as error:
        raise errors.AlreadyRunning(directory=paths.shown(directory)) from error
