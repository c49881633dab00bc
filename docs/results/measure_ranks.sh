#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures how runs scale over this machine's GPUs: strong and weak scaling of Poisson (star7, CG), and whether all
# numbers of GPUs give the same bits.
#   docs/results/measure_ranks.sh [--build DIR] [--gpus "1 2"] [--cells "512 768"] [--turns 5] [--iterations 150]
#       [--kinds "strong weak"] [--preconditioners "jacobi struct_ilu:rank"] FOLDER
# struct_ilu:rank is struct_ilu with scope = rank.
# FOLDER/ranks.csv gets a line for each run: what was measured, grid, preconditioner, GPUs, turn, iterations and seconds
# an iteration; FOLDER/ranks.txt the medians, with the speed-up over one GPU of the same call. Grids that do not fit one
# GPU are measured on the numbers of GPUs that they fit. It refuses a program built from uncommitted changes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release gpus='' cells='512 768' turns=5 iterations=150 folder=''
kinds='strong weak' preconditioners='jacobi subdomain_ildu0 struct_ilu struct_ilu:rank'
usage() { sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --build) build=$2; shift ;;
        --gpus) gpus=$2; shift ;;
        --cells) cells=$2; shift ;;
        --turns) turns=$2; shift ;;
        --iterations) iterations=$2; shift ;;
        --kinds) kinds=$2; shift ;;
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
card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | tr -s ' ')
{ echo "commit $sha,$card"; } > "$folder/ranks.txt"
echo 'kind,cells,preconditioner,gpus,turn,iterations,seconds' > "$folder/ranks.csv"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > deck.ini <<END
[problem]
name = poisson
[grid]
cells = 512
[solver]
name = cg
max_iterations = $iterations
END

# Runs the deck once; exit code 3 says that the iterations were not enough to converge, which is not asked for here.
run_once() { # kind cells gpus turn preconditioner [settings...]
    local kind=$1 grid=$2 count=$3 turn=$4 name=$5 code=0
    shift 5
    "$program" run deck.ini --backend cuda --ranks "$count" --quiet --force --json --set "grid.cells=$grid" \
        --set "preconditioner.name=${name%:rank}" "$@" --set "output.file=$kind$count.h5" > out.json 2> err.txt || code=$?
    if [ $code -ne 0 ] && [ $code -ne 3 ]; then
        echo "$kind, $grid, $name on $count GPUs: exit code $code: $(head -c 300 err.txt | tr '\n' ' ')" >> "$folder/ranks.txt"
        return 1
    fi
    python3 - "$kind" "$grid" "$name" "$count" "$turn" >> "$folder/ranks.csv" <<'END'
import json, sys
run = json.load(open("out.json"))["solves"][0]
print(",".join([*sys.argv[1:], str(run["iterations"]), repr(run["solve_seconds"] / run["iterations"])]))
END
}

# On ranks sums follow the planes of the natural layout, which struct_ilu takes on one GPU only if it is told to.
same_bits() { # kind cells gpus preconditioner
    local one=${1}1.h5
    if [ "$4" = struct_ilu ]; then
        "$program" run deck.ini --backend cuda --quiet --force --set "grid.cells=$2" --set preconditioner.name=struct_ilu \
            --set device.layout=natural --set output.file=natural.h5 > /dev/null 2>&1 || true
        one=natural.h5
    fi
    if "$program" diff "$one" "$1$3.h5" --tolerance 0 > /dev/null 2>&1; then
        echo "$1, $2, $4 on $3 GPUs: the bits of one" >> "$folder/ranks.txt"
    else
        echo "$1, $2, $4 on $3 GPUs: OTHER bits than on one" >> "$folder/ranks.txt"
    fi
}

measure() { # kind preconditioner [settings...]: grids are "$(grid_on N)"
    local kind=$1 name=$2 turn count
    shift 2
    for ((turn = 1; turn <= turns; ++turn)); do
        for count in $gpus; do
            run_once "$kind" "$(grid_on "$count")" "$count" "$turn" "$name" "$@" || continue
            if [ "$kind" = strong ] && [ "$turn" = 1 ] && [ "$count" != 1 ] && [ -e strong1.h5 ] &&
                [ "$name" != struct_ilu:rank ]; then
                same_bits "$kind" "$(grid_on "$count")" "$count" "$name"
            fi
        done
    done
    rm -f ./*.h5
}

choices() { # kind
    local name
    for name in $preconditioners; do
        if [ "$name" = struct_ilu:rank ]; then
            measure "$1" "$name" --set preconditioner.scope=rank
        else
            measure "$1" "$name"
        fi
    done
}
for kind in $kinds; do
    if [ "$kind" = weak ]; then
        grid_on() { echo "512 512 $((256 * $1))"; }
        choices weak
        continue
    fi
    for n in $cells; do
        grid_on() { echo "$n"; }
        choices strong
    done
done

python3 - "$folder/ranks.csv" >> "$folder/ranks.txt" <<'END'
import csv, statistics, sys
times, counts = {}, {}
for row in csv.DictReader(open(sys.argv[1])):
    cells = row["cells"] if row["kind"] == "strong" else "512 512 256 a GPU"
    key = (row["kind"], cells, row["preconditioner"])
    times.setdefault(key, {}).setdefault(int(row["gpus"]), []).append(float(row["seconds"]))
    counts[key, int(row["gpus"])] = row["iterations"]
print(f"{'kind':7} {'cells':18} {'preconditioner':16} GPUs  iterations  ms an iteration (spread)  speed-up over one GPU")
for key, found in times.items():
    one = statistics.median(found[1]) if 1 in found else None
    for gpus, seconds in sorted(found.items()):
        middle = statistics.median(seconds)
        spread = f"{(max(seconds) - min(seconds)) / middle:.1%}"
        gain = "" if one is None else f"{one / middle:.3f}"
        print(f"{key[0]:7} {key[1]:18} {key[2]:16} {gpus:4}  {counts[key, gpus]:>10}  {1e3 * middle:15.4f} ({spread})  {gain}")
END
cat "$folder/ranks.txt"
