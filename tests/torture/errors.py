"""The n-th system call of a kind fails, for every n that occurs; strace makes it fail.

A case is: command, call, error, n. "n+" lets the n-th call and all that follow fail, as when a disk is full for good.
"""

import re
import shutil
import subprocess

from verdict import AS_GOOD, faults

# Call → error → exit codes that are allowed, AS_GOOD where there is another way, such as fewer threads or another allocation.
ALLOWED = {
    "read": {"EIO": {74}, "ENOMEM": {74}, "EINTR": {AS_GOOD}},
    "write": {"EIO": {74}, "ENOSPC": {74}, "EDQUOT": {74}, "EINTR": {AS_GOOD}},
    "openat": {"EACCES": {66, 73}, "ENOENT": {66, 73}, "EMFILE": {66, 73}, "ENOSPC": {66, 73}},
    "mmap": {"ENOMEM": {AS_GOOD, 71}, "ENODEV": {AS_GOOD, 71}},
    "mremap": {"ENOMEM": {AS_GOOD, 71}},
    "mprotect": {"ENOMEM": {AS_GOOD, 71}},
    "brk": {"ENOMEM": {AS_GOOD, 71}},
    "clone3": {"EAGAIN": {AS_GOOD}, "ENOMEM": {AS_GOOD}, "ENOSYS": {AS_GOOD}},
    "poll": {"EINTR": {AS_GOOD}, "ENOMEM": {71, 74}},
    "rename": {"EACCES": {73}, "EIO": {73}, "ENOSPC": {73}, "EROFS": {73}},
    "fsync": {"EIO": {74}, "ENOSPC": {74}, "EINVAL": {AS_GOOD}},
    "close": {"EIO": {AS_GOOD, 74}, "EINTR": {AS_GOOD}},
    "newfstatat": {"EACCES": {AS_GOOD, 66, 73, 74}, "EIO": {AS_GOOD, 66, 73, 74}},
    "readlink": {"EACCES": {AS_GOOD, 73}, "EIO": {AS_GOOD, 73}},
    "lseek": {"ESPIPE": {AS_GOOD}},
    "fchmod": {"EPERM": {AS_GOOD}},
    "fchown": {"EPERM": {AS_GOOD}},
    "madvise": {"EINVAL": {AS_GOOD}},
    "sched_getaffinity": {"EPERM": {AS_GOOD}},
}
# A brk that fails returns the break as it was. An error number is a very high break to the C library, which believes in it.
INJECTED = {"brk": "retval=0"}
FOR_A_MOMENT = {"EINTR"}  # repeating the call is right, so it cannot fail for good
SYSTEM_FILES = re.compile(r'["<]/(?:proc|sys)/')  # what they say is wished for, not needed

STRACE = ["strace", "-ff", "--seccomp-bpf", "-qq", "-y", "-e", "signal=none"]
MAIN_BEGINS = re.compile(r"fcntl\(0\b.*F_GETFD")
CALL = re.compile(r"(\w+)\(")


def missing():
    """Why this kind cannot run here; nothing when it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run([*STRACE, "-e", "trace=chdir", "true"], capture_output=True)  # which has nothing to tell
    return "strace may not trace here" if done.returncode != 0 or done.stderr else None


def traced(ground, name, *options):
    """Runs a command under strace. Returns how it ended and the trace of each thread, a list of lines."""
    with ground.place() as place, ground.place() as traces:
        process = ground.start(name, place, [*STRACE, "-o", traces / "thread", *options])
        done = ground.finish(name, place, process)
        threads = sorted(traces.iterdir(), key=lambda path: int(path.suffix[1:]))
        return done, [path.read_text(errors="replace").splitlines() for path in threads]


def counted(lines):
    """How often each call occurs."""
    calls = [match[1] for match in map(CALL.match, lines) if match]
    return {call: calls.count(call) for call in ALLOWED if call in calls}


def occurring(threads):
    """Call → every n that some thread reaches, but for those before main(): strace counts each thread for itself."""
    start = next((i for i, line in enumerate(threads[0]) if MAIN_BEGINS.match(line)), 0)
    before = counted(threads[0][:start])
    most = {}
    for lines in threads:
        for call, count in counted(lines).items():
            most[call] = max(most.get(call, 0), count)
    return {call: range(before.get(call, 0) + 1, count + 1) for call, count in most.items()}


def cases(ground, draw):
    every = []
    for name in ground.commands:
        _, threads = traced(ground, name, "-e", f"trace=fcntl,{','.join(ALLOWED)}")
        for call, numbers in occurring(threads).items():
            for error in ALLOWED[call]:
                for n in numbers:
                    every += [(name, call, error, f"{n}")] + [(name, call, error, f"{n}+")] * (error not in FOR_A_MOMENT)
    draw.shuffle(every)
    yield from every


def allowed_for(call, error, threads):
    """By what was hit: nothing, when the threads came to it in another order than before."""
    hits = [line for lines in threads for line in lines if "(INJECTED)" in line]
    needed = [line for line in hits if not SYSTEM_FILES.search(line)]
    return ALLOWED[call][error] if needed else {AS_GOOD}


def run(ground, name, call, error, n):
    what = INJECTED.get(call, f"error={error}")
    done, threads = traced(ground, name, "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={n}")
    return faults(done, ground.good[name], allowed_for(call, error, threads), ground.commands[name].by_line)
