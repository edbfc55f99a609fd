"""Where the program is put under pressure: its inputs, what it gives when all is well, and how one run ends."""

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from commands import COMMANDS, OLD, Command, write_inputs

PATIENCE = 20  # seconds; without a fault a run takes some milliseconds, on a busy machine some hundred


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
        self.folder = Path(folder)
        self.folder.chmod(0o755)  # some runs are an ordinary user's
        self.program = str(self.folder / "attn-cli")
        shutil.copy(program, self.program)
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir()
        write_inputs(self.inputs, self.program)
        self.commands = {name: Command(text) for name, text in COMMANDS.items()}
        self.good = {name: self.good_run(name) for name in COMMANDS}

    def good_run(self, name):
        """What all other runs are held against, so it must itself be what the table means."""
        done = self.run(name)
        if done.code != (1 if name == "difference" else 0) or done.err or not (done.file or done.out) or done.file == OLD or done.left:
            raise RuntimeError(f"{name} fails without any fault: it ends with {done.code}; {done.err.decode(errors='replace')}")
        return done

    def start(self, name, place, wrapper=(), **options):
        """Starts a command in the folder `place`; in a group of its own, so that whatever it starts can be killed with it."""
        command = self.commands[name]
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

    def finish(self, name, place, process, out=None):
        """Waits for the end. `out`: what was read of standard output already."""
        code = None
        try:
            read, err = process.communicate(timeout=PATIENCE)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            read, err = process.communicate()
        return self.done(name, place, code, read if out is None else out, err)

    def done(self, name, place, code, out, err):
        output = self.commands[name].output
        file = (place / output).read_bytes() if output and (place / output).exists() else None
        left = sorted(set(os.listdir(place)) - {"in", output})
        return Done(code, out or b"", err or b"", file, left)

    def run(self, name, wrapper=(), **options):
        with self.place() as place:
            return self.finish(name, place, self.start(name, place, wrapper, **options))

    def place(self):
        """A new empty folder, as a path."""
        return Place(self.folder)


class Place(tempfile.TemporaryDirectory):
    def __init__(self, parent):
        super().__init__(dir=parent, prefix="run-")

    def __enter__(self):
        return Path(super().__enter__())
