// SPDX-License-Identifier: BSD-3-Clause
// How a grid is cut into the parts of ranks, and what ranks exchange where they meet.
//
// A rank has consecutive planes. The values of planes next to its own, its halo, are copies of what the ranks beside it
// have computed. Every function that exchanges something must be called by all ranks; without ranks it does nothing.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// The layout of a context's rank: its share of the planes (core/ranks/aligned.hpp restricts the cuts), with `halo`
/// planes of its neighbours on either side. Without ranks it is `whole` itself. Throws UsageError if a rank would have
/// fewer planes than its neighbours need, or if the layout is the hyperplane layout, which cannot be cut.
Layout part_of(const Context& context, const Layout& whole, int halo);

/// Fills `planes` planes of halos with the neighbours' values, around a periodic z, too. Arrays are given at slot 0.
void exchange_halos(const Context& context, const Layout& layout, int planes, const std::vector<double*>& arrays);
/// Fills the halo of plain rows that ranks share with the neighbours' rows, of `dof` values each. `values`: slot 0.
void exchange_rows(const Context& context, const RowSlab& slab, int dof, double* values);
/// Does the same for values in the host's memory, on a rank of any backend.
void exchange_rows_on_host(const Context& context, const RowSlab& slab, int dof, double* values);
/// Fills a vector's whole halo in the same way. The halo is no part of the vector's value, so x may be const.
void exchange_halo(const Vector& x);

/// Whether the context is that of the rank which writes and prints, or of the only one.
bool is_first_rank(const Context& context);
/// The first rank's value, on all ranks.
double of_first_rank(const Context& context, double value);
/// On the first rank the values of all ranks behind one another, in the order of ranks; nothing on the others.
std::vector<double> on_first_rank(const Context& context, std::vector<double> mine);
/// The values of all ranks, in the order of ranks, each of which has equally many; without ranks `mine`.
std::vector<double> gathered(const Context& context, const std::vector<double>& mine);
/// The largest of the ranks' values; NaN is left out.
double largest_of_ranks(const Context& context, double value);
/// Whether it is so on any rank.
bool any_rank(const Context& context, bool mine);
/// Component c of a vector in the host's memory at a point, which any rank may have.
double value_at(const Vector& x, Int3 point, int c);

}  // namespace hyperplane
