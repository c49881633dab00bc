// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "core/ranks/aligned.hpp"
#include "core/ranks/all_cuts.hpp"
#include "core/ranks/halo_halves.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/offers_cuda.hpp"
#include "core/ranks/planned.hpp"
#include "core/ranks/rows_cuda.hpp"
#include "core/ranks/slab_ends.hpp"
#include "core/vector/sum_order.hpp"

namespace hyperplane {
namespace {

/// The first plane of each rank, and the number of planes at the end. Planes are cut between groups of `together`; the
/// numbers of groups of two ranks differ by one at most.
std::vector<int> cuts_of(int planes, int together, int ranks) {
    const Index groups = (planes + together - 1) / together;
    std::vector<int> cuts;
    for (int rank = 0; rank <= ranks; ++rank) cuts.push_back(std::min(planes, together * int(groups * rank / ranks)));
    return cuts;
}

/// Throws UsageError if a rank of the grid has fewer than `least` planes.
void refuse_thin_parts(const Grid& of, const std::vector<int>& cuts, int together, int least) {
    const int ranks = int(cuts.size()) - 1, planes = cuts.back();
    int thinnest = planes;
    for (int rank = 0; rank < ranks; ++rank) thinnest = std::min(thinnest, cuts[rank + 1] - cuts[rank]);
    if (thinnest >= least) return;
    const auto [longest, axis] = std::max(std::pair(of.ny, 'y'), std::pair(of.nx, 'x'));
    const std::string grid =
        fmt::format("device.ranks = {}: the grid has {} plane{} along z", ranks, planes, planes == 1 ? "" : "s");
    if (together > 1)
        throw UsageError(fmt::format(
            "{}, of which subdomains keep groups of {} together, and each rank needs {} or more; take fewer "
            "ranks, or thinner subdomains (preconditioner.subdomain, or smoother.subdomain of a smoother)",
            grid, std::min(together, planes), least));
    const int most = planes / least;
    throw UsageError(
        fmt::format("{}, and each rank needs {} or more; {}{}", grid, least,
                    most > 1 ? fmt::format("give {} ranks or fewer", most) : "run it on one rank",
                    longest > planes ? fmt::format(", or turn the grid: along {} it has {}", axis, longest) : ""));
}

/// The planes that no cut divides.
int planes_together(const Communicator& ranks) {
    const auto* aligned = dynamic_cast<const AlignedRanks*>(&ranks);
    return aligned ? aligned->planes() : 1;
}

}  // namespace

int planes_between_cuts(const Context& context) {
    return planes_together(*context.ranks());
}

std::vector<int> cuts_between_ranks(const Context& context, int planes) {
    const Communicator& ranks = *context.ranks();
    if (const auto* planned = dynamic_cast<const PlannedRank*>(&ranks))
        if (!planned->cuts().empty() && planned->cuts().back() == planes) return planned->cuts();
    return cuts_of(planes, planes_together(ranks), ranks.size());
}

Layout part_of(const Context& context, const Layout& whole, int halo) {
    const Communicator* ranks = context.ranks();
    if (!ranks) return whole;
    if (const auto* planned = dynamic_cast<const PlannedRank*>(ranks); planned && !planned->cuts_grids()) return whole;
    const Grid& grid = whole.grid();
    if (whole.kind() != LayoutKind::natural)
        throw UsageError("device.layout: several ranks need the natural layout; give device.layout = natural");
    if (context.backend() == Backend::cuda && grid.nz > cuda::SumOrder::most_planes)
        throw UsageError(fmt::format(
            "device.ranks: on GPUs sums follow the planes of grids of up to {} planes along z, and this one "
            "has {}; turn the grid, give device.backend = cpu, or run it on one rank",
            cuda::SumOrder::most_planes, grid.nz));
    const std::vector<int> cuts = cuts_between_ranks(context, grid.nz);
    refuse_thin_parts(grid, cuts, planes_together(*ranks), std::max(1, halo));
    return whole.of_planes(cuts[ranks->rank()], cuts[ranks->rank() + 1], halo);
}

namespace {

Index bytes_of(const EndArrays& low, const EndArrays& high) {
    const auto values = [](const EndArrays& end) {
        return end.owned * Index(end.own.size()) + end.received * Index(end.halo.size());
    };
    return (values(low) + values(high)) * Index(sizeof(double));
}

void send_arrays(const Context& context, const EndArrays& low, const EndArrays& high, OuterEnds outer) {
    Communicator& ranks = *context.ranks();
    const RanksBeside beside(ranks, outer);
    std::vector<double> message;
    const auto send = [&](int to, const EndArrays& end) {
        if (to < 0) return;
        message.clear();
        for (const double* array : end.own) message.insert(message.end(), array, array + end.owned);
        ranks.send(to, message);
    };
    send(beside.below, low);
    send(beside.above, high);
}

void receive_arrays(const Context& context, const EndArrays& low, const EndArrays& high, OuterEnds outer) {
    Communicator& ranks = *context.ranks();
    const RanksBeside beside(ranks, outer);
    std::vector<double> message;
    const auto receive = [&](int from, const EndArrays& end) {
        if (from < 0) return;
        message.resize(std::size_t(end.received) * end.halo.size());
        ranks.receive(from, message);
        const double* values = message.data();
        for (double* array : end.halo) {
            std::copy_n(values, end.received, array);
            values += end.received;
        }
    };
    receive(beside.above, high);
    receive(beside.below, low);
}

EndArrays arrays_at(const SlabEnd& end, const std::vector<double*>& arrays) {
    EndArrays these{{}, end.owned, {}, end.received};
    for (double* const array : arrays) {
        these.own.push_back(array + end.own);
        these.halo.push_back(array + end.halo);
    }
    return these;
}

/// The ends of a part that has a halo of `planes` planes.
struct HaloEnds {
    SlabEnd low, high;
    OuterEnds outer;
    HaloEnds(const Layout& layout, int planes) {
        const Index size = planes * layout.slots_of_plane(), end = layout.slots();
        low = {0, size, -size, size};
        high = {end - size, size, end, size};
        outer = outer_ends_of(layout.grid());
    }
};

/// The arrays of a vector's whole halo.
struct HaloArrays {
    EndArrays low, high;
    OuterEnds outer;
    explicit HaloArrays(const Vector& x) {
        const HaloEnds ends(x.layout(), x.layout().halo());
        const std::vector<double*> components = const_cast<Vector&>(x).components();
        low = arrays_at(ends.low, components), high = arrays_at(ends.high, components);
        outer = ends.outer;
    }
};

}  // namespace

void exchange_arrays(const Context& context, const EndArrays& low, const EndArrays& high, OuterEnds outer) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) return cuda::exchange_arrays(context, low, high, outer);
    const ProfileScope scope(context, "halo exchange", bytes_of(low, high));
    send_arrays(context, low, high, outer);
    receive_arrays(context, low, high, outer);
}

void send_halo(const Vector& x) {
    const HaloArrays halo(x);
    const ProfileScope scope(x.context(), "halo exchange", bytes_of(halo.low, halo.high));
    send_arrays(x.context(), halo.low, halo.high, halo.outer);
}

void receive_halo(const Vector& x) {
    const HaloArrays halo(x);
    const ProfileScope scope(x.context(), "halo exchange", 0);
    receive_arrays(x.context(), halo.low, halo.high, halo.outer);
}

void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays,
                   OuterEnds outer) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda && context.stream().recording())
            return cuda::exchange_ends(context, low, high, arrays, outer);
    exchange_arrays(context, arrays_at(low, arrays), arrays_at(high, arrays), outer);
}

void gather_slots(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) return cuda::gather_slots(context, begins, arrays, first, distance);
    Communicator& ranks = *context.ranks();
    const int rank = ranks.rank();
    const Index count = begins[rank + 1] - begins[rank];
    const char* const label = "values of all ranks";
    Buffer<double> mine(context, label, count * arrays), all(context, label, begins.back() * arrays);
    for (int array = 0; array < arrays; ++array)
        std::copy_n(first + array * distance + begins[rank], count, mine.data() + array * count);
    ranks.all_gather(mine, all);
    const double* from = all.data();
    for (int other = 0; other < ranks.size(); ++other)
        for (int array = 0; array < arrays; ++array) {
            const Index theirs = begins[other + 1] - begins[other];
            std::copy_n(from, theirs, first + array * distance + begins[other]);
            from += theirs;
        }
}

Index bytes_to_gather(const Context& context, const std::vector<Index>& begins, int arrays) {
    if (context.backend() == Backend::cuda) return 0;
    const int rank = context.ranks()->rank();
    return (begins[rank + 1] - begins[rank] + begins.back()) * arrays * Index(sizeof(double));
}

void exchange_halos(const Context& context, const Layout& layout, int planes, const std::vector<double*>& arrays) {
    if (!context.ranks() || !layout.is_part()) return;
    const HaloEnds ends(layout, planes);
    exchange_ends(context, ends.low, ends.high, arrays, ends.outer);
}

void exchange_rows(const Context& context, const RowSlab& slab, int dof, double* values) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) return cuda::exchange_rows(context, slab, dof, values, values);
    exchange_rows_on_host(context, slab, dof, values);
}

void exchange_rows_on_host(const Context& context, const RowSlab& slab, int dof, double* values) {
    Communicator& ranks = *context.ranks();
    Index moved = Index(slab.halo.size());
    for (const RowSlab::Neighbour& other : slab.neighbours) moved += Index(other.sent.size());
    const ProfileScope scope(context, "halo exchange", moved * dof * Index(sizeof(double)));
    std::vector<double> message;
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        if (other.sent.empty()) continue;
        message.clear();
        for (const int slot : other.sent)
            message.insert(message.end(), values + Index(slot) * dof, values + (Index(slot) + 1) * dof);
        ranks.send(other.rank, message);
    }
    for (const RowSlab::Neighbour& other : slab.neighbours)
        if (other.received > 0)
            ranks.receive(other.rank, {values + other.slot * dof, std::size_t(other.received * dof)});
}

void exchange_halo(const Vector& x) {
    if (!x.context().ranks()) return;
    if (const RowSlab* const slab = x.space().slab())
        return exchange_rows(x.context(), *slab, x.dof(), const_cast<Vector&>(x).data());
    if (!x.space().has_grid()) return;
    exchange_halos(x.context(), x.layout(), x.layout().halo(), const_cast<Vector&>(x).components());
}

bool is_first_rank(const Context& context) {
    return !context.ranks() || context.ranks()->rank() == 0;
}

double of_first_rank(const Context& context, double value) {
    return gathered(context, {value})[0];
}

std::vector<double> on_first_rank(const Context& context, std::vector<double> mine) {
    Communicator* ranks = context.ranks();
    if (!ranks) return mine;
    if (ranks->rank() > 0) {
        const double size = double(mine.size());
        ranks->send(0, {&size, 1});
        ranks->send(0, mine);
        return {};
    }
    for (int from = 1; from < ranks->size(); ++from) {
        double size = 0.0;
        ranks->receive(from, {&size, 1});
        mine.resize(mine.size() + std::size_t(size));
        ranks->receive(from, std::span(mine).last(std::size_t(size)));
    }
    return mine;
}

std::vector<double> gathered(const Context& context, const std::vector<double>& mine) {
    Communicator* ranks = context.ranks();
    if (!ranks) return mine;
    std::vector<double> all(mine.size() * std::size_t(ranks->size()));
    ranks->all_gather(mine, all);
    return all;
}

double largest_of_ranks(const Context& context, double value) {
    for (const double other : gathered(context, {value})) value = std::fmax(value, other);
    return value;
}

bool any_rank(const Context& context, bool mine) {
    return largest_of_ranks(context, mine ? 1.0 : 0.0) > 0.0;
}

double value_at(const Vector& x, Int3 point, int c) {
    const bool mine = x.layout().holds(point);
    const std::vector<double> all = gathered(x.context(), {mine ? 1.0 : 0.0, mine ? x(point, c) : 0.0});
    for (std::size_t at = 0; at < all.size(); at += 2)
        if (all[at] > 0.0) return all[at + 1];
    throw Error(ExitCode::internal, "a value was asked for at a point that no rank has");
}

}  // namespace hyperplane
