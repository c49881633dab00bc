// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/sources.hpp"

#include <algorithm>

namespace hyperplane::multigrid {
namespace {

/// The planes of a copy between its halos: with the halos, coarse points on either of them, and on none further from
/// the cut, find what they need.
constexpr int copied = 2;

/// A rank's planes of a matrix, and those of the ranks beside it that lie near the cuts.
class NearPlanes {
public:
    explicit NearPlanes(const StructMatrix& a)
        : a_(a), begin_(a.layout().begin_plane()), end_(a.layout().end_plane()), reach_(a.stencil().planes() + 1) {
        Communicator& ranks = *a.context().ranks();
        const int rank = ranks.rank();
        const bool below = rank > 0, above = rank + 1 < ranks.size();
        if (below) ranks.send(rank - 1, own(begin_));
        if (above) ranks.send(rank + 1, own(end_ - reach_));
        if (below) receive(ranks, rank - 1, below_);
        if (above) receive(ranks, rank + 1, above_);
    }

    /// Fills all planes of a copy that are planes of the grid.
    void fill(StructMatrix& copy) const {
        const Layout& layout = copy.layout();
        const int first = std::max(0, layout.begin_plane() - layout.halo());
        const int last = std::min(layout.grid().nz, layout.end_plane() + layout.halo());
        const std::vector<double*> to = copy.coefficients();
        for (int k = first; k < last; ++k)
            for (std::size_t at = 0; at < to.size(); ++at)
                std::copy_n(plane(k, at), layout.slots_of_plane(), to[at] + layout.slot({0, 0, k}));
    }

private:
    Index size() const { return a_.layout().slots_of_plane(); }
    const double* coefficient(std::size_t at) const {
        const int square = a_.dof() * a_.dof(), block = int(at) % square;
        return a_.values(int(at) / square, block / a_.dof(), block % a_.dof());
    }
    std::size_t coefficients() const { return std::size_t(a_.stored_entries()) * a_.dof() * a_.dof(); }
    /// Own planes from k on.
    std::vector<double> own(int k) const {
        std::vector<double> values;
        for (std::size_t at = 0; at < coefficients(); ++at) {
            const double* from = coefficient(at) + a_.layout().slot({0, 0, k});
            values.insert(values.end(), from, from + reach_ * size());
        }
        return values;
    }
    void receive(Communicator& ranks, int from, std::vector<double>& values) const {
        values.resize(coefficients() * reach_ * size());
        ranks.receive(from, values);
    }
    const double* plane(int k, std::size_t at) const {
        if (k < begin_) return below_.data() + (Index(at) * reach_ + k - (begin_ - reach_)) * size();
        if (k >= end_) return above_.data() + (Index(at) * reach_ + k - end_) * size();
        return coefficient(at) + a_.layout().slot({0, 0, k});
    }

    const StructMatrix& a_;
    int begin_, end_, reach_;
    std::vector<double> below_, above_;  ///< by coefficient and plane
};

}  // namespace

Sources::Sources(const StructMatrix& a, const Coarsening& grids, const Layout& coarse) : a_(a) {
    if (!a.layout().is_part() || !grids.axes[2]) {
        list_ = {{&a, coarse}};
        return;
    }
    const NearPlanes near(a);
    const auto copy = [&](std::optional<StructMatrix>& to, int begin) {
        const Layout layout = a.layout().of_planes(begin, begin + copied, a.stencil().planes() + 1);
        to.emplace(a.context(), layout, a.stencil(), a.dof(), a.storage(), "multigrid: planes beside cuts");
        near.fill(*to);
    };
    const int first = coarse.begin_plane(), last = coarse.end_plane() - 1;
    const auto planes = [&](int begin, int end) { return coarse.of_planes(begin, end, 0); };
    copy(low_, a.layout().begin_plane());
    list_ = {{&*low_, planes(first, first + 1)}};
    if (last == first) return;
    copy(high_, a.layout().end_plane() - copied);
    list_.push_back({&*high_, planes(last, last + 1)});
    if (last > first + 1) list_.push_back({&a, planes(first + 1, last)});
}

Index Sources::bytes(const Layout& part, const Stencil& stencil, Index coefficients) {
    const Index planes = copied + 2 * (stencil.planes() + 1);
    return 2 * StructMatrix::bytes(coefficients, planes * part.slots_of_plane());
}

}  // namespace hyperplane::multigrid
