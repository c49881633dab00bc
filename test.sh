#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds everything, runs every test.
#   ./test.sh            all but the tests labelled long
#   ./test.sh --long     with them
#   ./test.sh --asan     under AddressSanitizer and UndefinedBehaviorSanitizer
# Other arguments go to ctest: ./test.sh -R deck
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

preset=release
labels=(--label-exclude '^long$')
passed_on=()
for argument in "$@"; do
    case $argument in
        --long) labels=() ;;
        --asan) preset=asan ;;
        -h | --help) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) passed_on+=("$argument") ;;
    esac
done

install_missing "${program_packages[@]}" "${test_packages[@]}"
build "$preset"

# Tests that need more threads set their number themselves; ctest keeps the cores busy. Many tests wait for other programs
# rather than compute, so one more than there are cores run at a time.
export OMP_NUM_THREADS=1
export UBSAN_OPTIONS=print_stacktrace=1
status=0
ctest --test-dir "build/$preset" -j "$(($(cores) + 1))" --output-on-failure --no-tests=error \
    ${labels[@]+"${labels[@]}"} ${passed_on[@]+"${passed_on[@]}"} </dev/null || status=$?

# ctest names the skipped tests; their reasons stand in its log (GoogleTest's, and "skipped: ..." of scripts).
awk '/: Skipped$/ { getline; reasons[$0]++ } /^skipped: / { reasons[substr($0, 10)]++ }
     END { for (reason in reasons) printf "skipped (%d): %s\n", reasons[reason], reason }' \
    "build/$preset/Testing/Temporary/LastTest.log" || true
exit "$status"
