"""Asks a hub what a repository holds, before the first byte is fetched: the commit, and each file's
size and hash. Every refusal becomes a typed error here.

Fetches no content (`fetch` does, with the AtomGit client). The requests are the client's own ones
(MECHANICS of atomgit 1.0.17 and huggingface_hub 1.1.7).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urljoin, urlparse

import requests

from helpers.download import errors, record
from helpers.download.patience import DEFAULT, Patience
from helpers.download.record import Expected, Listing, Record

ATOMGIT = "https://hub.atomgit.com"
TOGETHER = 4
"""Requests at a time; AtomGit limits how many a minute it answers."""


class Hub:
    """One hub, one repository.

    Attributes:
        url: the hub's address without a slash at its end.
        repo: "owner/name".
        token: sent as a Bearer token; "" sends none.
        public: True once the token was refused and the repository answered without it.
    """

    def __init__(
        self, repo: str, url: str = ATOMGIT, token: str = "", patience: Patience = DEFAULT
    ) -> None:
        self.repo = repo
        self.url = url.rstrip("/")
        self.token = token
        self.public = False
        self._patience = patience
        self._session = requests.Session()
        # A proxy, if there is one, cannot reach our loopback address.
        self._session.trust_env = not record.is_loopback(self.url)

    def listing(self, revision: str | None = None, known: Record | None = None) -> Listing:
        """Return the repository's files at a revision.

        Args:
            revision: branch, tag or commit; None takes the repository's default branch.
            known: a record; at the same commit its sizes and hashes are taken, not asked again.
        Raises:
            RepoMissing, NoAccess, BadToken, RevisionMissing, FileMissing, HubUnreachable,
            HubSilent, HubStrange.
        """
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+){1,2}", self.repo):
            raise errors.RepoMissing(repo=self.repo, hub=self.url)
        name = revision or self._default_branch()
        found = self._json(f"api/models/{self.repo}/revision/{quote(name, safe='')}", name)
        commit = found.get("sha") if isinstance(found, dict) else None
        if not isinstance(commit, str) or not commit:
            raise self._strange("revision: sha")
        names = sorted(self._names(found, commit))
        if known and known.commit == commit and known.repo == self.repo and known.complete:
            files = known.listing().files
            if sorted(one.path for one in files) == names:
                return Listing(self.repo, name, commit, files, self.url)
        with ThreadPoolExecutor(TOGETHER) as pool:
            files = tuple(pool.map(lambda one: self._file(commit, one), names))
        return Listing(self.repo, name, commit, files, self.url)

    def _default_branch(self) -> str:
        """Return the default branch; where the hub does not tell, the usual ones are tried, as the
        client does.
        """
        answer = self._ask("GET", f"api/models/{self.repo}")
        if answer.status_code == 404:
            for name in ("main", "master"):
                if self._ask("GET", f"api/models/{self.repo}/revision/{name}").ok:
                    return name
            raise errors.RepoMissing(repo=self.repo, hub=self.url, original=_told(answer))
        self._refuse(answer)
        found = self._decoded(answer)
        return str(found.get("default_branch") or "main") if isinstance(found, dict) else "main"

    def _names(self, found: Mapping[str, Any], commit: str) -> list[str]:
        """Return the files' names, checked: none may lead out of the directory."""
        listed = found.get("siblings")
        if not listed:
            tree = self._json(f"api/models/{self.repo}/tree/{commit}?recursive=true", commit)
            listed = [
                {"rfilename": one.get("path")}
                for one in (tree if isinstance(tree, list) else [])
                if isinstance(one, dict) and one.get("type") == "file"
            ]
        names = [str(one.get("rfilename", "")) for one in listed if isinstance(one, dict)]
        for name in names:
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
                raise self._strange(f"rfilename: {name!r}")
        if not names:
            raise self._strange("siblings: 0")
        return names

    def _file(self, commit: str, name: str) -> Expected:
        """Return one file's size and hash, from the headers that the client reads too."""
        path = f"{self.repo}/resolve/{commit}/{quote(name)}"
        answer = self._ask("HEAD", path)
        for _ in range(3):  # a redirect within the hub renames; one to elsewhere is git-lfs
            target = answer.headers.get("Location", "")
            if not answer.is_redirect or urlparse(target).netloc:
                break
            answer = self._ask("HEAD", urljoin(f"/{path}", target).lstrip("/"))
        if answer.status_code == 404:
            raise errors.FileMissing(repo=self.repo, file=name, original=_told(answer))
        if not answer.is_redirect:
            self._refuse(answer)
        tag = (answer.headers.get("X-Linked-Etag") or answer.headers.get("ETag") or "").strip()
        tag = tag.removeprefix("W/").strip('"').lower()
        size = answer.headers.get("X-Linked-Size") or answer.headers.get("Content-Length") or ""
        if not size.isdigit():
            raise self._strange(f"{name}: Content-Length")
        if re.fullmatch("[0-9a-f]{64}", tag):
            return Expected(name, int(size), tag, "sha256")
        if re.fullmatch("[0-9a-f]{40}", tag):
            return Expected(name, int(size), tag, "git-sha1")
        return Expected(name, int(size), None)

    def _json(self, path: str, revision: str) -> Any:
        answer = self._ask("GET", path)
        if answer.status_code == 404:
            if not self._ask("GET", f"api/models/{self.repo}").ok:
                raise errors.RepoMissing(repo=self.repo, hub=self.url, original=_told(answer))
            raise errors.RevisionMissing(repo=self.repo, revision=revision, original=_told(answer))
        self._refuse(answer)
        return self._decoded(answer)

    def _decoded(self, answer: requests.Response) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            begin = answer.text[:200]
            raise self._strange(answer.headers.get("Content-Type", "?"), begin) from error

    def _refuse(self, answer: requests.Response) -> None:
        """Raise for an answer that is none of ours."""
        if answer.status_code in (401, 403):
            kind = errors.BadToken if self.token else errors.NoAccess
            raise kind(repo=self.repo, status=answer.status_code, original=_told(answer))
        if not answer.ok:
            raise self._strange(f"HTTP {answer.status_code}", _told(answer))

    def _ask(self, method: str, path: str) -> requests.Response:
        """Return the hub's answer, asked again while it fails or does not answer; where it refuses
        the token, asked without it (the client does the same for a public repository).
        """
        answer = self._send(method, path, self.token)
        if answer.status_code in (401, 403) and self.token:
            without = self._send(method, path, "")
            if without.ok or without.is_redirect:
                self.token, self.public = "", True
                return without
        return answer

    def _send(self, method: str, path: str, token: str) -> requests.Response:
        head = {"User-Agent": "minicpm-labs", "Accept-Encoding": "identity"}
        if token:
            head["Authorization"] = f"Bearer {token}"
        failure: Exception | None = None
        for again in range(self._patience.tries):
            if again:
                time.sleep(self._patience.pause * 2 ** (again - 1))
            try:
                answer = self._session.request(
                    method,
                    f"{self.url}/{path}",
                    headers=head,
                    timeout=(self._patience.connect, self._patience.answer),
                    allow_redirects=False,
                )
            except requests.ReadTimeout as error:
                failure = errors.HubSilent(
                    hub=self.url, seconds=f"{self._patience.answer:g}", original=str(error)
                )
            except requests.RequestException as error:
                failure = errors.HubUnreachable(hub=self.url, original=str(error))
            else:
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                failure = errors.HubUnreachable(hub=self.url, original=_told(answer))
        assert failure is not None
        raise failure

    def _strange(self, reason: str, original: str | None = None) -> errors.HubStrange:
        return errors.HubStrange(hub=self.url, reason=reason, original=original)


def _told(answer: requests.Response) -> str:
    """Return the hub's own words."""
    said = answer.text[:300].strip() if answer.request.method != "HEAD" else ""
    path = urlparse(str(answer.request.url)).path
    return f"HTTP {answer.status_code} {answer.request.method} {path} {said}".strip()
