// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/galerkin.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "core/matrix/coefficients.hpp"
#include "precond/multigrid/galerkin_lines.hpp"
#include "precond/multigrid/galerkin_periodic.hpp"
#include "precond/multigrid/setup_cuda.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int reach = 2;  ///< the largest radius of a coarse stencil

/// The rows of one coarse point, for grids with periodic axes.
struct Products {
    using in_tiles = void;
    Coefficients a;
    WeightsView<const double> weights;
    MatrixView coarse;
    Layout coarse_layout;  ///< of the coarse matrix; the loop's is that of the rank's part
    short entry_of[125];   ///< by offset; -1 where the coarse stencil has none, or does not store it

    HYPERPLANE_HD int unknowns() const { return 64 * a.a.dof * a.a.dof; }

    HYPERPLANE_HD void operator()(Int3 coarse_point, Index /*of the loop*/) const {
        const Index coarse_slot = coarse_layout.slot(coarse_point);
        for (int e = 0; e < coarse.stored_entries; ++e)
            for (int row = 0; row < coarse.dof; ++row)
                for (int col = 0; col < coarse.dof; ++col) coarse.at(e, row, col, coarse_slot) = 0.0;
        for (int number = 0; number < 27; ++number) {
            Int3 p;
            if ((weights.places.of[number] < 0 && number != 13) ||
                !weights.grids.child(coarse_point, offset_of(number), p))
                continue;
            const double weight = number == 13 ? 1.0 : weights.at(number, weights.order.slot(coarse_point));
            const Index slot = a.layout.slot(p);
            for (int e = 0; e < a.entries; ++e) {
                Int3 q;
                if (a.neighbour(p, e, q)) add_parents(coarse_point, coarse_slot, weight, e, slot, q);
            }
        }
        const int diagonal = entry_of[place({0, 0, 0})];
        for (int c = 0; c < a.a.dof; ++c)
            if (double& own = coarse.at(diagonal, c, c, coarse_slot); own == 0.0) own = 1.0;
    }

    HYPERPLANE_HD static int place(Int3 d) {
        return d.x + reach + (2 * reach + 1) * (d.y + reach + (2 * reach + 1) * (d.z + reach));
    }

    HYPERPLANE_HD void add_parents(Int3 coarse_point, Index coarse_slot, double weight, int e, Index slot,
                                   Int3 q) const {
        const Index there = a.layout.slot(q);
        for (int number = 0; number < 27; ++number) {
            Int3 parent;
            if ((weights.places.of[number] < 0 && number != 13) || !weights.grids.parent(q, offset_of(number), parent))
                continue;
            const int entry = entry_of[place(weights.grids.offset(coarse_point, parent))];
            if (entry < 0) continue;
            const double both = weight * (number == 13 ? 1.0 : weights.at(number, weights.order.slot(parent)));
            for (int row = 0; row < a.a.dof; ++row)
                for (int col = 0; col < a.a.dof; ++col)
                    coarse.at(entry, row, col, coarse_slot) += both * a(e, row, col, slot, there);
        }
    }
};

/// One product P(i, I) a_i(o) P(i + o, J) of a coarse entry's sum. Its slot is relative to that of the fine point that
/// coincides with I.
struct Term {
    Index shift;           ///< of the coefficient
    short entry;           ///< of A, stored
    signed char from, to;  ///< places of the weights P(i, I) and P(i + o, J); -1 for 1
    bool mirrored;
};

/// The terms of all stored coarse entries, for grids without periodic axes. There they are the same at all points: from
/// a child that does not exist the weight is zero, and where a neighbour does not exist the coefficient is.
struct Terms {
    std::vector<Term> list;
    std::vector<int> begin;           ///< of each coarse entry's terms, and the end
    std::vector<Index> coarse_shift;  ///< from I to J among weights, in memory
    std::vector<Int3> offset;         ///< J - I

    Terms(const StructMatrix& a, const Interpolation& p, const StructMatrix& coarse)
        : a_(a), grids_(p.grids()), places_(p.view().places) {
        for (int e = 0; e < coarse.stored_entries(); ++e) {
            offset.push_back(coarse.stencil()[e]);
            coarse_shift.push_back(p.view().order.slot_delta(offset.back()));
            begin.push_back(int(list.size()));
            for (int number = 0; number < 27; ++number)
                if (grids_.has_children_at(offset_of(number)))
                    for (int entry = 0; entry < a.stencil().size(); ++entry) add(offset.back(), number, entry);
        }
        begin.push_back(int(list.size()));
    }

private:
    /// The neighbour at `entry` of the child at s is J's child at t = s + o - 2 (J - I), if t has no component above 1.
    void add(Int3 to_parent, int number, int entry) {
        const Int3 s = offset_of(number), o = a_.stencil()[entry], t = s + o + -grids_.first_child(to_parent);
        if (std::max({std::abs(t.x), std::abs(t.y), std::abs(t.z)}) > 1 || !grids_.has_children_at(t)) return;
        const bool mirrored = !a_.stores(entry);
        list.push_back({a_.layout().slot_delta(mirrored ? s + o : s),
                        short(mirrored ? a_.stencil().mirror(entry) : entry),
                        static_cast<signed char>(places_.of[number]),
                        static_cast<signed char>(places_.of[number_of(t)]), mirrored});
    }

    const StructMatrix& a_;
    const Coarsening& grids_;
    Places places_;
};

/// Slots of A and of weights are counted from the beginning of their memory, so that those of halos are among them.
struct SumsOfTerms {
    using in_tiles = void;
    ConstMatrixView a;
    Layout fine;  ///< of A
    WeightsView<const double> weights;
    MatrixView coarse;
    Layout coarse_layout;
    const Term* terms;
    const int* begin;
    const Index* coarse_shift;
    const Int3* offset;
    int first_plane, planes;  ///< of the coarse points
    int groups;               ///< the loop's grid holds the planes of coarse points once for each group of entries

    HYPERPLANE_HD int unknowns() const { return 64 * a.dof * a.dof / groups; }

    HYPERPLANE_HD void operator()(Int3 at, Index /*of the loop*/) const {
        const int group = at.z / planes;
        const Int3 point{at.x, at.y, first_plane + at.z % planes};
        const Index slot = coarse_layout.slot(point);
        const Index first_child = in_memory(fine, weights.grids.first_child(point));
        const Index own = in_memory(weights.order, point);
        for (int e = group; e < coarse.stored_entries; e += groups) {
            const bool inside = weights.grids.coarse.contains(point + offset[e]);
            const bool diagonal = offset[e] == Int3{};
            const Index there = slot_plus(own, coarse_shift[e], weights.order.slots_in_memory());
            for (int row = 0; row < a.dof; ++row)
                for (int col = 0; col < a.dof; ++col) {
                    const double sum = inside ? sum_of(e, row, col, own, there, first_child) : 0.0;
                    coarse.at(e, row, col, slot) = diagonal && row == col && sum == 0.0 ? 1.0 : sum;
                }
        }
    }
    HYPERPLANE_HD static Index in_memory(const Layout& layout, Int3 p) { return layout.slot(p) + layout.halo_slots(); }
    HYPERPLANE_HD double sum_of(int e, int row, int col, Index own, Index there, Index first_child) const {
        double sum = 0.0;
        for (int at = begin[e]; at < begin[e + 1]; ++at) {
            const Term term = terms[at];
            const Index child = slot_plus(first_child, term.shift, fine.slots_in_memory());
            const double value = term.mirrored ? a.at(term.entry, col, row, child) : a.at(term.entry, row, col, child);
            sum += weight(term.from, own) * value * weight(term.to, there);
        }
        return sum;
    }
    HYPERPLANE_HD double weight(int place, Index slot) const {
        return place < 0 ? 1.0 : weights.values[place * weights.stride + slot];
    }
};

void sum_terms(const StructMatrix& a, const Layout& of, const Interpolation& p, StructMatrix& coarse) {
    const Terms terms(a, p, coarse);
    const auto copied = [&](const auto& values) { return copied_to(a.context(), "multigrid: tables", values); };
    const auto list = copied(terms.list);
    const auto begin = copied(terms.begin);
    const auto shift = copied(terms.coarse_shift);
    const auto offset = copied(terms.offset);
    // Threads that compute all entries of a point would be few on small grids.
    const int groups = coarse.grid().points() < Index(1) << 18 ? coarse.stored_entries() : 1;
    Grid planes = coarse.grid();
    planes.nz = of.planes() * groups;
    ConstMatrixView coefficients = view(a);
    coefficients.values -= a.layout().halo_slots();
    WeightsView<const double> weights = p.view();
    weights.values -= weights.order.halo_slots();
    for_each_point(a.context(), Layout(LayoutKind::natural, planes, {}), "Galerkin product",
                   SumsOfTerms{coefficients, a.layout(), weights, view(coarse), coarse.layout(), list.data(),
                               begin.data(), shift.data(), offset.data(), of.begin_plane(), of.planes(), groups});
}

/// The rows of the coarse points in the planes of a source.
void compute_rows(const Source& source, const Interpolation& p, StructMatrix& coarse) {
    const StructMatrix& a = *source.a;
    if (a.backend() == Backend::cpu && can_follow_lines(a.layout()) && can_follow_lines(coarse.layout()))
        return galerkin_by_lines(source, p, coarse);
    if constexpr (cuda_built)
        if (const SetupCuda* kernels = p.setup_kernels()) return kernels->product(a, source.planes, p.view(), coarse);
    if (!a.grid().any_periodic()) return sum_terms(a, source.planes, p, coarse);
    if (coarse.stencil().radius() > reach)
        throw Error(ExitCode::internal, "multigrid: a coarse stencil of radius 3 or more");
    if (follows_periodic_lines(a.layout(), coarse.layout(), a.backend() == Backend::cpu))
        return galerkin_by_periodic_lines(source, p, coarse);
    const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
    Products products{Coefficients(a, offsets.data()), p.view(), view(coarse), coarse.layout(), {}};
    for (short& entry : products.entry_of) entry = -1;
    for (int e = 0; e < coarse.stored_entries(); ++e)
        products.entry_of[Products::place(coarse.stencil()[e])] = static_cast<short>(e);
    for_each_point(a.context(), source.planes, "Galerkin product", products);
}

}  // namespace

void galerkin_product(const Sources& sources, const Interpolation& p, StructMatrix& coarse) {
    for (const Source& source : sources.list()) compute_rows(source, p, coarse);
}

}  // namespace hyperplane::multigrid
