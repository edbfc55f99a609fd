#!/usr/bin/env bash
# attn-cli attend --against for every case of a folder. CASES/*/ are the cases; in each, `options` holds the words of attn-cli attend
# that give its inputs and masks, and kernel.npy what the kernel made of them.
#
# usage: cases.sh CASES
#
# Says of each case whether it agrees, and if not, which mistake it is. The exit code is the largest: 0 if all agree,
# 1 if one differs, or that of an error.
set -uo pipefail
worst=0
for case in "${1:?a folder of cases}"/*/; do
    echo "== $case"
    (cd "$case" && { read -ra options <options; attn-cli attend "${options[@]}" --against kernel.npy; })
    code=$?
    worst=$((code > worst ? code : worst))
done
exit "$worst"
