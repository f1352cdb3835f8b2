"""Why a folder or a hand-in cannot be read, one class a cause.

A hand-in's is shown in its learner's row and stops no other; the folder's end the command.
"""

from __future__ import annotations

from helpers.errors import LabError


class ClassFolderMissing(LabError):
    """The folder of hand-ins is not a folder that can be listed; values: path."""

    code = "classview.no_folder"


class NoHandIns(LabError):
    """The folder holds nothing that looks like a hand-in; values: path."""

    code = "classview.no_hand_ins"


class PageNotHtml(LabError):
    """The page would get a name that is not an HTML file's; values: path."""

    code = "classview.page_not_html"


class PageUnwritable(LabError):
    """The page or its data cannot be written; values: path."""

    code = "classview.page_unwritable"


class Unreadable(LabError):
    """A hand-in that is not a file which can be read; values: file."""

    code = "classview.unreadable"


class TooLarge(Unreadable):
    """A hand-in over the limit; values: file, limit (MiB)."""

    code = "classview.too_large"


class TooMany(Unreadable):
    """More notebooks of one learner than are read; values: file, limit (files)."""

    code = "classview.too_many"


class BadZip(Unreadable):
    """An archive that is damaged, encrypted or of an unknown kind; values: file."""

    code = "classview.bad_zip"


class NothingHandedIn(Unreadable):
    """A learner's folder or archive without a notebook; values: file."""

    code = "classview.nothing_handed_in"


class NotJson(Unreadable):
    """A hand-in whose content is no JSON; values: file."""

    code = "classview.not_json"


class OldFormat(Unreadable):
    """A notebook of another major version than nbformat 4; values: file, found."""

    code = "classview.old_format"


class NotANotebook(Unreadable):
    """JSON that is no valid notebook; values: file."""

    code = "classview.not_a_notebook"


class OtherNotebook(Unreadable):
    """A notebook that is none of the course's labs; values: file."""

    code = "classview.other_notebook"
