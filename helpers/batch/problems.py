"""What can be wrong with a matrix file and with running one, one class a cause."""

from __future__ import annotations

from helpers.errors import LabError


class MatrixMissing(LabError):
    """There is no such matrix file; values: path."""

    code = "run.matrix_missing"


class MatrixUnreadable(LabError):
    """The file is not YAML; values: path. The original is the parser's complaint, with the line."""

    code = "run.matrix_unreadable"


class MatrixInvalid(LabError):
    """Lines of a matrix file say what cannot be done; values: path, count. The evidence has a line
    for each of them.
    """

    code = "run.matrix_invalid"


class FolderOfAnother(LabError):
    """The folder for the results holds those of another matrix; values: path, other."""

    code = "run.folder_of_another"


class RayMissing(LabError):
    """The executor is ray, and this Python has no Ray; values: command."""

    code = "run.ray_missing"


class RayUnreachable(LabError):
    """No Ray cluster answers, or none could be started; values: address. The original is Ray's."""

    code = "run.ray_unreachable"
