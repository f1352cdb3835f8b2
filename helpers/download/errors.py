"""The typed errors of the download step, one a cause. Texts: messages/download.*.yml.

Not for deciding what happened: `hub`, `fetch`, `verify` and `trust` raise these.
"""

from __future__ import annotations

from helpers.errors import LabError


class RepoMissing(LabError):
    """The hub knows no such repository, or hides it; values: repo, hub."""

    code = "download.repo_missing"


class NoAccess(LabError):
    """The repository is private or gated and no token was given; values: repo, status."""

    code = "download.no_access"


class BadToken(LabError):
    """The hub does not take the token for this repository; values: repo, status."""

    code = "download.bad_token"


class RevisionMissing(LabError):
    """The repository has no such branch, tag or commit; values: repo, revision."""

    code = "download.revision_missing"


class FileMissing(LabError):
    """The hub lists a file that it does not give; values: repo, file."""

    code = "download.file_missing"


class HubUnreachable(LabError):
    """No answer from the hub, or its servers fail; values: hub."""

    code = "download.hub_unreachable"


class HubSilent(LabError):
    """The hub accepts the connection and then sends nothing; values: hub, seconds."""

    code = "download.hub_silent"


class HubStrange(LabError):
    """Who answers is no hub, or not one that we know; values: hub, reason."""

    code = "download.hub_strange"


class NoRoom(LabError):
    """The disk has too little room, seen before the first byte; values: directory, needed, free."""

    code = "download.no_room"


class DiskFull(LabError):
    """The disk filled up in the middle; values: directory, free."""

    code = "download.disk_full"


class NotWritable(LabError):
    """The directory cannot be written; values: directory."""

    code = "download.not_writable"


class AlreadyRunning(LabError):
    """Another download into the same directory is at work; values: directory."""

    code = "download.already_running"


class ClientMissing(LabError, names_cause=False):
    """The AtomGit client's environment could not be made; values: log."""

    code = "download.client_missing"


class ClientFailed(LabError, names_cause=False):
    """The client failed for a reason that we do not know; values: repo, log."""

    code = "download.client_failed"


class VerificationFailed(LabError):
    """A file is not what it should be; values: file, expected, got, count."""

    code = "download.verification_failed"


class PointerFile(LabError):
    """A git-lfs pointer lies in place of the weights; values: file."""

    code = "download.pointer_file"


class NothingToCompare(LabError):
    """No hash is known for a directory: neither a record nor a lock nor the client's notes; values:
    directory.
    """

    code = "download.nothing_to_compare"


class LockDiffers(LabError):
    """The hub has other content than the class's lock; values: repo, revision, file."""

    code = "download.lock_differs"


class LockUnreadable(LabError):
    """weights.lock.yml is not what it should be; values: path."""

    code = "download.lock_unreadable"


class NotLockable(LabError):
    """Only a copy that was verified against a hub can be locked; values: directory."""

    code = "download.not_lockable"


class CodeDiffers(LabError):
    """Code in the repository is other than what is known, and was not acknowledged; values:
    directory, digest.
    """

    code = "download.code_differs"
