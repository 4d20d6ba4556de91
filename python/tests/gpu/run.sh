#!/usr/bin/env bash
# Runs the tests that need a GPU, PyTorch and CuPy, with a wheel of ./dev wheel and a python3 (or PYTHON) that has
# these; needs no network: python/tests/gpu/run.sh [dist/stereopsis-…-cp312-abi3-….whl]
set -euo pipefail
cd "$(dirname "$0")/../../.."
python=${PYTHON:-python3}
wheel=${1:-$(ls dist/stereopsis-*-abi3-*.whl)}
site=$(mktemp -d)
"$python" -m pip install -q --no-index --no-deps --target "$site" "$wheel"
PYTHONPATH=$site "$python" -m pytest -q -rs -s -p no:cacheprovider python/tests/gpu
