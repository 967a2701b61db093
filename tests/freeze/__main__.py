"""Make the frozen facts anew, or show what differs from them.

cd tests && python -m freeze            # show every case that differs
cd tests && python -m freeze --write    # keep what the package gives now
"""

import sys

from freeze.record import FILE, differences, facts, kept, write

now = facts()
if "--write" in sys.argv:
    write(now)
    print(f"{len(now)} cases in {FILE.name}")  # noqa: T201
else:
    found = differences(kept(), now)
    for line in found:
        print(line)  # noqa: T201
    sys.exit(bool(found))
