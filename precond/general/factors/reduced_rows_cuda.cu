// SPDX-License-Identifier: BSD-3-Clause
// Some lanes of a warp round the rows of a block row, one after the other: few where all rows are short.
#include "core/device/cuda.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/general/factors/reduced_rows_cuda.hpp"

namespace hyperplane {
namespace {

constexpr int rounding_threads = 256;

/// The factors of a block row, and where their numbers go.
template <class T, int lanes>
struct RowToRound {
    const double* factors;  ///< of the whole pattern, as `numbers`
    T* numbers;
    RowExponent* exponents;  ///< of half_scaled: of component 0 in W
    Index begin, diagonal, end;
    Index exponents_of_part;     ///< numbers of W, and of D^-1
    unsigned long long unknown;  ///< the number of its first row in the log
    int dof;
    RoundingLog* log;
    bool there;  ///< lanes without a row have none of its entries, but take part in what a warp does together

    __device__ double element(Index block, int r, int c) const { return factors[(block * dof + r) * dof + c]; }
    /// Element (r, c) of block `block` of G = D^-1 U.
    __device__ double product(Index block, int r, int c) const {
        double g = 0.0;
        for (int q = 0; q < dof; ++q) g = fma(element(diagonal, r, q), element(block, q, c), g);
        return g;
    }

    /// Rounds row r of the blocks from `first` on; value(block, c) are its elements. All lanes of the warp call it.
    template <class Value>
    __device__ void round(UnitPart part, Index first, Index last, int r, const Value& value) const {
        const int count = int(last - first) * dof;
        const auto element_at = [&](int at) { return value(first + at / dof, at % dof); };
        const auto place = [&](int at) { return ((first + at / dof) * dof + r) * dof + at % dof; };
        const int lane = threadIdx.x % lanes;
        RowRounding<T> row;
        if constexpr (RowRounding<T>::scales) {
            double largest = 0.0;
            for (int at = lane; at < count; at += lanes)
                if (const double size = fabs(element_at(at)); size > largest && PivotRule::is_number(size))
                    largest = size;
            for (int distance = lanes / 2; distance > 0; distance /= 2)
                largest = fmax(largest, __shfl_xor_sync(~0u, largest, distance));
            row.see(largest);
            const RowExponent exponent = row.settle();
            if (lane == 0 && there) exponents[Index(part) * exponents_of_part + r] = exponent;
        }
        const RowRounding<T> without_events = row;
        for (int at = lane; at < count; at += lanes) numbers[place(at)] = row.rounded(element_at(at));
        const unsigned long long number = 3 * (unknown + r) + (unsigned long long)(part);
        constexpr unsigned of_row = ~0u >> (32 - lanes);
        const unsigned refused = __ballot_sync(~0u, row.refused()) >> (threadIdx.x % 32 - lane) & of_row;
        if (refused == 0) return row.tell(*log, number);
        // The log counts such a row once and keeps its first value that does not fit.
        if (lane > 0) return;
        row = without_events;
        for (int at = 0; at < count; ++at) row.rounded(element_at(at));
        row.tell(*log, number);
    }

    __device__ void round() const {
        for (int r = 0; r < dof; ++r) {
            const auto given = [&](Index block, int c) { return element(block, r, c); };
            round(UnitPart::w, begin, diagonal, r, given);
            round(UnitPart::inverse, diagonal, diagonal + there, r, given);
            round(UnitPart::g, diagonal + 1, end, r, [&](Index block, int c) { return product(block, r, c); });
        }
    }
};

template <class T, int lanes>
__global__ void __launch_bounds__(rounding_threads)
    round_rows(const Index* row_begin, const Index* diagonals, Index rows, const double* factors, T* numbers,
               RowExponent* exponents, Index exponents_of_part, unsigned long long first, int dof, RoundingLog* log) {
    const Index row = (Index(blockIdx.x) * rounding_threads + threadIdx.x) / lanes;
    const bool there = row < rows;
    const Index diagonal = there ? diagonals[row] : -1, none = diagonal + 1;
    RowToRound<T, lanes>{factors,
                         numbers,
                         exponents ? exponents + row * dof : nullptr,
                         there ? row_begin[row] : diagonal,
                         diagonal,
                         there ? row_begin[row + 1] : none,
                         exponents_of_part,
                         (first + row) * dof,
                         dof,
                         log,
                         there}
        .round();
}

/// Lanes that round a row of W or G together, of `rows` that are rounded: a power of two near its average numbers.
int lanes_for(const GpuPattern& pattern, Index rows, int dof) {
    if (pattern.counts.long_rows > 0) return 32;
    const Index numbers = (pattern.pattern->blocks() - rows) * dof / 2;
    int lanes = 4;
    while (lanes < 32 && 2 * numbers > 3 * lanes * rows) lanes *= 2;
    return lanes;
}

}  // namespace

RoundedFactors::RoundedFactors(const GpuPattern& pattern, FactorStorage storage, int dof, const std::string& label)
    : dof_(dof),
      numbers_(pattern.pattern->context(), storage, pattern.pattern->blocks() * dof * dof,
               3 * pattern.pattern->rows() * dof, label) {}

Rounding RoundedFactors::round(const GpuPattern& pattern, const double* factors, const BsrMatrix& a, Index before) {
    const BlockPattern& p = *pattern.pattern;
    const Context& gpu = a.context();
    const Index rows = a.pattern()->rows();
    return rounding_by(gpu, a.space(), dof_, 3, [&](RoundingLog* log) {
        if (rows == 0) return;
        numbers_.with_values([&]<class T>(T* to) {
            const auto launch = [&](const auto& kernel, int lanes) {
                kernel<<<cuda::blocks_for(lanes * rows, rounding_threads), rounding_threads, 0, cuda::stream(gpu)>>>(
                    p.row_begin() + before, pattern.diagonal.data() + before, rows, factors, to,
                    numbers_.exponents(before * dof_), p.rows() * dof_,
                    (unsigned long long)(a.space().first_block_row()), dof_, log);
                cuda::launched(gpu, "rounding of factors");
            };
            switch (lanes_for(pattern, rows, dof_)) {
                case 4: return launch(round_rows<T, 4>, 4);
                case 8: return launch(round_rows<T, 8>, 8);
                case 16: return launch(round_rows<T, 16>, 16);
                default: return launch(round_rows<T, 32>, 32);
            }
        });
    });
}

}  // namespace hyperplane
