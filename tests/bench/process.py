"""One process from start to exit: `python tests/bench/process.py SECONDS COMMAND…` prints its cost as JSON; it ends after SECONDS.

A process of its own and a small one, as a child's peak memory counts from that of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

if __name__ == "__main__":
    start = time.perf_counter()
    with subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        late = threading.Timer(float(sys.argv[1]), process.kill)
        late.daemon = True
        late.start()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # of ru_maxrss, to the MiB
    figure = {"wall": wall, "processor": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / unit}
    print(json.dumps(figure))
    sys.exit(process.returncode)
