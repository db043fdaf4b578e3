"""Claims of the paper, what they rest on, and the commands that judge, replay and show them."""

import sys

if sys.argv[:1] == ["-m"]:  # a command that Python is still looking for: an interrupt ends it in one line from here on
    import constructions  # noqa: F401
