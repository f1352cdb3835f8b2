"""What can be wrong with a run or an archive of evidence: one class a cause, texts in
messages/evidence.*.yml.
"""

from __future__ import annotations

from helpers.errors import LabError


class NothingToPack(LabError):
    """No run of the folder is of a lab as it stands in this checkout; values: folder, left_out."""

    code = "evidence.nothing_to_pack"


class NotAnArchive(LabError):
    """The file is no zip, or is damaged; values: file. Original: what the reader said."""

    code = "evidence.not_an_archive"


class Unsafe(LabError):
    """The archive holds what no archive of ours holds; values: file, reason."""

    code = "evidence.unsafe"


class Malformed(LabError):
    """A member is not of the fixed form, or its hash is another; values: file, member. Original:
    what the check said.
    """

    code = "evidence.malformed"


class OtherLabs(LabError):
    """The labs that were run are not those of this checkout; values: file, labs."""

    code = "evidence.other_labs"


class NotOnNpu(LabError):
    """Nothing in the archive ran on an NPU with real weights; values: file, engines."""

    code = "evidence.not_on_npu"


class DoesNotAddUp(LabError):
    """The checkpoints say NPU, the machine's own description does not; values: file, reason."""

    code = "evidence.does_not_add_up"


class RegisterStrange(LabError):
    """claims.yml is not written as the editor expects; values: claim."""

    code = "evidence.register_strange"
