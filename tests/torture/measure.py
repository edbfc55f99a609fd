"""Starts a command, waits for its end, and tells what it took: `measure.py DESCRIPTOR BYTES COMMAND…`.

To DESCRIPTOR it writes the exit code (negative: the signal), the most bytes that were in memory, and the most that were the
command's own and no page of a file; the latter is looked up every other millisecond. A command with more than BYTES of its own is
killed, so that the machine stays usable. A process begins with the memory of the one that started it, so this one is small.
"""

import os
import resource
import sys
import time


def own_bytes(process):
    """Of its memory, what no file has. Nothing once it has ended."""
    try:
        with open(f"/proc/{process}/status", "rb") as file:
            status = file.read()
    except OSError:
        return 0
    found = status.find(b"RssAnon:")
    return int(status[found + 8 :].split(None, 1)[0]) << 10 if found >= 0 else 0


def main():
    descriptor, most, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, descriptor)])
    own = 0
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        own = max(own, own_bytes(process))
        if own > most:
            os.kill(process, 9)
        time.sleep(0.002)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    os.write(descriptor, f"{os.waitstatus_to_exitcode(status)} {peak} {own}".encode())


main()
