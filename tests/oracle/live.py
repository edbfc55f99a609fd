"""What the scripts share that compare with packages which not every machine has."""

import os
import sys


def skip(missing):
    """Ends the script with 77 (skipped), or with 1 where ATTN_REQUIRE_LIVE=1 says that the packages must be there."""
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(1 if os.environ.get("ATTN_REQUIRE_LIVE") == "1" else 77)


def prefer_newer_packages():
    """Those in the folder that ATTN_TRANSFORMERS names, if it does, instead of Debian's, whose PyTorch is older. Before any import."""
    if os.environ.get("ATTN_TRANSFORMERS"):
        sys.path[:] = [os.environ["ATTN_TRANSFORMERS"], *(path for path in sys.path if not path.endswith("dist-packages"))]


def print_or_compare(header, origin):
    """Prints `header`, or after --compare FILE exits with 0 if FILE holds it and with 1 if not."""
    if sys.argv[1:2] != ["--compare"]:
        sys.stdout.write(header)
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        same = file.read() == header
    print("the same" if same else f"{sys.argv[2]} is not what {origin}", file=sys.stderr)
    sys.exit(0 if same else 1)
