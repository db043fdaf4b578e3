"""`python -m constructions.simulate`: Theorem 4.8. A door: the construction is in `circuits`, which this package may not need."""

from __future__ import annotations

import sys

from circuits.simulate import DOOR as THE_DOOR
from circuits.simulate import main

DOOR = THE_DOOR


if __name__ == "__main__":
    sys.exit(main())
