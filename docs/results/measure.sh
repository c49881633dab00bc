#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures on this machine's GPU what docs/results/CARD holds (h100, h200), all with one program.
#   docs/results/measure.sh [--build DIR] [--minutes M] [--only PATTERN] [--without PATTERN] [--gpus N] FOLDER
#   docs/results/measure.sh --list
# Each measurement is a file FOLDER/NAME.json, or FOLDER/NAME.txt with its commit in the first line, that appears when it is
# complete. It measures in parts, for machines with a time limit: it ends after M minutes (default 8.5) at the latest, with
# exit code 75 if some are missing; the same command, given again, goes on. On a machine with several GPUs as many measurements
# run at a time, each on a GPU and processors of its own; --gpus takes fewer. --only makes those in whose names the regular
# expression PATTERN is found, --without leaves such ones out. It refuses a program that was built from uncommitted changes, and
# a folder that holds results of another commit. The folder in docs/results is named after the card; docs/results/tables.py
# FOLDER prints the tables of its page.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release minutes=8.5 only='' without='' gpus='' folder=''

# name | the seconds that it takes on an H200 or H100, kernels compiled | words after `hyperplane`, or a script of this folder
# that is given the program; JSON is the output's name
# Preconditioners are those with factors, multigrid left out: its check, a slow cycle on the host, takes minutes at these
# sizes. cuSPARSE has both of its formats where there are blocks.
of_table3() { # unknowns cusparse...
    local IFS=,
    echo "preconditioners-$1.json|60|bench preconditioners --device cuda --cases table3:$1 --repeats 5 --preconditioners ${*:2},struct_ilu,fgbilu,par_ilu,multicolor,subdomain_ildu0 --json JSON"
}
# Incomplete LU of general matrices: what is chosen, its variants, and cuSPARSE with and without the levels that its
# analysis finds, as Cholesky and as LU. MADE/KIND-N is a matrix of tests/peers/large_families.
ours=sync_free_ilu,sync_free_ilu:variant=search
scalars=$ours,sync_free_ilu:variant=table
csr=cusparse_ilu:cholesky=false,cusparse_ilu:cholesky=false:level_information=false
symmetric=cusparse_ilu,cusparse_ilu:level_information=false,$csr
bsr=cusparse_ilu:format=bsr,cusparse_ilu:format=bsr:level_information=false
# Freire, Dufrechou and Ezzatti's variants one by one, beside what is chosen and csrilu02.
published=sync_free_ilu,sync_free_ilu:variant=shared,sync_free_ilu:variant=vect,sync_free_ilu:variant=adapt,sync_free_ilu:variant=levs
variants=$published,$csr
# Five repeats, or so many as `repeats` says: a large system takes most of its time until its first set-up.
general() { # name seconds deck preconditioners [settings...]
    local name=$1 seconds=$2 deck=$3 names=$4 setting words=''
    shift 4
    for setting in "$@"; do words+=" --set $setting"; done
    echo "${kind:-general}-$name.json|$seconds|bench preconditioners $deck --backend cuda --repeats ${repeats:-5} --preconditioners $names$words --json JSON"
}
on_grid() { # name seconds deck points [settings...]
    general "$1" "$2" "inputs/$3.ini" "${names:-$scalars,$symmetric}" "grid.cells=$4" matrix.format=general "${@:5}"
}
of_file() { # name seconds KIND-N preconditioners [settings...]
    general "$1" "$2" inputs/matrix.ini "$4" "problem.file=MADE/$3" preconditioner.fill_level=0 "${@:5}"
}
of_general_matrices() {
    local order
    for order in natural rcm random; do
        on_grid "star7-128-$order" 10 poisson 128 "ordering.name=$order"
        on_grid "box27-96-$order" 10 box27_hpcg 96 "ordering.name=$order"
        of_file "reservoir-96-$order" 20 reservoir-96 "$ours,$csr,$bsr" "ordering.name=$order"
    done
    repeats=3 of_file circuit-1000000 20 circuit-1000000 "$scalars,$csr"
    of_file tetrahedra-171 30 tetrahedra-171 "$scalars,$symmetric"
    repeats=2 of_file tetrahedra-171-rcm 105 tetrahedra-171 "$scalars,$symmetric" ordering.name=rcm
    for order in natural rcm random; do
        repeats=3 on_grid "star7-256-$order" 50 poisson 256 "ordering.name=$order"
    done
}
# The subdomain paper's variants on METIS parts.
of_parts() {
    local variant names=subdomain_ildu0
    for variant in level unfused dag_edge dag_vertex spin; do names+=,subdomain_ildu0:variant=$variant; done
    kind=parts of_file reservoir-96 85 reservoir-96 "$names,sync_free_ilu,$csr,$bsr"
}
# One system on the grid, with cuSPARSE beside it, and as compressed rows.
of_structure() {
    local words='bench solve inputs/peers/poisson_96_ones.ini --backend cuda --repeats 5 --set grid.cells=128 --json JSON'
    local general='--set matrix.format=general --set preconditioner.name'
    echo "structure-grid.json|10|$words"
    echo "structure-grid-jacobi.json|10|$words --set preconditioner.name=jacobi"
    echo "structure-general.json|10|$words $general=sync_free_ilu"
    echo "structure-general-jacobi.json|10|$words $general=jacobi"
}
of_published_variants() {
    local order kind=variants names=$variants
    for order in natural rcm random; do
        repeats=3 on_grid "star7-128-$order" 15 poisson 128 "ordering.name=$order"
        repeats=3 on_grid "box27-96-$order" 15 box27_hpcg 96 "ordering.name=$order"
    done
    repeats=3 of_file tetrahedra-171 30 tetrahedra-171 "$variants"
    repeats=3 of_file circuit-500000 20 circuit-500000 "$variants"
}
# Products with general matrices, beside cuSPARSE's in rows and blocks.
of_products() {
    local made file='--set problem.file=MADE' none='--set preconditioner.name=none --set preconditioner.fill_level='
    for made in star7-128 box27-96 star7-random-128 box27-random-96 tetrahedra-100 circuit-1000000 power-law-1000000 \
        blocks2-96 blocks3-96 blocks4-64 blocks5-56 blocks6-52 blocks7-48 blocks8-48 blocks9-36 blocks10-36 blocks12-36 \
        blocks16-26 blocks17-26 blocks24-26 blocks32-26; do
        echo "products-$made.json|10|bench products inputs/matrix.ini --backend cuda $file/$made $none --json JSON"
    done
}
of_multigrid() {
    local n words='bench solve inputs/peers/poisson_96_ones.ini --backend cuda --repeats 7 --set preconditioner.name=multigrid --set smoother.name=multicolor'
    for n in 128 256 512; do
        echo "multigrid-$n.json|15|$words --set grid.cells=$n --json JSON"
        echo "multigrid-$n-single.json|15|$words --set grid.cells=$n --set preconditioner.storage=single --set preconditioner.vectors=single --json JSON"
    done
    echo "cycle-64.json|5|bench multigrid inputs/poisson_multigrid.ini --backend cuda --repeats 20 --set grid.cells=64 --set smoother.name=multicolor --json JSON"
}
# Anzt, Chow and Dongarra's lap: a sweep of each kind beside exact solves, and FGMRES over the number of sweeps.
sweeps_of_lap() {
    local one=jacobi_sweeps:lower_sweeps=1:upper_sweeps=1 count numbers=''
    echo "lap.json|10|bench preconditioners inputs/paper/lap.ini --backend cuda --preconditioners $one,$one:mode=block_async,jacobi_sweeps,jacobi_sweeps:mode=block_async,struct_ilu,cusparse_ilu --json JSON"
    for count in 1 2 3 5; do
        one=jacobi_sweeps:lower_sweeps=$count:upper_sweeps=$count
        numbers+=$one,$one:mode=block_async,
    done
    echo "lap-times.txt|10|compare inputs/paper/lap.ini --backend cuda --preconditioners ${numbers}struct_ilu,cusparse_ilu --fresh --force --output RECORD"
}
# The same on grids with more blocks than a GPU holds at a time: iterations.
sweeps_on_grids() {
    local count n one numbers=''
    for count in 1 2 3 5; do
        one=jacobi_sweeps:lower_sweeps=$count:upper_sweeps=$count
        numbers+=,$one,$one:mode=block_async
    done
    for n in 128 160; do
        echo "lap-$n.json|15|compare inputs/paper/lap.ini --backend cuda --set grid.cells=$n --reps 1 --preconditioners ${numbers#,} --fresh --force --output RECORD --json JSON"
    done
}
# Tables 5.5 and 5.6 of the subdomain paper: whole solves.
of_laplacians() {
    local n
    for n in 1 2; do
        echo "laplacian$n-solves.json|$((25 * n))|compare inputs/paper/laplacian$n.ini --backend cuda --reps 3 --preconditioners subdomain_ildu0,struct_ilu,cusparse_ilu,cusparse_ilu:format=bsr --fresh --force --output RECORD --json JSON"
    done
}
# Whole solves of the papers' cases with factors in three storages.
of_storages() {
    local name names=''
    for name in struct_ilu par_ilu fgbilu multicolor subdomain_ildu0 jacobi; do
        names+=,$name,$name:storage=single,$name:storage=half_scaled
    done
    for name in euler navier_stokes fgbilu_8; do
        echo "storages-$name.json|22|compare inputs/paper/$name.ini --backend cuda --reps 3 --preconditioners ${names#,} --fresh --force --output RECORD --json JSON"
    done
    echo "storages-poisson.json|8|compare inputs/paper/poisson_ic0_tight.ini --backend cuda --reps 3 --set grid.cells=128 --preconditioners ${names#,} --fresh --force --output RECORD --json JSON"
}
# Applications in single precision, and in double where no file above has them; sweeps of a larger grid than lap's.
of_single() {
    local name cases=star7:1:512,box27:1:336,star7:4:208,box27:4:128,star7:8:128,box27:8:80 names=jacobi_sweeps,jacobi
    for name in struct_ilu fgbilu multicolor subdomain_ildu0 jacobi_sweeps jacobi; do names+=,$name:storage=single; done
    echo "preconditioners-single.json|45|bench preconditioners --device cuda --cases $cases --preconditioners $names --json JSON"
}
measurements() {
    of_general_matrices
    of_published_variants
    of_parts
    of_products
    of_structure
    of_multigrid
    sweeps_of_lap
    sweeps_on_grids
    of_laplacians
    of_storages
    of_single
    cat <<LIST
kernels-table3.json|150|bench kernels --device cuda --cases table3 --repeats 5 --json JSON
kernels-table3-a100.json|120|bench kernels --device cuda --cases table3-a100 --repeats 5 --json JSON
figure9.json|50|bench kernels --device cuda --cases figure9 --repeats 5 --json JSON
figure8.json|80|bench kernels --device cuda --cases figure8 --build-up --repeats 5 --json JSON
fgbilu-figure9.json|5|bench preconditioners --device cuda --cases fgbilu-figure9 --preconditioners fgbilu,fgbilu:style=kernels --json JSON
fgbilu-table3-cpu.json|10|bench preconditioners --device cpu --threads 1 --cases star7:6:65 --preconditioners fgbilu --json JSON
products.json|10|bench kernels --device cuda --cases star7:6:65,star7:3:128 --json JSON
shares.json|40|bench solve inputs/block_laplacian_bicgstab.ini --backend cuda --repeats 1 --set problem.coupling=full --set grid.cells=128 --json JSON
levels.json|15|bench kernels --device cuda --cases levels,star7:1:64:sym,star7:1:128:sym --json JSON
middle.json|20|bench kernels --device cuda --cases middle --json JSON
ablation.json|50|bench kernels --device cuda --cases ablation --ablate --json JSON
ablation-star7.json|20|bench kernels --device cuda --cases star7:1:64,star7:1:128,star7:1:256,star7:1:384 --ablate --json JSON
tunings-factorisation.json|120|bench kernels --device cuda --cases star13:2:336,diamond25:1:336,diamond25:2:208,box27:2:208,diamond25:6:96,box27:6:96,box27:8:80 --repeats 5 --tunings factor --json JSON
tunings-two-unknowns.json|50|bench kernels --device cuda --cases diamond13:2:272,diamond25:2:208,box27:2:208 --repeats 5 --tunings stages,producer,blocks,tiles --json JSON
tunings.json|75|bench kernels --device cuda --cases ablation --repeats 5 --tunings stages,lookahead,load,block,factor,tiles --json JSON
first-runs.json|20|first_runs.py JSON inputs/paper/poisson_ic0.ini inputs/paper/navier_stokes.ini inputs/paper/euler.ini inputs/paper/fgbilu_8.ini
vectors.json|30|bench vectors --device cuda --json JSON
$(of_table3 1 cusparse_ilu)
$(of_table3 4 cusparse_ilu cusparse_ilu:format=bsr)
$(of_table3 6 cusparse_ilu cusparse_ilu:format=bsr)
$(of_table3 8 cusparse_ilu cusparse_ilu:format=bsr)
storages.json|15|bench preconditioners --device cuda --cases star7:1:512,star7:1:512:sym,box27:1:256,star7:4:192,star7:8:128,star7:3:256,box27:4:96 --preconditioners struct_ilu,struct_ilu:storage=single,struct_ilu:storage=half_scaled --json JSON
preconditioners-half.json|10|bench preconditioners --device cuda --cases star7:1:512,star7:8:128 --preconditioners struct_ilu:storage=half_scaled,multicolor:storage=half_scaled,subdomain_ildu0:storage=half_scaled,fgbilu:storage=half_scaled --json JSON
laplacian1.json|6|bench preconditioners inputs/paper/laplacian1.ini --backend cuda --preconditioners subdomain_ildu0,cusparse_ilu,cusparse_ilu:format=bsr,subdomain_ildu0:variant=unfused,subdomain_ildu0:variant=dag_vertex,subdomain_ildu0:variant=dag_edge,subdomain_ildu0:variant=spin --json JSON
laplacian2.json|8|bench preconditioners inputs/paper/laplacian2.ini --backend cuda --preconditioners subdomain_ildu0,cusparse_ilu,cusparse_ilu:format=bsr,subdomain_ildu0:variant=unfused --json JSON
solves.json|130|bench solve inputs/paper/poisson_ic0.ini inputs/paper/poisson_ic1.ini inputs/paper/convection_diffusion.ini inputs/paper/navier_stokes.ini inputs/paper/euler.ini inputs/paper/cahn_hilliard.ini --backend cuda --repeats 5 --json JSON
fgbilu.json|12|bench solve inputs/paper/fgbilu_4.ini inputs/paper/fgbilu_8.ini inputs/paper/fgbilu_16.ini inputs/paper/fgbilu_32.ini --backend cuda --json JSON
fgbilu-kernels.json|25|bench solve inputs/paper/fgbilu_4.ini inputs/paper/fgbilu_8.ini inputs/paper/fgbilu_16.ini inputs/paper/fgbilu_32.ini --backend cuda --set preconditioner.style=kernels --json JSON
assembly.json|5|bench assembly inputs/paper/poisson_ic0.ini inputs/paper/convection_diffusion.ini inputs/paper/navier_stokes.ini inputs/paper/euler.ini inputs/paper/cahn_hilliard.ini --backend cuda --repeats 5 --json JSON
hpcg.json|120|bench hpcg 512 512 288 --device cuda --repeats 3 --json JSON
eisenstat.json|20|compare inputs/poisson_eisenstat.ini --backend cuda --set grid.cells=512 --set solver.rtol=1e-2 --solvers cg:eisenstat=false,cg:eisenstat=true --preconditioners struct_ilu --fresh --force --output RECORD --json JSON
orderings.txt|30|compare inputs/paper/poisson_ic0_tight.ini --backend cuda --preconditioners struct_ilu:fill_level=1,struct_ilu,par_ilu,multicolor:colours=hashed,multicolor --fresh --force --output RECORD
LIST
}

usage() { sed -n '4,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --list) measurements | cut -d'|' -f1,2 | tr '|' ' '; exit 0 ;;
        --build) build=$2; shift ;;
        --minutes) minutes=$2; shift ;;
        --only) only=$2; shift ;;
        --without) without=$2; shift ;;
        --gpus) gpus=$2; shift ;;
        -*) usage ;;
        *) [ -z "$folder" ] || usage; folder=$1 ;;
    esac
    shift
done
[ -n "$folder" ] || usage

# shellcheck source=docs/results/program_of_commit.sh
source "$root/docs/results/program_of_commit.sh"
program_of_commit "$build"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ -e "$folder/SHA" ] && [ "$(cat "$folder/SHA")" != "$sha" ]; then
    echo "$folder holds results of $(cat "$folder/SHA"), the program is of $sha: name another folder" >&2
    exit 2
fi
echo "$sha" >"$folder/SHA"

cd "$root"
deadline=$(awk -v now="$SECONDS" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes }')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
IFS=',' read -r -a cards <<<"${CUDA_VISIBLE_DEVICES:-}"
if [ ${#cards[@]} -eq 0 ]; then
    mapfile -t cards < <(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null || true)
fi
[ ${#cards[@]} -gt 0 ] || cards=(0)
[ -z "$gpus" ] || cards=("${cards[@]:0:gpus}")

# Makes the matrix KIND-N, once for all measurements that name it.
make_matrix() { # KIND-N
    local lock
    exec {lock}>"$work/$1.lock"
    flock "$lock"
    [ -e "$work/$1" ] || "$build/tests/peers/large_families" "${1%-*}" "${1##*-}" "$work/$1" >/dev/null
    exec {lock}>&-
}

# Makes FOLDER/NAME by one command of the program.
measure() { # name words...
    local name=$1 part=$folder/.$1 words=${*:2} began=$SECONDS status=0
    words=${words//JSON/$part}
    if [[ $words =~ MADE/([a-z0-9-]+-[0-9]+) ]]; then
        make_matrix "${BASH_REMATCH[1]}"
        words=${words//MADE/$work}
    fi
    local tool=("$program")
    if [[ ${words%% *} == *.py ]]; then
        tool=("$root/docs/results/${words%% *}" "$program")
        words=${words#* }
    fi
    # shellcheck disable=SC2086 # words are split on purpose
    "${tool[@]}" ${words//RECORD/$work/$name.h5} </dev/null >"$work/$name" 2>"$folder/$name.log" || status=$?
    if [ "${name##*.}" != json ]; then
        sed -i "1i commit $sha" "$work/$name"
        mv "$work/$name" "$part"
    fi
    if [ $status -eq 0 ] && [ -s "$part" ]; then
        mv "$part" "$folder/$name"
        rm -f "$folder/$name.log"
        echo "$name: $((SECONDS - began)) s"
    else
        echo "$name: failed with exit code $status, see $folder/$name.log" >&2
        touch "$work/failed"
    fi
}

# Makes one missing measurement after the other on one GPU; whoever makes its folder first has a measurement.
work_through() { # card index
    local name seconds words share=$((${#processors[@]} / ${#cards[@]}))
    export CUDA_VISIBLE_DEVICES=$1
    if [ ${#cards[@]} -gt 1 ] && [ $share -gt 0 ]; then
        taskset --cpu-list --pid "$(IFS=,; echo "${processors[*]:$2 * share:share}")" $BASHPID >/dev/null
    fi
    while IFS='|' read -r name seconds words; do
        [[ $name =~ $only ]] || continue
        [ -z "$without" ] || [[ ! $name =~ $without ]] || continue
        [ ! -e "$folder/$name" ] || continue
        mkdir "$work/taken.$name" 2>/dev/null || continue
        if [ $((SECONDS + seconds)) -gt "$deadline" ]; then
            echo "left: $name (about $seconds s)"
            touch "$work/missing"
        else
            measure "$name" "$words"
        fi
    done < <(measurements | sort -t'|' -k2,2nr)
}

# The processors that this script may use, such as 0-15,32-47, one by one.
mapfile -t processors < <(
    allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    for range in ${allowed//,/ }; do seq "${range%-*}" "${range#*-}"; done)
for index in "${!cards[@]}"; do work_through "${cards[index]}" "$index" & done
wait
[ ! -e "$work/failed" ] || exit 1
[ ! -e "$work/missing" ] || exit 75
