// SPDX-License-Identifier: BSD-3-Clause
// Tunings of kernels on a GPU that only benchmarks and tests set. Every choice gives the same result; a default of 0 or
// -1 lets the program choose, and other defaults are what runs use.
#pragma once

#include "core/types.hpp"

namespace hyperplane {

/// Of struct_ilu's factorisation and solves; sections are those of the StructILU paper.
struct StructIluTuning {
    int tile_j = 0, tile_k = 0;      ///< lines of a tile along J = j + skew k and along k
    int stages = -1;                 ///< levels of coefficients in shared memory; 0: they are read when needed
    int lookahead = 0;               ///< levels whose edges are loaded at the same time: 1, 2, 4 or 8
    int producer_groups = -1;        ///< groups of producer warps, which load coefficients
    int producer_lines = 0;          ///< lines for which one thread of a producer warp loads
    int run = 0;                     ///< lines of one copy in double precision: 1, or 2 where slots allow it
    int blocks = 0;                  ///< thread blocks resident on a multiprocessor
    int factor_j = 0, factor_k = 0;  ///< tile_j and tile_k of the factorisation
    int factor_blocks = 0;           ///< `blocks` of the factorisation
    int factor_groups = 0;           ///< groups of threads that share the entries of a row (section 4.2.2)
    int factor_waiting = 8;          ///< operations that one wait of these groups costs; 0: wait after each level
    bool factor_pipeline = false;    ///< these groups overlap the rows of two levels (two-substage pipeline)
    bool factor_ring = true;         ///< factorisations with a thread a row keep neighbours' factors in shared memory
    bool in_registers = true;        ///< points of up to 8 unknowns are factored in registers
    int pipelined = -1;              ///< 1: terms of earlier levels are summed in advance (section 4.2.1); 0: not
    int rows = -1;                   ///< edges that a lane loads at a time if levels end without a barrier; 0: with one
    bool edges_wait = false;         ///< threads that load edges wait where arriving suffices, for racecheck
};

/// Of fgbilu's style blocks; the algorithm is the FGBILU paper's.
struct FgBiluTuning {
    int parts = 0;           ///< threads that share a column in the solves; dof: an element a thread (Algorithm 10)
    int points = 0;          ///< of a thread block in the solves
    bool together = true;    ///< the coefficients of a point's block are contiguous
    bool overlapped = true;  ///< a level's kernel begins to load its coefficients before the one before it ends
};

/// Of subdomain_ildu0's kernels that go level by level.
struct SubdomainTuning {
    int workers = 0;        ///< consumer threads of a thread block, a multiple of 32; 0: one for each row
    Index ring = 8 * 1024;  ///< bytes in flight that a thread block should have, even if fewer are resident
};

}  // namespace hyperplane
