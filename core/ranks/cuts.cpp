// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace hyperplane {

Layout part_of(const Context& context, const Layout& whole, int halo) {
    const Communicator* ranks = context.ranks();
    if (!ranks) return whole;
    const Grid& grid = whole.grid();
    if (whole.kind() != LayoutKind::natural)
        throw UsageError("device.layout: several ranks need the natural layout; give device.layout = natural");
    if (grid.periodic[2])
        throw UsageError(
            "grid.periodic: a grid that is periodic along z is not cut into the parts of several ranks; run it on one "
            "rank");
    const int least = std::max(1, halo), most = grid.nz / least;
    if (most < ranks->size())
        throw UsageError(fmt::format("--ranks {}: the grid has {} plane{} along z, and each rank needs {} or more; {}",
                                     ranks->size(), grid.nz, grid.nz == 1 ? "" : "s", least,
                                     most > 1 ? fmt::format("give {} ranks or fewer", most) : "run it on one rank"));
    const auto first = [&](int rank) { return int(Index(grid.nz) * rank / ranks->size()); };
    return whole.of_planes(first(ranks->rank()), first(ranks->rank() + 1), halo);
}

void exchange_halos(const Context& context, const Layout& layout, int planes, const std::vector<double*>& arrays) {
    Communicator* ranks = context.ranks();
    if (!ranks || !layout.is_part()) return;
    const std::size_t size = std::size_t(planes * layout.slots_of_plane());
    const int below = ranks->rank() - 1, above = ranks->rank() + 1;
    std::vector<double> message(size * arrays.size());
    const auto send = [&](int to, Index first) {
        for (std::size_t at = 0; at < arrays.size(); ++at)
            std::copy_n(arrays[at] + first, size, message.begin() + std::ptrdiff_t(at * size));
        ranks->send(to, message);
    };
    const auto receive = [&](int from, Index first) {
        ranks->receive(from, message);
        for (std::size_t at = 0; at < arrays.size(); ++at)
            std::copy_n(message.begin() + std::ptrdiff_t(at * size), size, arrays[at] + first);
    };
    if (below >= 0) send(below, 0);
    if (above < ranks->size()) send(above, layout.slots() - Index(size));
    if (below >= 0) receive(below, -Index(size));
    if (above < ranks->size()) receive(above, layout.slots());
}

void exchange_halo(const Vector& x) {
    if (!x.context().ranks() || !x.space().has_grid()) return;
    std::vector<double*> arrays;
    for (int c = 0; c < x.dof(); ++c) arrays.push_back(const_cast<double*>(x.component(c)));
    exchange_halos(x.context(), x.layout(), x.layout().halo(), arrays);
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
