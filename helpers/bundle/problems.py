"""What can go wrong with a bundle, one type a cause."""

from __future__ import annotations

from helpers.errors import LabError


class BundleExists(LabError):
    """Something lies where the archive should go; values: path."""

    code = "bundle.exists"


class BundleUnwritable(LabError):
    """The archive cannot be written; values: path. Original: the system's text."""

    code = "bundle.unwritable"


class NoServerThere(LabError):
    """No server of ours is known on the port; values: port, ports."""

    code = "bundle.no_server"
