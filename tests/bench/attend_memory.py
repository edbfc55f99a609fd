#!/usr/bin/env python3
"""Peak memory of `attend`, beside the bytes of its tensors (queries, keys, values and result).

Inputs are mapped, so their pages count as resident, and the result has to be somewhere: 1.0 is the least. More than 1.1 fails.

usage: attend_memory.py ATTN_CLI [--shape B H T d] [--format npy|npz|safetensors] [--dtype TYPE] [--threads N] [attend's options …]

The default shape, (64, 16, 1024, 64) in float32, is 1 GiB in all. Files go to a temporary folder (TMPDIR).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy

MOST = 1.1


def write_inputs(folder, shape, dtype):
    rng = numpy.random.default_rng(1)
    for name in "qkv":
        array = numpy.lib.format.open_memmap(f"{folder}/{name}.npy", "w+", dtype, tuple(shape))
        for b in range(shape[0]):  # one batch entry at a time, so that this script stays small
            array[b] = rng.standard_normal(shape[1:], "float32")
        array.flush()
        del array


def peak_of(command, folder):
    """Kilobytes that the command had resident at its peak, and its seconds."""
    before = time.monotonic()
    child = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return usage.ru_maxrss, time.monotonic() - before


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--shape", type=int, nargs=4, default=[64, 16, 1024, 64])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--format", default="npy")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments, others = parser.parse_known_args()
    tensors = 4 * int(numpy.prod(arguments.shape)) * numpy.dtype(arguments.dtype).itemsize
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder, arguments.shape, arguments.dtype)
        files = ["-q", "q.npy", "-k", "k.npy", "-v", "v.npy", "-o", f"y.{arguments.format}"]
        program = os.path.abspath(arguments.program)
        peak, seconds = peak_of([program, "attend", *files, "--threads", str(arguments.threads), *others], folder)
    share = peak * 1024 / tensors
    print(f"{tuple(arguments.shape)} {arguments.dtype} {arguments.format}: {tensors >> 20} MiB of tensors, peak {peak >> 10} MiB,"
          f" {share:.3f} of them, {seconds:.1f} s")
    return 0 if share <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
