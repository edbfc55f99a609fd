"""Where the program is put under pressure: its inputs, what it gives when all is well, and how one run ends."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from commands import COMMANDS, OLD, Command, write_inputs

MEASURE = Path(__file__).with_name("measure.py")
PATIENCE = 20  # seconds; without a fault a run takes some milliseconds, on a busy machine some hundred


MOST_MEMORY = 8 << 30  # bytes; who takes more is stopped


@dataclass
class Taken:
    """Bytes of memory at their most: `peak` with the pages of mapped files, `own` without, which is looked up at times."""

    peak: int
    own: int
    on_disk: int  # of the files that the command was to read
    mappable: int  # the same with their holes


@dataclass
class Done:
    """How a run ended. `code` is None for one that had to be killed, and negative for one that a signal ended."""

    code: int | None
    out: bytes
    err: bytes
    file: bytes | None  # what the output file holds now
    left: list  # files that should not be there


class Ground:
    def __init__(self, program, folder):
        self.kept = None
        self.folder = Path(folder)
        self.folder.chmod(0o755)  # some runs are an ordinary user's
        self.program = str(self.folder / "attn-cli")
        shutil.copy(program, self.program)
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir()
        self.commands = {name: Command.of(text) for name, text in COMMANDS.items()}
        self.good = {}

    def prepare(self):
        """What COMMANDS read, and what they give."""
        write_inputs(self.inputs, self.program)
        self.good = {name: self.good_run(name) for name in COMMANDS}

    def good_run(self, name):
        """What all other runs are held against, so it must itself be what the table means."""
        done = self.run(name)
        if done.code != (1 if name == "difference" else 0) or done.err or not (done.file or done.out) or done.file == OLD or done.left:
            raise RuntimeError(f"{name} fails without any fault: it ends with {done.code}; {done.err.decode(errors='replace')}")
        return done

    def command(self, name):
        """Those of other kinds have no name."""
        return self.commands.get(name, name) if isinstance(name, str) else name

    def start(self, name, place, wrapper=(), **options):
        """Starts a command in the folder `place`; in a group of its own, so that whatever it starts can be killed with it."""
        command = self.command(name)
        if not (place / "in").exists():
            (place / "in").symlink_to(self.inputs)
        if command.output:
            (place / command.output).write_bytes(OLD)
            (place / command.output).chmod(0o666)
        place.chmod(0o777)
        words = [*map(str, wrapper), self.program, *command.arguments]
        with open(place / (command.stdin or os.devnull), "rb") as source:
            options = {"stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
            return subprocess.Popen(words, cwd=place, start_new_session=True, env={"PATH": os.environ["PATH"]}, **options)

    def finish(self, name, place, process, out=None, patience=PATIENCE):
        """Waits for the end. `out`: what was read of standard output already."""
        code = None
        try:
            read, err = process.communicate(timeout=patience)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            read, err = process.communicate()
        return self.done(name, place, code, read if out is None else out, err)

    def done(self, name, place, code, out, err):
        output = self.command(name).output
        file = (place / output).read_bytes() if output and (place / output).exists() else None
        left = sorted(set(os.listdir(place)) - {"in", output})
        return Done(code, out or b"", err or b"", file, left)

    def run(self, name, wrapper=(), **options):
        with self.place() as place:
            return self.finish(name, place, self.start(name, place, wrapper, **options))

    def measured(self, command, place, patience):
        """How a command ends, and what it takes."""
        on_disk, mappable = sizes(place / "in")
        with tempfile.TemporaryFile("r+") as told:
            wrapper = [sys.executable, "-I", "-S", MEASURE, told.fileno(), MOST_MEMORY]
            process = self.start(command, place, wrapper, pass_fds=[told.fileno()])
            done = self.finish(command, place, process, patience=patience)
            told.seek(0)
            code, peak, own = map(int, told.read().split() or (0, 0, 0))
        if done.code is not None:
            done.code = code
        return done, Taken(peak, own, on_disk, mappable)

    def place(self):
        """A new empty folder, as a path."""
        return Place(self.kept or self.folder, self.kept is not None)

    def keep_in(self, folder):
        """From now on the folders of runs lie there, and stay, for who wants to look into them."""
        self.kept = folder


def sizes(folder):
    """Bytes that the files below take on the disk, and those that they say they have. Text has to be read, holes and all."""
    found = [(path, path.stat()) for path in folder.rglob("*") if path.is_file()]
    on_disk = sum(status.st_size if path.suffix in (".json", ".txt") else 512 * status.st_blocks for path, status in found)
    return on_disk, sum(status.st_size for _, status in found)


class Place(tempfile.TemporaryDirectory):
    def __init__(self, parent, keep):
        super().__init__(dir=parent, prefix="run-")
        self.keep = keep

    def __enter__(self):
        return Path(super().__enter__())

    def __exit__(self, *error):
        if self.keep:
            self._finalizer.detach()
        else:
            self.cleanup()
