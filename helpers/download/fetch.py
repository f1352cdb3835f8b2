"""Fetches the missing files with the AtomGit client: started, watched, started again where it was
cut, until it says that all is there. That word is not believed: `verify` has the last one.

Hashes are made while the bytes come in, so that verifying adds almost nothing to the download.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from helpers import paths
from helpers.download import client, clientfiles, errors, hashing, places
from helpers.download.client import Client, Outcome
from helpers.download.hashing import Growing, Seen
from helpers.download.hub import Hub
from helpers.download.meter import Meter
from helpers.download.patience import Patience
from helpers.download.record import Expected, Listing, amount
from helpers.errors import LabError

BEAT = 0.2
"""Seconds between two looks at the client and at what it has written."""

NO_SPACE = re.compile(r"\[Errno (28|122)\]|No space left on device|Disk quota exceeded")
BAD_PART = re.compile(r"Consistency check failed|\b416\b")


@dataclass
class Fetch:
    """One download under way.

    Attributes:
        hub: asked again when the client fails, for the reason in the hub's own words.
        listing: the repository at its commit.
        wanted: the files that the client shall fetch.
        show: called with the bytes that are there, now and then.
    """

    hub: Hub
    listing: Listing
    directory: Path
    wanted: Sequence[Expected]
    patience: Patience
    show: Callable[[Meter], None]
    _growing: dict[str, Growing] = field(default_factory=dict)

    def run(self) -> dict[str, Seen]:
        """Return the hashes that were made along the way, by file, once the client has said that
        everything is there.

        Raises:
            DiskFull, HubUnreachable, HubSilent, ClientFailed, and what `Hub.listing` raises.
        """
        for one in self.wanted:
            if one.hash:
                partial = clientfiles.partial_path(self.directory, one.path, one.hash)
                final = self.directory / one.path
                self._growing[one.path] = Growing(final, partial, one.algorithm, one.size or 0)
        try:
            self._until_done()
            with ThreadPoolExecutor(hashing.cores()) as pool:
                seen = list(pool.map(Growing.finish, self._growing.values()))
        finally:
            for growing in self._growing.values():
                growing.forget()
        return {name: one for name, one in zip(self._growing, seen, strict=True) if one is not None}

    def _until_done(self) -> None:
        """Run the client until it says that it is done; give up after failures in a row."""
        meter = Meter(self.listing.bytes)
        most, failed = self.have(), 0
        while True:
            self._set_bad_parts_aside()
            outcome = self._attempt(meter)
            if outcome.ok:
                return
            failure = self._reason(outcome)
            complained = BAD_PART.search(outcome.words) is not None
            self._set_bad_parts_aside(all_of_them=failed > 0 and complained)
            have = self.have()
            failed = 0 if have > most else failed + 1
            most = max(most, have)
            if failed >= self.patience.tries:
                raise failure
            time.sleep(self.patience.pause * 2 ** max(0, failed - 1))

    def have(self) -> int:
        """Return the bytes of the repository that are there, partial files included."""
        total = 0
        for one in self.listing.files:
            size = clientfiles.size(self.directory / one.path)
            if not size and one.hash:
                size = clientfiles.size(
                    clientfiles.partial_path(self.directory, one.path, one.hash)
                )
            total += min(size, one.size if one.size is not None else size)
        return total

    def _attempt(self, meter: Meter) -> Outcome:
        """Return how one run of the client ended; it is ended by us where no byte comes, and when
        we are interrupted.
        """
        started = client.start(
            self.listing.repo, self.listing.revision, self.directory, self.hub.url,
            self.hub.token, self.patience,
        )  # fmt: skip
        try:
            silent = self._watch(started, meter)
        finally:
            if started.poll() is None:
                started.end()
        return started.outcome(silent=silent)

    def _watch(self, started: Client, meter: Meter) -> bool:
        """Return whether the client fell silent; come back when it has ended or is."""
        have, since = self.have(), time.monotonic()
        while started.poll() is None:
            time.sleep(BEAT)
            for one in self._growing.values():
                one.follow()
            now = self.have()
            if now != have:
                have, since = now, time.monotonic()
            meter.put(now)
            self.show(meter)
            if time.monotonic() - since > self.patience.stall:
                return True
        return False

    def _set_bad_parts_aside(self, *, all_of_them: bool = False) -> None:
        """Set aside partial files that are longer than their file: what a hub that does not know
        Range leaves, and every later run would stumble over. All of them where the client has
        complained twice without getting on.
        """
        for one in self.wanted:
            if one.hash is None:
                continue
            size = clientfiles.size(clientfiles.partial_path(self.directory, one.path, one.hash))
            if all_of_them or size > (one.size or 0):
                clientfiles.set_partial_aside(self.directory, one.path, one.hash)

    def _reason(self, outcome: Outcome) -> LabError:
        """Return why the client failed, for the case that it goes on failing.

        The hub is asked again, since the client's texts mislead: a missing file is "repository does
        not exist" there.

        Raises:
            DiskFull, FileMissing, and what `Hub.listing` raises: trying again cannot help.
        """
        if NO_SPACE.search(outcome.words):
            free = places.free(self.directory)
            raise errors.DiskFull(
                directory=paths.shown(self.directory), free=amount(free), original=outcome.original
            )
        if outcome.silent:
            return errors.HubSilent(
                hub=self.hub.url, seconds=f"{self.patience.stall:g}", evidence=outcome.tail or None
            )
        missing = self._refused(outcome)
        if missing:
            raise errors.FileMissing(
                repo=self.listing.repo, file=missing, original=outcome.original
            )
        try:
            self.hub.listing(self.listing.revision)
        except (errors.HubUnreachable, errors.HubSilent) as error:
            return error
        return errors.ClientFailed(
            repo=self.listing.repo,
            log=paths.shown(client.log_of(self.listing.repo)),
            original=outcome.original or None,
            evidence=outcome.tail or None,
        )

    def _refused(self, outcome: Outcome) -> str:
        """Return the file whose content the hub answered with 404, or ""."""
        for said in outcome.chain:
            if not re.search(r"\b404\b", said):
                continue
            for one in self.wanted:
                if f"/{quote(one.path)}" in said or f"/{one.hash}" in said:
                    return one.path
        return ""
