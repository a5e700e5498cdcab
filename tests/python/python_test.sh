#!/usr/bin/env bash
# Runs one file of the Python module's tests, in the folder python, with the first Python that has cffi: that of Debian's
# packages may not be the first in PATH.
#
#     python_test.sh FILE
set -euo pipefail
for python in python3 /usr/bin/python3; do
  "$python" -c 'import cffi, numpy' 2>/dev/null &&
    exec env PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 "$python" -W error "$1"
done
echo "skipped: there is no python3 with cffi and numpy (Debian: python3-cffi python3-numpy)"
exit 77
