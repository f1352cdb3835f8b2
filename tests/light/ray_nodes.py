"""Two Ray nodes on this machine, one run at a time on each: prints the cluster's address and the
second node's raylet pid as JSON, kills the second node at a line of standard input, and ends both
when that closes.

Usage: ray_nodes.py     (where Ray can be imported: ray_cluster.with_ray)
"""

from __future__ import annotations

import json
import sys

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 100_000_000}


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        second = cluster.add_node(**NODE)
        (raylet,) = second.all_processes["raylet"]
        print(json.dumps({"address": cluster.address, "raylet": raylet.process.pid}), flush=True)
        for _ in sys.stdin:
            cluster.remove_node(second, allow_graceful=False)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
