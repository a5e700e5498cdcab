#!/usr/bin/env bash
# Runs one file of the Python module's tests, in the folder python.
#
#     python_test.sh FILE
set -euo pipefail
python3 -c 'import cffi' 2>/dev/null || { echo "skipped: there is no cffi for python3 (Debian: python3-cffi)"; exit 77; }
exec env PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 python3 -W error "$1"
