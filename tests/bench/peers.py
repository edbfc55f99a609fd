#!/usr/bin/env python3
"""Attention without weights, side by side: attn-cli, ONNX Runtime, OpenVINO, ncnn, PyTorch and zentorch, in turns in one run.

For every length, mask, head size and number of threads each of them computes the same, every round once and each in a process of
its own; those whose turn it is not are stopped, threads and all. What counts is the fastest of all rounds, since whatever
else runs on the machine only takes time. Of several ways to ask a peer for it, the fastest counts. What a peer gives is compared
with what `attn-cli attend` gives, and its CPU time with the threads that it was given; who fails is told, and left out.
GFLOP/s count 4·n·n·d·H, with --causal half of it; "of peak" is attn-cli's share of the fused multiply-adds that
`attn-cli bench` measures in the same rounds. `attn-cli bench` times what `attend` does, the look at its inputs included.

usage: peers.py ATTN_CLI [--seq 128 512 …] [--heads 8] [--head-dim 64] [--threads 1] [--rounds 5] [--causal] [--isa SET]
                [--dtype float32|bfloat16 [--fast]] [--all] [--python [PEER=]PYTHON …] [--json FILE] [--plot FILE.svg]

--all measures full and causal, heads of 64 and of 128, one thread and two, at every length from 64 to 16,384 (from 4,096 on with
two heads), and prints how often as fast as the fastest peer attn-cli is. It takes about ten minutes.

Peers that are not installed are named and left out. They are Python packages:
  pip install numpy onnx onnxruntime openvino ncnn torch
zentorch is for AMD and takes one version of torch, so that it needs a folder of its own (python3 -m venv). --python PYTHON says
where peers are, if not in the Python that runs this, and --python zentorch=PYTHON where one is. The plot needs Debian's
python3-matplotlib.
"""

import argparse
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("onnxruntime", "openvino", "ncnn", "torch", "zentorch")
ALL_LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
LONG, HEADS_OF_LONG = 4096, 2
LONG_GFLOP = 20  # what takes so long that two rounds are enough
TURN_SECONDS = 0.04
SLOW_FORM = 1.5  # what took so many times as long as the fastest is not tried at longer lengths


class EndedError(Exception):
    """A peer crashed; it runs again, without its tensors."""


class Peer:
    """The process of one peer; stopped but for its turns."""

    def __init__(self, key, options):
        self.key, self.worth = key, {}
        self.command = [options.python.get(key, options.python["all"]), str(HERE / "peer.py"), key, str(options.threads)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        start_new_session=True)  # or whoever ends in a group with stopped ones hangs up on all
        told = json.loads(self.process.stdout.readline() or '{"missing": "it ended at once"}')
        self.missing = told.get("missing")
        self.name = told.get("name", self.key)
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, **request):
        self.process.send_signal(signal.SIGCONT)
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        if not line:
            code = self.process.wait()
            self.start()
            raise EndedError(f"it ended with {code}")
        return json.loads(line)

    def end(self):
        self.process.kill()
        self.process.wait()


def rounded_to_bfloat16(numbers):
    bits = numbers.view("uint32").astype("uint64")
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).astype("uint32").view("float32")


def generate(case, folder, program):
    """The tensors of a case, and what they give."""
    rng = numpy.random.default_rng(1)
    for name in "qkv":
        numbers = rng.random((case["heads"], case["seq"], case["head_dim"]), "float32") - numpy.float32(0.5)
        numpy.save(f"{folder}/{name}.npy", rounded_to_bfloat16(numbers) if case["dtype"] == "bfloat16" else numbers)
    files = [argument for name in "qkv" for argument in (f"-{name}", f"{folder}/{name}.npy")]
    subprocess.run([program, "attend", *files, *["--causal"] * case["causal"], "-o", f"{folder}/result.npy"], check=True)


def timing_of_tool(case, program, options, seconds):
    """Of `seconds` worth of computations, as far as it is known how long one takes."""
    command = [program, "bench", "--seq", case["seq"], "--heads", case["heads"], "--head-dim", case["head_dim"], "--json"]
    command += ["--threads", case["threads"], "--isa", options.isa, "--repeat", max(1, round(TURN_SECONDS / seconds))]
    command += ["--causal"] * case["causal"]
    if case["dtype"] != "float32":
        command += ["--dtype", case["dtype"]] + ["--weights-dtype", case["dtype"]] * options.fast
    return json.loads(subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout)


def usable_forms(peer, case, folder, most_error):
    """The forms of a peer that give our numbers, as fast as its fastest or nearly so; what is wrong is told."""
    kind = (case["causal"], case["head_dim"], case["heads"], case["dtype"])
    worth = peer.worth.get(kind[:2])
    try:
        told = peer.ask(load=folder, dtype=case["dtype"], causal=case["causal"], forms=worth)
    except EndedError as error:
        told = {"forms": {}, "missing": str(error)}
    seconds, errors = {}, {}
    for form, found in told["forms"].items():
        if "missing" in found or found["error"] > most_error:
            print(f"left out at n = {case['seq']}: {peer.name}, {form}: {found.get('missing', found)}", file=sys.stderr)
            continue
        seconds[form], errors[form] = found["seconds"], found
    if not seconds:
        print(f"left out at n = {case['seq']}: {peer.name}: {told.get('missing', 'no form is left')}", file=sys.stderr)
        return {}, {}
    least = min(seconds.values())
    peer.worth[kind[:2]] = [form for form in seconds if seconds[form] < SLOW_FORM * least]
    return {form: seconds[form] for form in peer.worth[kind[:2]]}, errors


def measure(case, peers, program, options, folder):
    """GFLOP/s of attn-cli and of each peer, the fastest of all rounds, by which form, and the threads that it used."""
    generate(case, folder, program)
    pairs = case["seq"] * (case["seq"] + 1) / 2 if case["causal"] else case["seq"] ** 2
    gflop = 4 * pairs * case["head_dim"] * case["heads"] * 1e-9
    most_error = 2e-2 if case["dtype"] == "bfloat16" else 1e-5
    fastest, errors, threads, ended = {}, {}, {}, set()
    for peer in peers:
        forms, found = usable_forms(peer, case, folder, most_error)
        for form, seconds in forms.items():
            fastest[peer, form], errors[peer, form] = seconds, found[form]
    tool, peak = gflop / 100, 0
    for _ in range(options.rounds if gflop < LONG_GFLOP else min(options.rounds, 2)):
        timing = timing_of_tool(case, program, options, gflop / tool)
        tool = max(tool, gflop / timing["seconds"]["min"])
        peak = max(peak, timing["peak_gflops"])
        for peer, form in fastest:
            if peer in ended:
                continue
            try:
                told = peer.ask(time=form, seconds=TURN_SECONDS)
            except EndedError as error:
                print(f"left out at n = {case['seq']}: {peer.name}: {error}", file=sys.stderr)
                ended.add(peer)
                continue
            fastest[peer, form] = min(fastest[peer, form], told["seconds"])
            threads[peer, form] = max(threads.get((peer, form), 0), told["threads"])
    row = {**case, "isa": timing["isa"], "tool": tool, "of_peak": tool / peak, "peers": {}}
    for (peer, form), seconds in fastest.items():
        if peer in ended:
            continue
        before = row["peers"].get(peer.name)
        if threads[peer, form] > 1.05 * case["threads"] + 0.05:
            print(f"left out at n = {case['seq']}: {peer.name}, {form}: it used {threads[peer, form]:.2f} threads", file=sys.stderr)
        elif before is None or before["gflops"] < gflop / seconds:
            row["peers"][peer.name] = {"gflops": gflop / seconds, "form": form, "threads": threads[peer, form], **errors[peer, form]}
    return row


def cases_of(options):
    if not options.all:
        return [{"threads": options.threads, "head_dim": options.head_dim, "causal": options.causal, "seq": seq, "heads": options.heads,
                 "dtype": options.dtype} for seq in options.seq]
    return [{"threads": threads, "head_dim": head_dim, "causal": causal, "seq": seq, "dtype": options.dtype,
             "heads": HEADS_OF_LONG if seq >= LONG else options.heads}
            for threads, head_dim, causal, seq in itertools.product((1, 2), (64, 128), (False, True), ALL_LENGTHS)]


def measure_all(options):
    rows, names = [], []
    program = os.path.abspath(options.program)
    cases = cases_of(options)
    for threads, group in itertools.groupby(cases, key=lambda case: case["threads"]):
        options.threads = threads
        started = [Peer(key, options) for key in PEERS]
        peers = [peer for peer in started if not peer.missing]
        for peer in started:
            if peer.missing:
                print(f"left out: {peer.key} ({peer.missing}); see --help for how to install it", file=sys.stderr)
        names = names or [peer.name for peer in peers]
        try:
            with tempfile.TemporaryDirectory() as folder:
                for case in group:
                    rows.append(measure(case, peers, program, options, folder))
                    print(described(rows[-1]), file=sys.stderr)
        finally:
            for peer in started:
                peer.end()
    return rows, names


def what(row):
    return f"{row['threads']} thread{'s' * (row['threads'] > 1)}, d = {row['head_dim']}, {'causal' if row['causal'] else 'full'}"


def described(row):
    peers = ", ".join(f"{name} {found['gflops']:.0f} ({found['form']}, {found['threads']:.2f} threads)" for name, found in row["peers"].items())
    return f"{what(row)}, n = {row['seq']}: {row['tool']:.1f} ({100 * row['of_peak']:.0f} %), {peers}"


def print_table(rows, names, options):
    first = rows[0]
    print(f"GFLOP/s, {first['heads']} heads of {first['head_dim']}, {first['threads']} thread(s){', causal' * first['causal']}, {first['dtype']}")
    print("| n | attn-cli | of peak |" + "".join(f" {name} | ratio |" for name in names))
    print("|" + "---|" * (3 + 2 * len(names)))
    for row in rows:
        found = [row["peers"].get(name) for name in names]
        cells = [f"{one['gflops']:.0f} | {row['tool'] / one['gflops']:.2f}" if one else "– | –" for one in found]
        print(f"| {row['seq']} | {row['tool']:.0f} | {100 * row['of_peak']:.0f} % | " + " | ".join(cells) + " |")
    if options.dtype != "float32":
        print_errors(rows, names)


def print_errors(rows, names):
    """How often a result is the nearest number of its type, and the mean error, at the last length."""
    print("\n| n = " + str(rows[-1]["seq"]) + " | nearest number | error |\n|---|---|---|")
    for name in names:
        if name in rows[-1]["peers"]:
            found = rows[-1]["peers"][name]
            print(f"| {name} | {100 * found['right']:.2f} % | {found['error']:.2e} |")


def print_ratios(rows):
    """attn-cli's GFLOP/s by those of the fastest peer, for each length and all the rest."""
    kinds = list(dict.fromkeys(what(row) for row in rows))
    print("| n | " + " | ".join(kinds) + " |")
    print("|" + "---|" * (1 + len(kinds)))
    for seq in dict.fromkeys(row["seq"] for row in rows):
        cells = []
        for kind in kinds:
            (row,) = [row for row in rows if row["seq"] == seq and what(row) == kind]
            if not row["peers"]:
                cells.append("–")
                continue
            name, best = max(row["peers"].items(), key=lambda item: item[1]["gflops"])
            cells.append(f"{row['tool'] / best['gflops']:.2f} {name.rsplit(' ', 1)[0]}")
        print(f"| {seq} | " + " | ".join(cells) + " |")


def plot(rows, names, options):
    import svg_plot

    figure, axes = svg_plot.pyplot().subplots(figsize=(6, 3.5))
    axes.plot([row["seq"] for row in rows], [row["tool"] for row in rows], marker="o", label="attn-cli")
    for name in names:
        known = [(row["seq"], row["peers"][name]["gflops"]) for row in rows if name in row["peers"]]
        axes.plot(*zip(*known), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xticks([row["seq"] for row in rows], [str(row["seq"]) for row in rows])
    axes.set(xlabel="tokens", ylabel="GFLOP/s", title=f"heads of {rows[0]['head_dim']}, {rows[0]['threads']} thread(s)")
    axes.legend()
    svg_plot.save(figure, options.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seq", type=int, nargs="+", default=[128, 512, 2048, 4096, 8192])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--fast", action="store_true", help="with bfloat16: weights are rounded, too, as those of flash kernels are")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--python", nargs="*", default=[], metavar="[PEER=]PYTHON")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    named = [given.split("=", 1) if "=" in given else ("all", given) for given in options.python]
    options.python = {"all": sys.executable, **dict(named)}
    rows, names = measure_all(options)
    one_kind = [row for row in rows if what(row) == what(rows[0])]
    print_table(one_kind, names, options)
    if options.all:
        print()
        print_ratios(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if options.plot:
        plot(one_kind, names, options)


if __name__ == "__main__":
    main()
