"""attn-cli run --lines as a Spark job: a line of SENTENCES is a sentence, a line of RESULTS/part-* its result as JSON, in order.

usage: spark-submit spark.py SENTENCES RESULTS [OPTION of attn-cli run]…

attn-cli is on the PATH of every worker, and files that the options name are there too. The parts of RESULTS one after the other are
what one process writes, whatever the partitions: the key lines.first_index makes "index" the line's place in all of the input. A line that
cannot be computed has its error as its result. Whatever else goes wrong fails the task, which Spark repeats as it is told to.

Spark reads text, so it is Spark that drops a byte order mark and puts U+FFFD for bytes that are not UTF-8.
"""

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkConf, SparkContext

DONE = (0, 65)  # 65: some lines could not be computed


def feed(program, lines):
    with program.stdin:
        for line in lines:
            program.stdin.write(line + b"\n")


def attention(firsts, options):
    """What becomes of a partition, whose lines count from firsts[partition] up to firsts[partition + 1]: a stream, of which nothing
    but what the pipes hold is in memory."""

    def results(partition, lines):
        first, count = firsts[partition], firsts[partition + 1] - firsts[partition]
        command = ["attn-cli", "run", "--lines", "-", "--json", "--threads", "1", "--set", f"lines.first_index={first}", *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program, ThreadPoolExecutor(1) as pool:
            try:
                feeding = pool.submit(feed, program, lines)
                given = 0
                for given, result in enumerate(program.stdout, 1):
                    yield result.removesuffix(b"\n")
                if program.wait() not in DONE or feeding.exception() or given != count:
                    raise RuntimeError(f"attn-cli: exit code {program.returncode}, {given} results for {count} lines") from feeding.exception()
            finally:
                program.kill()  # where nobody wants the rest of the results

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
