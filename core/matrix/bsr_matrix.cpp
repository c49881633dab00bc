// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/bsr_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/matrix/bsr_product_cuda.hpp"
#include "core/matrix/bsr_symmetry_cuda.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

/// Calls body(first, last) for consecutive block rows, which the threads share by their numbers of blocks.
template <class Body>
void for_each_part(const Context& context, const BlockPattern& pattern, int dof, const Body& body) {
    const int parts = context.threads_for(pattern.blocks() * dof);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; ++part) body(pattern.first_row(part, parts), pattern.first_row(part + 1, parts));
}

std::shared_ptr<const BlockPattern> device_copy(const Context& context, const BlockPattern& pattern,
                                                const std::string& label) {
    if (context.backend() == Backend::cpu) return nullptr;
    return pattern.copied_to(context, label);
}

}  // namespace

BsrMatrix::BsrMatrix(const Context& context, std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric,
                     std::string label)
    : SystemMatrix(context, pattern->space(), dof, symmetric),
      pattern_(std::move(pattern)),
      here_(device_copy(context, *pattern_, label)) {
    if (dof < 1 || dof > max_dof) throw UsageError(fmt::format("dof must lie in 1..{}, not {}", max_dof, dof));
    values_ = Buffer<double>(context, std::move(label), nonzeros());
}

BsrMatrix::BsrMatrix(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric, Buffer<double> values)
    : SystemMatrix(pattern->context(), pattern->space(), dof, symmetric),
      pattern_(std::move(pattern)),
      values_(std::move(values)) {}

BsrMatrix::BsrMatrix(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric, const double* values)
    : SystemMatrix(pattern->context(), pattern->space(), dof, symmetric), pattern_(std::move(pattern)), read_(values) {}

BsrMatrix::BsrMatrix(const Context& context, std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric,
                     const double* values)
    : SystemMatrix(context, pattern->space(), dof, symmetric),
      pattern_(std::move(pattern)),
      here_(device_copy(context, *pattern_, "matrix")),
      read_(values) {}

Index BsrMatrix::bytes(const BlockPattern& pattern, int dof, Backend backend) {
    const Index held = backend == Backend::cuda ? pattern.bytes() : 0;
    return held + pattern.blocks() * dof * dof * Index(sizeof(double));
}

void BsrMatrix::assign(const BsrMatrix& other) {
    const Index bytes = nonzeros() * Index(sizeof(double));
    if (backend() == Backend::cuda || other.backend() == Backend::cuda)
        copy_between(other.context(), other.values(), context(), values(), bytes);
    else
        std::copy_n(other.values(), nonzeros(), values());
}

const BsrProductCuda& BsrMatrix::cuda() const {
    if constexpr (cuda_built)
        if (!cuda_) cuda_ = std::make_shared<BsrProductCuda>(*this);
    return *cuda_;
}

void BsrMatrix::apply(const Vector& x, Vector& y) const {
    if (pattern_->slab()) exchange_halo(x);
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().apply(*this, x, y);
    for_each_part(context(), *pattern_, dof(), [&](Index first, Index last) {
        bsr::multiply(*pattern_, dof(), values(), x.data(), y.data(), first, last);
    });
}

void BsrMatrix::residual(const Vector& b, const Vector& x, Vector& r) const {
    if (pattern_->slab()) exchange_halo(x);
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().residual(*this, b, x, r);
    for_each_part(context(), *pattern_, dof(), [&](Index first, Index last) {
        bsr::subtract_exactly(*pattern_, dof(), values(), b.data(), x.data(), r.data(), first, last);
    });
}

Index BsrMatrix::bytes_per_apply() const {
    return pattern_->bytes() + (nonzeros() + 2 * unknowns()) * Index(sizeof(double));
}

CsrMatrix BsrMatrix::to_csr() const {
    CsrMatrix csr;
    csr.rows = unknowns();
    csr.row_begin.push_back(0);
    const RowOrder* const order = pattern_->order().get();
    std::vector<Index> row_of(std::size_t(pattern_->rows()));  // the row of each equation of the given order
    for (Index row = 0; row < pattern_->rows(); ++row) row_of[order ? order->equations()[row] : row] = row;
    std::vector<std::pair<Index, Index>> blocks;  // column in the given order, and place
    for (const Index row : row_of) {
        blocks.clear();
        for (Index at = pattern_->row_begin()[row]; at < pattern_->row_begin()[row + 1]; ++at)
            blocks.emplace_back(pattern_->given_row(pattern_->column()[at]), at);
        std::sort(blocks.begin(), blocks.end());
        for (int r = 0; r < dof(); ++r) {
            for (const auto& [column, at] : blocks)
                for (int c = 0; c < dof(); ++c) {
                    csr.column.push_back(column * dof() + c);
                    csr.value.push_back(values()[(at * dof() + r) * dof() + c]);
                }
            csr.row_begin.push_back(Index(csr.column.size()));
        }
    }
    return csr;
}

ReorderedPattern in_order(const BlockPattern& pattern, std::shared_ptr<const RowOrder> order,
                          const std::string& label) {
    const Context& host = pattern.context();
    const Index rows = pattern.rows();
    Buffer<Index> row_begin(host, label, rows + 1), from(host, label, pattern.blocks());
    Buffer<int> column(host, label, pattern.blocks());
    for (Index p = 0; p < rows; ++p) {
        const Index given = order->equations()[p];
        row_begin[p + 1] = row_begin[p] + pattern.row_begin()[given + 1] - pattern.row_begin()[given];
    }
#pragma omp parallel num_threads(host.threads_for(pattern.blocks()))
    {
        std::vector<std::pair<int, Index>> blocks;  // column and place
#pragma omp for schedule(static)
        for (Index p = 0; p < rows; ++p) {
            const Index given = order->equations()[p];
            blocks.clear();
            for (Index at = pattern.row_begin()[given]; at < pattern.row_begin()[given + 1]; ++at)
                blocks.emplace_back(order->place[pattern.column()[at]], at);
            std::sort(blocks.begin(), blocks.end());
            Index to = row_begin[p];
            for (const auto& [j, at] : blocks) column[to] = j, from[to++] = at;
        }
    }
    return {std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column), std::move(order)),
            std::move(from)};
}

std::unique_ptr<BsrMatrix> in_order(const BsrMatrix& a, std::shared_ptr<const RowOrder> order,
                                    const std::string& label) {
    const bool matched = order->matches_rows();
    ReorderedPattern made = in_order(*a.pattern(), std::move(order), label);
    const int size = a.dof() * a.dof();
    Buffer<double> values(a.context(), label, made.from.size() * size);
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.nonzeros()))
    for (Index at = 0; at < made.from.size(); ++at)
        std::copy_n(a.values() + made.from[at] * size, size, values.data() + at * size);
    const bool symmetric =
        matched ? equals_transpose(BsrMatrix(made.pattern, a.dof(), false, values.data())) : a.symmetric();
    return std::make_unique<BsrMatrix>(made.pattern, a.dof(), symmetric, std::move(values));
}

CsrMatrix csr_of(const SystemMatrix& a) {
    if (const auto* const general = dynamic_cast<const BsrMatrix*>(&a)) {
        std::unique_ptr<BsrMatrix> copy;
        return on_host(*general, copy).to_csr();
    }
    std::optional<StructMatrix> copy;
    return on_host(structured(a), copy).to_csr();
}

bool equals_transpose(const BsrMatrix& a) {
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda) return cuda::equals_transpose(a);
    const BlockPattern& p = *a.pattern();
    const int dof = a.dof();
    // Blocks below the diagonal are looked up above it. If each is there, and these are all, the pattern is symmetric.
    Index differing = 0, below = 0, above = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.nonzeros())) \
    reduction(+ : differing, below, above)
    for (Index row = 0; row < p.rows(); ++row)
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1] && differing == 0; ++at) {
            const Index column = p.column()[at];
            above += column > row;
            below += column < row;
            if (column > row) continue;
            const Index mirrored = column == row ? at : p.find(column, int(row));
            if (mirrored < 0) {
                ++differing;
                continue;
            }
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c)
                    differing += a.values()[(at * dof + r) * dof + c] != a.values()[(mirrored * dof + c) * dof + r];
        }
    if (below != above) return false;
    return differing == 0;
}

BsrMatrix& general(SystemMatrix& a) {
    auto* const found = dynamic_cast<BsrMatrix*>(&a);
    if (!found) throw Error(ExitCode::internal, "a general matrix was asked for, and this one is of another kind");
    return *found;
}

const BsrMatrix& general(const SystemMatrix& a) {
    return general(const_cast<SystemMatrix&>(a));
}

const BsrMatrix& on_host(const BsrMatrix& a, std::unique_ptr<BsrMatrix>& copy) {
    if (a.backend() == Backend::cpu) return a;
    copy = std::make_unique<BsrMatrix>(a.context().host(), a.pattern(), a.dof(), a.symmetric(), "host copy");
    copy->assign(a);
    return *copy;
}

}  // namespace hyperplane
