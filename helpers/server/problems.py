"""What can go wrong with a server's life beyond `helpers.errors`, one type a cause."""

from __future__ import annotations

from helpers.errors import DeviceBusy, LabError, ServerGone


class DeviceLocked(LabError):
    """Another kernel has been looking whether the device is free for too long; values: seconds."""

    code = "server.device_locked"


class OfflineBusy(DeviceBusy):
    """Offline inference of ours holds the device; values as DeviceBusy."""

    code = "server.offline_busy"


class EngineDied(ServerGone):
    """The API server still answered, but its engine process had ended; values as ServerGone, left
    ("pid name" of what still lives, or "-").
    """

    code = "server.engine_died"


class ApiServerDied(ServerGone):
    """The process that answers has ended while its engine lives on and holds the device; values as
    EngineDied.
    """

    code = "server.api_died"
