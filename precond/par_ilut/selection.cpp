// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/selection.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "precond/general/factors/cpu.hpp"
#include "precond/general/orders/levels.hpp"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* selection_label = "factor";

/// The bits of a size. As unsigned integers they are ordered like the sizes, and a NaN is larger than any number.
using Key = std::uint64_t;

/// The squared size of block `at`, which lies in row i and beside the diagonal. For an indefinite matrix it may be
/// negative; its magnitude counts. Products are fused by name: a GPU must find the same bits (selection_cuda.cu).
double size_of(const GeneralFactors& x, const double* inverse, Index i, Index at) {
    const int dof = x.dof, size = dof * dof;
    const Index j = x.pattern().column()[at];
    const double* const block = x.values.data() + at * size;
    std::array<double, max_dof * max_dof> product;
    std::fill_n(product.begin(), size, 0.0);
    double sum = 0.0;
    if (x.symmetric) {
        general_cpu::add_product(dof, 1.0, inverse + i * size, block, product.data());
        for (int entry = 0; entry < size; ++entry) sum = std::fma(block[entry], product[entry], sum);
        return sum;
    }
    if (j < i)
        general_cpu::add_product(dof, 1.0, block, inverse + j * size, product.data());
    else
        std::copy_n(block, size, product.begin());
    for (int entry = 0; entry < size; ++entry) sum = std::fma(product[entry], product[entry], sum);
    return sum;
}

/// The blocks of one triangle of X.
class Triangle {
public:
    Triangle(const GeneralFactors& x, Side side) : x_(x), side_(side) {}

    Index begin(Index i) const {
        return side_ == Side::lower ? x_.pattern().row_begin()[i] : x_.filled.diagonal[i] + 1;
    }
    Index end(Index i) const { return side_ == Side::lower ? x_.filled.diagonal[i] : x_.pattern().row_begin()[i + 1]; }
    Index rows() const { return x_.pattern().rows(); }
    Index blocks() const {
        const Index lower = x_.filled.lower;
        return side_ == Side::lower ? lower : x_.pattern().blocks() - rows() - lower;
    }

private:
    const GeneralFactors& x_;
    Side side_;
};

/// Blocks whose keys exceed `key` are kept, and the first `equal` of those whose keys equal it.
struct Threshold {
    Key key = 0;
    Index equal = 0;
};

/// The threshold that keeps `kept` blocks, 0 < kept < triangle.blocks(). A radix selection finds it, 16 bits at a time.
Threshold threshold_of(const Triangle& triangle, const Buffer<Key>& keys, Index kept, int threads) {
    constexpr int bits = 16;
    Threshold result{0, kept};
    for (int shift = 48; shift >= 0; shift -= bits) {
        std::vector<Index> count(std::size_t(1) << bits, 0);
#pragma omp parallel num_threads(threads)
        {
            std::vector<Index> own(count.size(), 0);
#pragma omp for schedule(static)
            for (Index i = 0; i < triangle.rows(); ++i)
                for (Index at = triangle.begin(i); at < triangle.end(i); ++at)
                    if (const Key digits = keys[at] >> shift; digits >> bits == result.key)
                        ++own[digits & (count.size() - 1)];
#pragma omp critical(hyperplane_threshold)
            for (std::size_t digit = 0; digit < count.size(); ++digit) count[digit] += own[digit];
        }
        std::size_t digit = count.size() - 1;
        for (; result.equal > count[digit]; --digit) result.equal -= count[digit];
        result.key = result.key << bits | digit;
    }
    return result;
}

/// Marks the largest blocks of one triangle.
void mark(const Triangle& triangle, const Buffer<Key>& keys, Index limit, int threads, Buffer<unsigned char>& kept) {
    if (limit == 0) return;
    const bool all = limit >= triangle.blocks();
    Threshold threshold = all ? Threshold{} : threshold_of(triangle, keys, limit, threads);
    for (Index i = 0; i < triangle.rows(); ++i)
        for (Index at = triangle.begin(i); at < triangle.end(i); ++at)
            kept[at] = all || keys[at] > threshold.key || (keys[at] == threshold.key && threshold.equal-- > 0);
}

/// The kept blocks of X.
GeneralFactors part_of(const BsrMatrix& a, const GeneralFactors& x, const Buffer<unsigned char>& kept) {
    const Context& host = a.context();
    const BlockPattern& p = x.pattern();
    const Index size = x.dof * x.dof;
    Buffer<Index> row_begin(host, selection_label, p.rows() + 1);
    for (Index i = 0; i < p.rows(); ++i) {
        row_begin[i + 1] = row_begin[i];
        for (Index at = p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at) row_begin[i + 1] += kept[at];
    }
    Buffer<int> column(host, selection_label, row_begin[p.rows()]);
    GeneralFactors part;
    part.dof = x.dof;
    part.symmetric = x.symmetric;
    part.values = Buffer<double>(host, selection_label, column.size() * size);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(x.value_count()))
    for (Index i = 0; i < p.rows(); ++i)
        for (Index at = p.row_begin()[i], to = row_begin[i]; at < p.row_begin()[i + 1]; ++at) {
            if (!kept[at]) continue;
            column[to] = p.column()[at];
            std::copy_n(x.values.data() + at * size, size, part.values.data() + to++ * size);
        }
    part.filled = filled_as(*a.pattern(), std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column)),
                            selection_label);
    return part;
}

}  // namespace

FillLimits limits_of(Index rows, Index lower, Index upper, double fill_limit) {
    const Index most = rows * (rows - 1) / 2;
    const auto of = [&](Index beside) {
        const double limit = std::floor(fill_limit * double(beside + rows)) - double(rows);
        return std::max(beside, limit < double(most) ? Index(limit) : most);
    };
    return {of(lower), of(upper)};
}

GeneralFactors with_largest(const BsrMatrix& a, const GeneralFactors& x, const double* inverse,
                            const FillLimits& limits) {
    const BlockPattern& p = x.pattern();
    const int threads = a.context().threads_for(x.value_count());
    Buffer<Key> keys(a.context(), selection_label, p.blocks());
    Buffer<unsigned char> kept(a.context(), selection_label, p.blocks());
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index i = 0; i < p.rows(); ++i) {
        const Index diagonal = x.filled.diagonal[i];
        kept[diagonal] = 1;
        for (Index at = x.symmetric ? diagonal + 1 : p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at)
            if (at != diagonal) keys[at] = std::bit_cast<Key>(std::abs(size_of(x, inverse, i, at)));
    }
    mark(Triangle(x, Side::upper), keys, limits.upper, threads, kept);
    if (!x.symmetric) {
        mark(Triangle(x, Side::lower), keys, limits.lower, threads, kept);
    } else {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (Index i = 0; i < p.rows(); ++i)
            for (Index at = p.row_begin()[i]; at < x.filled.diagonal[i]; ++at)
                kept[at] = kept[p.find(p.column()[at], int(i))];
    }
    return part_of(a, x, kept);
}

Index selection_bytes(Index blocks) {
    return blocks * Index(sizeof(Key) + sizeof(unsigned char));
}

}  // namespace hyperplane::par_ilut
