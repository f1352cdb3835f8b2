"""Weights from AtomGit into MODEL_DIR: planned, fetched by the real client, verified, recorded.

    record = download.download("OpenBMB/MiniCPM-V-4_5", MODEL_DIR)
    download.verify(MODEL_DIR)                     # every file by its hash, what changed since
    download.trust(MODEL_DIR, acknowledge=False)   # the code that comes with the weights

The client runs as a process in an environment of its own and is never imported here. Serves
nothing: `loopback_hub` only stands in for the hub where there is none.
"""

from helpers.download.loopback_hub import loopback_hub
from helpers.download.patience import Patience
from helpers.download.record import Record
from helpers.download.step import download
from helpers.download.trust import Code, trust
from helpers.download.verify import verify

__all__ = ["Code", "Patience", "Record", "download", "loopback_hub", "trust", "verify"]
