"""attn-cli from Python: attention whose every number can be seen, and tests of kernels that name the mistake.

    attention(q, k, v, is_causal=True, stages=["weights"])     the attention of arrays, and its gradients
    assert_close(mine, q, k, v, is_causal=True)                an AssertionError that says what is wrong with `mine`
    blind_spots(q, k, v, is_causal=True)                       which mistakes a test on these inputs would not see
    run("Life is short", heads=4)                              a sentence, with its page in a notebook
    call("check", "--all")                                     any command, as typed
"""

from .attend import Options, assert_close, attention, blind_spots
from .program import BadData, Difference, Failure, NoInput, Result, TooLarge, UsageError, call, program_path
from .sentence import Run, run

__all__ = ["BadData", "Difference", "Failure", "NoInput", "Options", "Result", "Run", "TooLarge", "UsageError", "assert_close",
           "attention", "blind_spots", "call", "program_path", "run"]
