#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures how solves scale over this machine's GPUs, strong and weak, and whether all numbers of GPUs give the same bits.
#   docs/results/measure_ranks.sh [--build DIR] [--gpus "1 2"] [--backend cuda] [--cases "poisson:512 cahn_hilliard:256"] [--repeats 5]
#       [--iterations 60] [--bits 20] [--preconditioners "jacobi struct_ilu:rank"] FOLDER
# With --backend cpu ranks are threads on the CPU.
# A case is PROBLEM:CELLS, or weak for Poisson with 512 x 512 x 256 points a GPU; other problems than Poisson run with
# struct_ilu alone. struct_ilu:rank is struct_ilu with scope = rank, multigrid:multicolor has this smoother on all grids.
# Iterations end after --iterations.
# FOLDER/ranks-CASE-GPUS.json is what `bench solve --ranks GPUS` wrote; FOLDER/ranks.txt has times an iteration, their
# parts, and speed-ups over one GPU of the same call. Records of --bits iterations (0: none) are compared bit by bit.
# A system that does not fit one GPU is measured on the numbers of GPUs that it fits. The script refuses a program that was
# built from uncommitted changes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release gpus='' backend=cuda repeats=5 iterations=60 bits=20 folder=''
cases='poisson:512 weak poisson:768 cahn_hilliard:256 navier_stokes:160'
preconditioners='jacobi subdomain_ildu0 multicolor struct_ilu struct_ilu:rank multigrid multigrid:multicolor'
usage() { sed -n '3,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --build) build=$2; shift ;;
        --gpus) gpus=$2; shift ;;
        --backend) backend=$2; shift ;;
        --cases) cases=$2; shift ;;
        --repeats) repeats=$2; shift ;;
        --iterations) iterations=$2; shift ;;
        --bits) bits=$2; shift ;;
        --preconditioners) preconditioners=$2; shift ;;
        -*) usage ;;
        *) [ -z "$folder" ] || usage; folder=$1 ;;
    esac
    shift
done
[ -n "$folder" ] || usage

# shellcheck source=docs/results/program_of_commit.sh
source "$root/docs/results/program_of_commit.sh"
program_of_commit "$build"
if [ -z "$gpus" ]; then
    all=$(nvidia-smi --list-gpus | wc -l)
    for ((n = 1; n <= all; n *= 2)); do gpus="$gpus $n"; done
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
card=' a CPU'
[ "$backend" = cpu ] || card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | tr -s ' ')
echo "commit $sha,$card" > "$folder/ranks.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Writes a deck for each preconditioner of a case and prints their names.
decks_of() { # problem cells...
    local problem=$1 cells=${*:2} names=$preconditioners name
    [ "$problem" = poisson ] || names=struct_ilu
    for name in $names; do
        {
            printf '[problem]\nname = %s\n' "$problem"
            # Cahn-Hilliard's long-range energy is computed after a step, not in its solves.
            [ "$problem" != cahn_hilliard ] || echo 'sigma = 0'
            printf '[grid]\ncells = %s\n' "$cells"
            [ "$problem" = poisson ] && printf '[solver]\nname = cg\n' || printf '[time]\nsteps = 1\n[solver]\n'
            printf 'max_iterations = %s\n[preconditioner]\nname = %s\n' "$iterations" "${name%:*}"
            case $name in
                *:rank) echo 'scope = rank' ;;
                *:multicolor) printf '[smoother]\nname = multicolor\n' ;;
            esac
        } > "$name.ini"
        echo "$name.ini"
    done
}

# The decks among these that fit that many GPUs, by `check`.
fitting() { # gpus decks...
    local count=$1 deck
    shift
    for deck in "$@"; do
        { "$program" check "$deck" --ranks "$count" --backend "$backend" > "$deck.check" 2>&1 || touch "$deck.refused"; } &
    done
    wait
    for deck in "$@"; do
        [ -e "$deck.refused" ] || echo "$deck"
        rm -f "$deck.refused"
    done
}

# Exit code 3 says that the iterations were not enough to converge, which is not asked for here.
ended_well() { # code what
    [ "$1" != 3 ] || return 0
    echo "$2: exit code $1: $(tail -c 300 err.txt | tr '\n' ' ')" >> "$folder/ranks.txt"
    return 1
}

# Runs some iterations on each number of GPUs and compares the records with those of one. On ranks sums follow the planes
# of the natural layout, which struct_ilu and fgbilu take on one GPU only if they are told to.
compare_bits() { # case deck
    local count layout=() code
    [ "${2%:rank.ini}" = "$2" ] || return 0
    for count in $gpus; do
        case $2 in struct_ilu.ini | fgbilu.ini | multigrid*.ini) [ "$count" != 1 ] || layout=(--set device.layout=natural) ;; esac
        code=0
        "$program" run "$2" --backend "$backend" --ranks "$count" --quiet --force --set "solver.max_iterations=$bits" \
            "${layout[@]}" --set "output.file=of$count.h5" > /dev/null 2> err.txt || code=$?
        layout=()
        if [ $code -ne 0 ] && ! ended_well $code "$1, ${2%.ini} on $count GPUs"; then
            continue
        elif [ "$count" != 1 ] && [ -e of1.h5 ]; then
            if "$program" diff of1.h5 "of$count.h5" --tolerance 0 > /dev/null 2>&1; then
                echo "$1, ${2%.ini} on $count GPUs: the bits of one" >> "$folder/ranks.txt"
            else
                echo "$1, ${2%.ini} on $count GPUs: OTHER bits than on one" >> "$folder/ranks.txt"
            fi
        fi
    done
    rm -f of*.h5
}

for case in $cases; do
    problem=${case%:*} cells=${case#*:}
    for count in $gpus; do
        if [ "$case" = weak ]; then problem=poisson cells="512 512 $((256 * count))"; fi
        # shellcheck disable=SC2046,SC2086 # names and numbers of cells are words
        decks=$(fitting "$count" $(decks_of "$problem" $cells))
        # shellcheck disable=SC2086
        "$program" bench solve $decks --ranks "$count" --backend "$backend" --repeats "$repeats" \
            --json "$folder/ranks-${case/:/-}-$count.json" --force > out.txt 2> err.txt || ended_well $? "$case on $count GPUs" || true
    done
    [ "$bits" -gt 0 ] && [ "$case" != weak ] || continue
    # shellcheck disable=SC2086
    for deck in $(decks_of "$problem" $cells); do compare_bits "$case" "$deck"; done
done

python3 - "$folder" >> "$folder/ranks.txt" <<'END'
import json, pathlib, re, sys
times = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("ranks-*.json")):
    case, gpus = re.fullmatch(r"ranks-(.*)-(\d+)", path.stem).groups()
    for solve in json.loads(path.read_text())["solves"]:
        if solve.get("iterations"):
            times.setdefault((case, solve["deck"].split("/")[-1].removesuffix(".ini")), {})[int(gpus)] = solve
print(f"{'case':18} {'preconditioner':16} GPUs  iterations  ms an iteration: product, preconditioner, other  set-up, ms  speed-up over one GPU")
for (case, name), found in times.items():
    for gpus, solve in sorted(found.items()):
        count = solve["iterations"]
        parts = [1e3 * solve[part] / count for part in ("spmv", "preconditioner_apply", "other")]
        gain = found[1]["per_iteration"] / solve["per_iteration"] if 1 in found else None
        if gain and case == "weak":
            gain *= gpus
        print(f"{case:18} {name:16} {gpus:4}  {count:10}  {1e3 * solve['per_iteration']:7.4f}: {parts[0]:7.4f} {parts[1]:7.4f} "
              f"{parts[2]:7.4f}  {1e3 * solve['whole_setup']['median']:8.2f}  {'' if gain is None else f'{gain:.3f}'}")
END
cat "$folder/ranks.txt"
