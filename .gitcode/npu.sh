#!/usr/bin/env bash
# Run a command in the course's image with one NPU, where a job has no container of its own (AtomGit), or by hand.
# Usage: bash .gitcode/npu.sh COMMAND …
# NPU_CHIPS, NPU_STACK: which image (course/versions.yml); NPU_DEVICE: number of /dev/davinciN; NPU_CACHE: keeps weights
# and, from one container to the next, the course's state and logs.
set -euo pipefail
cd "$(dirname "$0")/.."
image="$(python3 .github/npu_image.py "${NPU_CHIPS:-}" "${NPU_STACK:-}")"
# What the container writes as root goes back to the checkout's owner, or the next job cannot clean up.
exec "${DOCKER:-docker}" run --rm --shm-size=1g --net=host \
  --device "/dev/davinci${NPU_DEVICE:-0}" \
  --device /dev/davinci_manager \
  --device /dev/devmm_svm \
  --device /dev/hisi_hdc \
  -v /usr/local/dcmi:/usr/local/dcmi \
  -v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi \
  -v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/ \
  -v /usr/local/Ascend/driver/version.info:/usr/local/Ascend/driver/version.info \
  -v /etc/ascend_install.info:/etc/ascend_install.info \
  -v "${NPU_CACHE:-$HOME/.cache}:/root/.cache" \
  -v "$PWD:/workspace/labs" -w /workspace/labs \
  -e LAB_ENGINE="${LAB_ENGINE:-ascend}" -e LAB_STATE_DIR=/root/.cache/minicpm-labs/state \
  "$image" bash -el -c 'trap "chown -R --reference=. ." EXIT; "$@"' npu "$@"
