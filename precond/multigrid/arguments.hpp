// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that compute interpolation and Galerkin products and that carry vectors from one grid to
// the next, on a GPU.
#pragma once

namespace hyperplane::multigrid {

/// A Layout without periodic axes. Slots are counted from the beginning of the memory: where the layout is that of a
/// rank's part, `first` is the first plane of its halo, and nx, ny and nz are still those of the whole grid.
struct GridSlots {
    int natural, nx, ny, nz, level_y, level_z, first;
};

/// Two grids and the order in which threads take the coarse points, which is that of the weights. Its first coordinate
/// is that from one slot to the next, its last one changes most slowly.
struct GridStep {
    GridSlots fine, coarse, order;
    int extent[3];           // of the coordinates of the order; in natural order the last one counts planes
    int begin;               // the first plane whose coarse points are taken, in natural order; else 0
    int columns;             // threads of a thread block along the first coordinate
    int rows;                // along the second one; those that remain lie along the last one
    int tiles;               // thread blocks along the first coordinate
    int own_begin, own_end;  // the planes of the fine grid that this rank has
    int fine_slots, coarse_slots, order_slots;  // in memory
};

struct TransferArguments {
    const void* weights;  // [child][weight_stride], of the type WEIGHT
    void* fine;           // [component][fine_slots], of the type REAL
    void* coarse;         // [component][coarse_slots], the same
    GridStep step;
    int weight_stride;
    int child[27];        // from the fine slot of a coarse point to that of its child, by number_of
    int above_coarse[8];  // from a coarse point to the next one along these axes, as bits
    int above_order[8];   // the same among weights
};

/// The most fine points that a kernel reads, and the most entries of a fine and of a coarse matrix.
constexpr int most_positions = 512, most_setup_entries = 125;

struct SetupArguments {
    const double* own[most_setup_entries];       // of each stored entry's coefficient: that of the fine point itself
    const double* mirrored[most_setup_entries];  // and the transposed one, for a point whose neighbour stores it
    double* weight[26];                          // of each child
    float* single_weight[26];                    // the same in single precision, if `rounds`
    double* coarse[most_setup_entries];          // of each stored entry
    long long a_stride;                          // from one coefficient to the next one
    GridStep step;
    int on_diagonal;                    // of the blocks
    int rounds;                         // whether weights are stored in single precision, too
    int position[most_positions];       // from the fine slot of a coarse point
    int coupled[most_setup_entries];    // from a coarse point to the one that an entry couples it to, among weights
    int offset[3][most_setup_entries];  // to the same point
};

/// The sums that a thread block makes over its points: one for each axis, the number of rows that are not those of an
/// M-matrix, and the number of rows whose couplings jump.
constexpr int coupling_counts = 5;

struct CouplingArguments {
    const double* a;  // [entry][row][col][a_stride]
    double* sums;     // [block][axis, and what rows are counted (coupling_counts)]
    float* single;    // receives the coefficients in single precision, as in `a`; or null
    GridSlots grid;
    int begin, pieces;    // the first plane that this rank has, and the blocks of a plane
    int slots, a_stride;  // in memory
    int candidates;       // the axes that can be coarsened, as bits
    int examines;         // whether rows are examined, of a symmetric matrix with one unknown
    int delta[1000];      // of the entries, core/grid/slots.hpp
};
static_assert(sizeof(GridSlots) == 28 && sizeof(GridStep) == 132 && sizeof(TransferArguments) == 336);
static_assert(sizeof(SetupArguments) == 7616 && sizeof(CouplingArguments) == 4080);

}  // namespace hyperplane::multigrid
