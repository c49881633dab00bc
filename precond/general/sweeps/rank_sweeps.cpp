// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/sweeps/rank_sweeps.hpp"

#include <utility>

#include "core/ranks/rows_cuda.hpp"
#include "precond/general/orders/row_counts.hpp"

namespace hyperplane {
namespace {

Index bytes_of_vector(const std::shared_ptr<const RowSlab>& slab, int dof) {
    return IndexSpace::plain(slab).slots_in_memory() * dof * Index(sizeof(double));
}

/// Between vectors with other halos.
void copy_own_rows(const Vector& from, Vector& to) {
    copy_between(from.context(), from.data(), to.context(), to.data(), from.size() * Index(sizeof(double)));
}

/// Prepares a slab for a GPU.
[[maybe_unused]] std::shared_ptr<const RowSlab> with_exchange_on_gpu(const Context& gpu, const RowSlab& slab, int dof,
                                                                     const std::string& label) {
    auto made = std::make_shared<RowSlab>(slab);
    made->on_gpu = cuda::rows_on_gpu(gpu, *made, dof, label);
    return made;
}

}  // namespace

RankSweeps::RankSweeps(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
                       const RowSlab& of_vectors, const SweepOptions& options, const std::string& label) {
    const bool apart = slab.get() != &of_vectors;
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda && !slab->on_gpu)
            slab = with_exchange_on_gpu(context, *slab, factors.dof, label);
    swept_ = std::make_unique<SweptFactors>(context, factors, options, slab);
    if (!apart) return;
    for (Vector* const vector : {&r_, &z_}) *vector = Vector(context, IndexSpace::plain(slab), factors.dof, label);
}

void RankSweeps::apply(const Vector& r, Vector& z) const {
    if (z_.memory().size() == 0) return swept_->apply(r, z);
    copy_own_rows(r, r_);
    swept_->apply(r_, z_);
    copy_own_rows(z_, z);
}

Index RankSweeps::bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                        const RowSlab& of_vectors, int dof, Backend backend) {
    const Index* const begin = filled.pattern->row_begin() + filled.first;
    const Index value = dof * Index(sizeof(double)), halo = bytes_of_vector(slab, dof) - slab->rows * value;
    Index bytes = SweptFactors::bytes(slab->rows, begin[slab->rows] - begin[0], dof) + 2 * halo;
    if (slab.get() != &of_vectors) bytes += 2 * bytes_of_vector(slab, dof);
    if (backend == Backend::cpu) return bytes;
    bytes += SweptFactors::bytes_of_long_rows(filled, slab->rows, dof);
    if (!slab->on_gpu)
        for (const RowSlab::Neighbour& other : slab->neighbours)
            bytes += Index(other.sent.size()) * (value + Index(sizeof(int)));
    return bytes;
}

Index RankSweeps::setup_bytes(const std::shared_ptr<const RowSlab>& slab, int dof) {
    return 2 * bytes_of_vector(slab, dof);
}

}  // namespace hyperplane
