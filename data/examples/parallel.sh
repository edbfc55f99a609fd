#!/usr/bin/env bash
# attn-cli run --lines in a process for each processor: each line of SENTENCES is a sentence. RESULTS has the bytes that one
# process writes (but CSV of no results has its header), whole or not at all.
#
# usage: parallel.sh SENTENCES RESULTS.json|RESULTS.csv [OPTION of attn-cli run]…
#
# Needs GNU parallel, attn-cli on the PATH, and beside RESULTS room for SENTENCES and twice the results. A line that cannot be
# computed is reported as by one process. Whatever else goes wrong with a part is tried again twice, and then ends all of it with
# an exit code that is not 0.
set -euo pipefail
sentences=$1 results=$2
shift 2

lines=1000 # of a part
ending=${results##*.}
parts=$(mktemp -d "$results.XXXXXX")
# A part that was killed may still be writing: moved, the folder is not found by name, and what is made in it meanwhile goes
# with the second rm.
trap 'mv "$parts" "$parts.gone"; rm -rf "$parts.gone" 2>/dev/null || rm -rf "$parts.gone"' EXIT

# -o leaves a file when 65 says that some of the lines could not be computed, and none when it says that nothing could.
part() {
    local first=$((10#$1 * lines)) file=$parts/$1.$ending
    attn-cli run --lines "$parts/$1" --threads 1 --set lines.first_index="$first" -o "$file" "${@:2}" || [[ $? -eq 65 && -e $file ]]
}
export lines ending parts
export -f part

header=
if [ "$ending" = csv ]; then
    header=index,array,head,row,column,query_token,key_token,value
    set -- --set csv.header=false "$@"
fi
# parallel --pipe -N would need no files, but gives a line too many to a part that begins with an empty one.
split --lines="$lines" --numeric-suffixes --suffix-length=9 "$sentences" "$parts/"
find "$parts" -type f -printf '%f\n' | sort |
    SHELL=$BASH parallel --quote --no-run-if-empty --retries 3 --halt now,fail=1 part {} "$@"
{
    ${header:+echo "$header"}
    find "$parts" -type f -name "*.$ending" | sort | xargs --no-run-if-empty --delimiter='\n' cat
} >"$parts/all"
mv "$parts/all" "$results"
