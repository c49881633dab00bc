// SPDX-License-Identifier: BSD-3-Clause
// The parts of a round of par_ilut on a GPU, with the results of those on a CPU to the last bit: every sum has the
// order and the fused products of the CPU's loops (candidates.hpp, selection.hpp).
#pragma once

#include <memory>

#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/par_ilut/selection.hpp"

namespace hyperplane::par_ilut {

/// X in a GPU's memory.
struct GpuFactors {
    std::unique_ptr<GpuPattern> pattern;  ///< with a_diagonal
    Buffer<double> values;                ///< [block][row][col]
};

/// X on a pattern that is not A's; all in the GPU's memory.
GpuFactors with_pattern(const BsrMatrix& a, Buffer<Index> begin, Buffer<int> column, Buffer<double> values,
                        const std::string& label);

/// As Candidates, in a GPU's memory; for a symmetric matrix those above the diagonal alone.
struct GpuCandidates {
    Buffer<Index> begin;
    Buffer<int> column;     ///< of a bound for their number
    Buffer<double> values;  ///< the same
    Index count = 0;
    double residual = 0.0;  ///< if it was asked for
};

/// `inverse`: of the diagonal blocks of X, [row][row][col]. `limit`: of their number (most_candidates), where those of
/// a symmetric matrix are counted once.
GpuCandidates candidates_on_gpu(const BsrMatrix& a, double alpha, const GpuFactors& x, const Buffer<double>& inverse,
                                int most, Index limit, bool with_residual);

/// X with the candidates added, and for a symmetric matrix their mirror images; X is released.
GpuFactors with_candidates(const BsrMatrix& a, GpuFactors x, GpuCandidates more);

/// X with its diagonal and the largest blocks of each triangle; X is released.
GpuFactors with_largest(const BsrMatrix& a, GpuFactors x, const Buffer<double>& inverse, const FillLimits& limits);

/// The most items, blocks of A and products, that are sorted together where X has so many blocks; a row with more of
/// them is searched by itself.
Index most_items(Index blocks);

/// Bytes that a search holds besides X and its result, with so many items at a time; those of joining X and so many
/// candidates, and those of a selection among so many blocks, besides what is joined or selected and the result.
Index search_bytes_on_gpu(Index rows, Index blocks, Index items, int dof, bool with_residual);
Index joining_bytes_on_gpu(Index rows, Index candidates, bool symmetric);
Index selection_bytes_on_gpu(Index blocks);

}  // namespace hyperplane::par_ilut
