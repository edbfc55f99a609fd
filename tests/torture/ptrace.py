"""Lets a program run, and asks at each of its system calls how many bytes it may read or write. Linux on x86-64."""

import ctypes
import os
import platform
import signal

TRACEME, CONT_TO_CALL, GETREGS, SETREGS, SETOPTIONS = 0, 24, 12, 13, 0x4200
# Mark stops at calls, trace threads from their start, and kill all of them when this process ends.
OPTIONS = 1 | 8 | 1 << 20
AT_CALL = signal.SIGTRAP | 0x80
ANY_THREAD = 0x40000000  # __WALL
READ_OR_WRITE = (0, 1)

REGISTERS = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
).split()

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulong) for name in REGISTERS]


def ptrace(request, thread, value=0):
    return libc.ptrace(request, thread, None, value)


def allow_tracing():
    """For preexec_fn."""
    if ptrace(TRACEME, 0) == -1:
        os._exit(126)


def missing():
    """Why nothing can be traced here; nothing when it can."""
    if platform.machine() != "x86_64":
        return "the registers of x86-64 are all that it knows"
    child = os.fork()
    if child == 0:
        os._exit(1 if ptrace(TRACEME, 0) == -1 else 0)
    return "ptrace is not allowed here" if os.waitpid(child, 0)[1] != 0 else None


class Tracer:
    """Traces `process`, which began with allow_tracing. `shorten(descriptor, count)` returns the count that the kernel is told."""

    def __init__(self, process, shorten):
        self.process = process
        self.shorten = shorten
        self.counts = {}  # thread inside a call → what the third argument was

    def run_to_end(self):
        """Returns the exit code as subprocess has it."""
        os.waitpid(self.process, 0)
        ptrace(SETOPTIONS, self.process, OPTIONS)
        ptrace(CONT_TO_CALL, self.process)
        while True:
            thread, status = os.waitpid(-1, ANY_THREAD)
            if not os.WIFSTOPPED(status):
                if thread == self.process:
                    return os.waitstatus_to_exitcode(status)
                self.counts.pop(thread, None)
                continue
            ptrace(CONT_TO_CALL, thread, self.signal_to_pass_on(thread, os.WSTOPSIG(status)))

    def signal_to_pass_on(self, thread, stop):
        if stop == AT_CALL:
            self.at_call(thread)
            return 0
        # A thread begins with SIGSTOP; SIGTRAP says that another one was made.
        return 0 if stop in (signal.SIGSTOP, signal.SIGTRAP) else stop

    def at_call(self, thread):
        """Each call stops twice: on its way in and on its way out, where the program expects its registers as they were."""
        registers = Registers()
        ptrace(GETREGS, thread, ctypes.addressof(registers))
        if thread in self.counts:
            count = self.counts.pop(thread)
        else:
            self.counts[thread] = registers.rdx
            count = registers.rdx
            if registers.orig_rax in READ_OR_WRITE and count > 1:
                count = self.shorten(registers.rdi, count)
        if registers.rdx != count:
            registers.rdx = count
            ptrace(SETREGS, thread, ctypes.addressof(registers))
