"""``python -m gpuvcc``: the program itself."""

import os
import sys

from .program import ProgramNotFound, program


def main() -> None:
    """Becomes the program, with all arguments, streams and exit codes."""
    try:
        path = program()
    except ProgramNotFound as error:
        sys.exit(f"gpuvcc: {error}")
    sys.stdout.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
