// SPDX-License-Identifier: BSD-3-Clause
// Tunings of struct_ilu's kernels on a GPU that only benchmarks and tests set.
#pragma once

namespace hyperplane {

/// How a kernel cuts its work; every choice gives the same result. 0 and -1 leave a choice to the program.
struct StructIluTuning {
    int tile_j = 0, tile_k = 0;      ///< lines of a tile, of J = j + skew k and of k
    int stages = -1;                 ///< levels of coefficients in shared memory, 0: none, read when needed
    int lookahead = 0;               ///< levels whose edges are asked for at once: 1, 2, 4 or 8
    int loaders = -1;                ///< groups of warps that do nothing but fetch coefficients
    int loader_lines = 0;            ///< that one of their threads fetches for
    int blocks = 0;                  ///< resident on a multiprocessor
    int factor_j = 0, factor_k = 0;  ///< lines of a tile of the factorisation
    int factor_blocks = 0;           ///< blocks of the factorisation resident on a multiprocessor
    bool factor_ring = true;         ///< points factored by rows find their neighbours' factors in shared memory
    bool in_registers = true;        ///< points of up to 8 unknowns are factored in registers
    bool pipelined = true;           ///< terms of older levels are summed ahead (section 4.2.1)
    bool edges_meet = false;         ///< what brings edges waits at barriers where it need only arrive, for racecheck
};

}  // namespace hyperplane
