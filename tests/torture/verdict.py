"""What is asserted of every run."""

import json
import re
import signal
import unicodedata

from commands import OLD

AS_GOOD = "as without the fault"  # in a set of allowed codes; for `compare` that may be 1
WITHOUT_OUTPUT = {2, 65, 66, 73}  # ends that come before the first byte of output


TOLD_LINE = re.compile(rb"attn-cli: error: line (\d+): (?:out of memory|the [^\n:;]* need )[^\n]*\n")


def is_error_line(text):
    return text.startswith(b"attn-cli: error: ") and text.find(b"\n") == len(text) - 1


def error_code(line):
    """Of a JSON line that says why there is no result; nothing of any other line."""
    try:
        return json.loads(line)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return None


def with_told(good, written, said):
    """What is right to write, and what is said of the whole, where some lines did not fit in memory and may be told.

    JSON tells them in their place, other formats on standard error.
    """
    lines = good.splitlines(keepends=True)
    if not lines or good.startswith(b"{"):
        found = written.splitlines(keepends=True)[:len(lines)]
        told = [line if error_code(line) == 71 else want for line, want in zip(found, lines)]
        return b"".join([*told, *lines[len(found):]]), said
    told = {int(number) for number in TOLD_LINE.findall(said)}
    if good.startswith(b"line "):
        tables = re.split(rb"\n(?=line \d+\n)", good)
        right = b"\n".join(table for table in tables if int(table[len(b"line "):table.index(b"\n")]) not in told)
    else:
        right = lines[0] + b"".join(row for row in lines[1:] if int(row[:row.index(b",")]) + 1 not in told)
    return right, TOLD_LINE.sub(b"", said)


def faults_of_success(done, good):
    yield from (f"{what} is not what it is without the fault" for what, same in
                (("standard output", done.out == good.out), ("the output file", done.file == good.file)) if not same)
    if done.err != good.err:
        yield "it says something although it succeeds"


def faults_of_lines(done, good):
    """Of a run of lines some of which did not fit in memory."""
    right, error = with_told(good.out, done.out, done.err)
    if done.out != right:
        yield "a line on standard output is neither right nor an error"
    if good.file is not None and done.file != with_told(good.file, done.file or b"", done.err)[0]:
        yield "a line of the output file is neither right nor an error"
    if error:
        yield "it says something although each line says it"


def faults_of_failure(done, good, by_line):
    right, error = with_told(good.out, done.out, done.err) if by_line else (good.out, done.err)
    if not is_error_line(error):
        yield f"{error.count(bytes([10]))} lines on standard error instead of one"
    if not right.startswith(done.out):
        yield "standard output is no beginning of what it is without the fault"
    if done.out and done.code in WITHOUT_OUTPUT:
        yield "there is output before the failure"
    if good.file is not None and done.file not in (OLD, good.file):
        yield "the output file is neither the old one nor the whole new one"


STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of Unicode; a code point without a character, Cn, steers nothing
MOST_LINE = 4096  # bytes of an error; longer ones nobody reads
NOISE = re.compile(rb"attn-cli: (warning|note): [^\n]*\n")  # which may come before an error
HOSTILE_ENDS = {0, 1, 2, 65, 66, 71}
MEBIBYTE = 1 << 20
BASE = 16 * MEBIBYTE  # of the program itself
ROOM = 64 * MEBIBYTE  # for what goes with any input


def is_clear(line):
    """Short text without control characters."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return False
    return len(line) <= MOST_LINE and not any(unicodedata.category(character) in STEERING for character in text[:-1])


def hostile_faults(done, command):
    """Of a run over inputs that may be anything: nobody knows what it should give, but how it may end."""
    error = NOISE.sub(b"", done.err)
    if done.code is None:
        yield "it did not end"
        return
    if done.code not in HOSTILE_ENDS:
        yield f"it ends with {done.code}; allowed: {', '.join(map(str, sorted(HOSTILE_ENDS)))}"
    told = command.by_line and done.code == 65 or command.arguments[0] == "check"  # in place of a result
    if done.code in (0, 1):
        if error:
            yield f"it says {error[:300]!r} although it succeeds"
        if command.output and done.file in (None, OLD):
            yield "there is no new output file although it succeeds"
    elif not told:
        if not is_error_line(error):
            yield f"{error.count(bytes([10]))} lines on standard error instead of one, such as {error[:300]!r}"
        elif not is_clear(error):
            yield f"a line of {len(error)} bytes, or one with control characters, on standard error: {error[:300]!r}"
        if done.out:
            yield f"there is output before the failure: {done.out[:100]!r}"
        if command.output and done.file != OLD:
            yield "the output file is not the old one"
    if done.left and done.code != -signal.SIGKILL:
        yield f"it leaves {', '.join(done.left)}"


def most_accepted(size):
    """Bytes that a command may take for so many bytes of files, arrays and output."""
    return 3 * size + ROOM + BASE


def memory_faults(done, taken, command):
    """Refused input takes three times its file or 64 MB at most, where a hole counts for nothing; accepted input three times its file,
    its arrays and what they give, and 64 MB."""
    most = max(3 * taken.on_disk, ROOM) + BASE
    if done.code in (0, 1):
        most = most_accepted(taken.mappable + command.array_bytes + len(done.out) + len(done.file or b""))
    own = max(taken.own, taken.peak - taken.mappable)
    if done.code is not None and own > most:
        yield f"it takes {own / MEBIBYTE:.0f} MiB and ends with {done.code}; allowed: {most / MEBIBYTE:.0f}"


def group_faults(done, mib, size):
    """`size`: bytes of files, arrays and output. Who takes no more than it may is killed by a smaller group all the same: it refuses what it
    computes, but not all that it reads, such as .npz members that inflate, weights of models, names of a hundred thousand tensors."""
    if done.code == -signal.SIGKILL and most_accepted(size) <= mib * MEBIBYTE:
        yield f"a group of {mib} MiB killed it; {most_accepted(size) / MEBIBYTE:.0f} are enough"


def differences(done, free):
    """Of two runs of one command, the first under a limit that it kept."""
    yield from (f"its {what} is not what it is without the limit" for what, same in
                (("exit code", done.code == free.code), ("standard output", done.out == free.out), ("output file", done.file == free.file))
                if not same)


def faults(done, good, allowed, by_line=False):
    """What is wrong with a run, a line each, and what it said."""
    found = list(faults_of_end(done, good, allowed, by_line))
    return [*found, f"it says {done.err[:300]!r}"] if found and done.err else found


def faults_of_end(done, good, allowed, by_line):
    if done.code is None:
        yield "it did not end"
    elif (AS_GOOD if done.code == good.code else done.code) not in allowed:
        yield f"it ends with {done.code}; allowed: {', '.join(sorted(map(str, allowed)))}"
    if done.code == good.code:
        yield from faults_of_success(done, good)
    elif by_line and done.code == 65:
        yield from faults_of_lines(done, good)
    elif done.code is not None:
        yield from faults_of_failure(done, good, by_line)
    if done.left and done.code not in (None, -signal.SIGKILL):  # what is killed cannot tidy up
        yield f"it leaves {', '.join(done.left)}"
