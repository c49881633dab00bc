// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/sources.hpp"

#include <algorithm>

#include "core/ranks/slab_ends.hpp"

namespace hyperplane::multigrid {
namespace {

/// The planes of a copy between its halos: with the halos, coarse points on either of them, and on none further from
/// the cut, find what they need.
constexpr int copied = 2;

constexpr const char* label = "multigrid: planes beside cuts";

/// Copies values within the memory of a context's backend.
void copy_values(const Context& context, const double* from, double* to, Index count) {
    if (context.backend() == Backend::cuda)
        context.stream().copy(from, to, count * Index(sizeof(double)));
    else
        std::copy_n(from, count, to);
}

/// A rank's planes of a matrix, and those of the ranks beside it that lie near the cuts.
class NearPlanes {
public:
    explicit NearPlanes(const StructMatrix& a)
        : a_(a),
          coefficients_(a.coefficients()),
          begin_(a.layout().begin_plane()),
          end_(a.layout().end_plane()),
          reach_(reach(a.stencil())) {
        const Communicator& ranks = *a.context().ranks();
        if (ranks.rank() > 0) below_ = room();
        if (ranks.rank() + 1 < ranks.size()) above_ = room();
        exchange_arrays(a.context(), end(begin_, below_), end(end_ - reach_, above_));
    }

    /// So many planes of the rank beside a cut are known.
    static int reach(const Stencil& stencil) { return stencil.planes() + 1; }

    /// Fills all planes of a copy that are planes of the grid.
    void fill(StructMatrix& copy) const {
        const Layout& layout = copy.layout();
        const int first = std::max(0, layout.begin_plane() - layout.halo());
        const int last = std::min(layout.grid().nz, layout.end_plane() + layout.halo());
        const std::vector<double*> to = copy.coefficients();
        for (std::size_t at = 0; at < to.size(); ++at) {
            const auto planes = [&](int begin, int end, const double* from) {
                if (begin < end)
                    copy_values(a_.context(), from, to[at] + layout.slot({0, 0, begin}), (end - begin) * size());
            };
            const int low = std::max(first, begin_), high = std::min(last, end_);
            planes(first, begin_, received(below_, at) + (first - (begin_ - reach_)) * size());
            planes(low, high, coefficients_[at] + a_.layout().slot({0, 0, low}));
            planes(end_, last, received(above_, at));
        }
    }

private:
    Index size() const { return a_.layout().slots_of_plane(); }
    Buffer<double> room() const {
        return Buffer<double>(a_.context(), label, Index(coefficients_.size()) * reach_ * size());
    }
    /// Own planes from k on, and the planes beside them.
    EndArrays end(int k, Buffer<double>& beside) const {
        if (beside.size() == 0) return {};
        const Index count = reach_ * size();
        EndArrays planes{{}, count, {}, count};
        for (std::size_t at = 0; at < coefficients_.size(); ++at) {
            planes.own.push_back(coefficients_[at] + a_.layout().slot({0, 0, k}));
            planes.halo.push_back(beside.data() + Index(at) * count);
        }
        return planes;
    }
    const double* received(const Buffer<double>& values, std::size_t at) const {
        return values.data() + Index(at) * reach_ * size();
    }

    const StructMatrix& a_;
    const std::vector<const double*> coefficients_;
    int begin_, end_, reach_;
    Buffer<double> below_, above_;  ///< by coefficient and plane
};

}  // namespace

void Source::append_lines(const Coarsening& grids, int j, int k, std::vector<int>& numbers) const {
    const Int3 first = grids.first_child({0, j, k});
    const int reach = a->stencil().radius();  // of the children, whose coefficients may be stored in their neighbours
    append_around(*a->equal_lines(), grids.fine, first, reach + grids.axes[1], reach + grids.axes[2], numbers);
}

Sources::Sources(const StructMatrix& a, const Coarsening& grids, const Layout& coarse) : a_(a) {
    if (!a.layout().is_part() || !grids.axes[2]) {
        list_ = {Source(a, coarse)};
        return;
    }
    const NearPlanes near(a);
    const auto copy = [&](std::optional<StructMatrix>& to, int begin) {
        const Layout layout = a.layout().of_planes(begin, begin + copied, a.stencil().planes() + 1);
        to.emplace(a.context(), layout, a.stencil(), a.dof(), a.storage(), label);
        near.fill(*to);
    };
    const int first = coarse.begin_plane(), last = coarse.end_plane() - 1;
    const auto planes = [&](int begin, int end) { return coarse.of_planes(begin, end, 0); };
    copy(low_, a.layout().begin_plane());
    list_ = {Source(*low_, planes(first, first + 1))};
    if (last == first) return;
    copy(high_, a.layout().end_plane() - copied);
    list_.push_back(Source(*high_, planes(last, last + 1)));
    if (last > first + 1) list_.push_back(Source(a, planes(first + 1, last)));
}

Index Sources::bytes(const Layout& part, const Stencil& stencil, Index coefficients) {
    const int reach = NearPlanes::reach(stencil), halo = reach;
    const Index copies = 2 * StructMatrix::bytes(coefficients, (copied + 2 * halo) * part.slots_of_plane());
    const int neighbours = (part.begin_plane() > 0) + (part.end_plane() < part.grid().nz);
    return copies + neighbours * coefficients * reach * part.slots_of_plane() * Index(sizeof(double));
}

}  // namespace hyperplane::multigrid
