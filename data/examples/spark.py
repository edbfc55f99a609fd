"""attn-cli run --lines as a Spark job: a line of SENTENCES is a sentence, a line of RESULTS/part-* its result as JSON, in order.

usage: spark-submit spark.py SENTENCES RESULTS [OPTION of attn-cli run]…

attn-cli is on the PATH of every worker, and files that the options name are there too. The parts of RESULTS one after the other are
what one process writes, whatever the partitions: --first-index makes "index" the line's place in all of the input. A line that
cannot be computed has its error as its result. Whatever else goes wrong fails the task, which Spark repeats as it is told to.

Spark reads text, so it is Spark that drops a byte order mark and puts U+FFFD for bytes that are no UTF-8.
"""

import itertools
import subprocess
import sys

from pyspark import SparkConf, SparkContext

DONE = (0, 65)  # 65: some lines could not be computed


def answer(program, line):
    """The line's result, before the next line is sent: nothing but one line is held here or on its way."""
    try:
        program.stdin.write(line + b"\n")
        program.stdin.flush()
    except BrokenPipeError:
        pass  # the program has ended, so that there is no answer either
    result = program.stdout.readline()
    if not result.endswith(b"\n"):
        program.kill()
        raise RuntimeError(f"attn-cli did not answer a line; its exit code is {program.wait()}")
    return result[:-1]


def attention(firsts, options):
    """What becomes of a partition, whose lines count from firsts[partition] up to firsts[partition + 1]."""

    def results(partition, lines):
        command = ["attn-cli", "run", "--lines", "-", "--json", "--threads", "1", "--first-index", str(firsts[partition]), *options]
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            end = firsts[partition]
            for line in lines:
                yield answer(program, line)
                end += 1
            if end != firsts[partition + 1]:
                raise RuntimeError(f"the partition ended at line {end}, but at {firsts[partition + 1]} when it was counted")
            program.stdin.close()
            if program.stdout.read(1):
                raise RuntimeError("attn-cli gave more results than lines")
            if program.wait() not in DONE:
                raise RuntimeError(f"the exit code of attn-cli is {program.returncode}")
        finally:
            program.kill()
            program.wait()

    return results


def main(sentences, results, *options):
    # A line ends at "\n" alone, as for attn-cli; Hadoop by itself would end one at "\r" too.
    context = SparkContext(conf=SparkConf().set("spark.hadoop.textinputformat.record.delimiter", "\n"))
    lines = context.textFile(sentences, minPartitions=4 * context.defaultParallelism, use_unicode=False)
    counts = lines.mapPartitions(lambda part: [sum(1 for _ in part)]).collect()
    firsts = [0, *itertools.accumulate(counts)]
    lines.mapPartitionsWithIndex(attention(firsts, options)).saveAsTextFile(results)


if __name__ == "__main__":
    main(*sys.argv[1:])
