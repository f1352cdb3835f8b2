#!/usr/bin/env bash
# Have both models' weights where they outlive the job: fetched once, verified by hash, found by the labs.
# NPU_STORE: that directory. A container job on GitHub has HOME=/github/home whatever one sets (actions/runner#863), so
# a volume at /root/.cache is not below HOME there and gets a link.
set -euo pipefail
cd "$(dirname "$0")/.."
found="$HOME/.cache/minicpm-labs/models"
store="${NPU_STORE:-$found}"
mkdir -p "$store" "$(dirname "$found")"
[ -e "$found" ] || ln -s "$store" "$found"
for name in MiniCPM-V-4_5 MiniCPM5-2B; do
  python3 -m helpers download "OpenBMB/$name" "$found/OpenBMB/$name"
done
