// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/coloured_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/ranks/slab_ends.hpp"
#include "precond/reproductions/looked_up_colours.hpp"

namespace hyperplane {
namespace {

/// The smallest number >= `least` with the given remainder.
Index at_least(Index least, int remainder, int modulus) {
    const Index behind = (least - remainder) % modulus;
    return behind == 0 ? least : least + (behind < 0 ? -behind : modulus - behind);
}

Index table_size(Index colours, Index entries) {
    return colours + 1 + 3 * colours * entries + entries * entries + colours;
}

}  // namespace

ColouredShape::ColouredShape(const Layout& layout, const Stencil& stencil, ColourRule r)
    : grid(layout.grid()), points(layout.slots()), rule(r), offsets(coupling_offsets(layout.grid(), stencil)) {
    constexpr Index most = std::numeric_limits<int>::max();
    first_plane = std::max(0, layout.begin_plane() - stencil.planes());
    planes = std::min(grid.nz, layout.end_plane() + stencil.planes()) - first_plane;
    if (!is_linear()) {
        colours = rule == ColourRule::greedy ? most_greedy_colours(offsets) : most_hashed_colours(offsets);
        slots = Index(grid.nx) * grid.ny * planes;
        stride = StructMatrix::stride(slots);
    }
    for (const ColourMap one : is_linear() ? linear_colourings(offsets) : std::vector<ColourMap>{}) {
        const Index of_line = at_least(grid.nx, one.y, one.colours);
        const Index of_plane = at_least(of_line * (grid.ny - 1) + grid.nx, one.z, one.colours);
        if (plane > 0 && of_plane >= plane) continue;
        map = one;
        colours = one.colours;
        line = of_line;
        plane = of_plane;
        base = plane * first_plane / colours * colours;
        const Index of_last = layout.is_part() ? plane : line * (grid.ny - 1) + grid.nx;
        const Index numbers = plane * (first_plane + planes - 1) + of_last - base;
        // The stride is 32 times an odd number, so that a warp reads whole cache lines, in single precision, too.
        stride = 4 * StructMatrix::stride(((numbers + colours - 1) / colours + 3) / 4);
        slots = colours * stride;
    }
    const Index numbered = slots + (layout.is_part() ? plane : 0);  // kernels count both in 32 bits
    if (numbered > most)
        throw UsageError(fmt::format("multicolor: {} points need {} slots, it takes up to {}; use struct_ilu",
                                     grid.points(), numbered, most));
}

Index ColouredShape::bytes() const {
    const Index tables = table_size(colours, entries()) * Index(sizeof(Index)) + entries() * Index(sizeof(Int3));
    return tables + (is_linear() ? 0 : 2 * slots * Index(sizeof(int)));
}

ColouredPoints::ColouredPoints(const Context& context, const ColouredShape& shape, int dof, bool symmetric)
    : shape_(shape),
      colours_(shape.colours),
      pitch_(shape.stride),
      host_tables_(std::size_t(table_size(shape.colours, shape.entries()))) {
    if (!shape_.is_linear())
        sort_points(context);
    else
        for (int colour = 0; colour <= colours_; ++colour) host_tables_[colour] = colour * shape_.stride;
    fill(dof, symmetric);
    tables_ = copied_to(context, "colours", host_tables_);
    offsets_ = copied_to(context, "colours", shape_.offsets);
    host_ = view_at(host_tables_.data(), shape_.offsets.data());
}

ColouredPoints::Range ColouredPoints::owned(const Layout& layout, int colour) const {
    const int begin = layout.begin_plane(), end = layout.end_plane();
    return {begin == 0 ? 0 : place_in_plane(colour, begin),
            end == shape_.grid.nz ? count(colour) : place_in_plane(colour, end)};
}

Index ColouredPoints::place_in_plane(int colour, int k) const {
    if (shape_.is_linear()) return shape_.place_in_plane(colour, k);
    const int plane = std::clamp(k - shape_.first_plane, 0, shape_.planes);
    return before_plane_[std::size_t(colour) * std::size_t(shape_.planes + 1) + std::size_t(plane)];
}

void ColouredPoints::exchange(const Context& context, const Layout& layout, int colour,
                              const std::vector<double*>& arrays) const {
    if (!context.ranks() || !layout.is_part()) return;
    const int reach = this->reach();
    const auto places = [&](int begin, int end) {
        const Index first = place_in_plane(colour, begin);
        return Range{first, place_in_plane(colour, end) - first};
    };
    const auto end_of = [&](int own, int halo) {
        const auto [first, owned] = places(own, own + reach);
        const auto [other, received] = places(halo, halo + reach);
        return SlabEnd{first, owned, other, received};
    };
    const int begin = layout.begin_plane(), end = layout.end_plane();
    exchange_ends(context, end_of(begin, begin - reach), end_of(end - reach, end), arrays);
}

std::vector<double*> ColouredPoints::coefficients(int colour, int dof, double* values) const {
    std::vector<double*> found;
    const auto add = [&](Index block) {
        for (int c = 0; c < dof * dof; ++c) found.push_back(values + block + c * host_.pitch);
    };
    for (int e = 0; e < host_.entries; ++e)
        if (host_.keeps(colour, e)) add(host_.block[colour * host_.entries + e]);
    add(host_.inverse[colour]);
    return found;
}

int ColouredPoints::reach() const {
    int reach = 0;
    for (const Int3 o : shape_.offsets) reach = std::max(reach, std::abs(o.z));
    return reach;
}

Layout ColouredPoints::lines_of(Index count) {
    constexpr Index line = 256;
    Grid grid;
    grid.nx = int(line);
    grid.ny = int((count + line - 1) / line);
    return Layout(LayoutKind::natural, grid, {});
}

ColouredView ColouredPoints::view_at(const Index* tables, const Int3* offsets) const {
    const Index colours = shape_.colours, entries = shape_.entries();
    ColouredView v{};
    v.grid = shape_.grid;
    v.colours = colours_;
    v.entries = int(entries);
    v.line = shape_.line;
    v.plane = shape_.plane;
    v.base = shape_.base;
    v.offsets = offsets;
    v.begin = tables;
    v.next = v.begin + colours + 1;
    v.shift = v.next + colours * entries;
    v.block = v.shift + colours * entries;
    v.sum = v.block + colours * entries;
    v.inverse = v.sum + entries * entries;
    v.pitch = pitch_;
    const Index first_row = shape_.first_plane * Index(shape_.grid.nx) * shape_.grid.ny;
    v.slot_of = slot_of_.size() > 0 ? slot_of_.data() - first_row : nullptr;
    v.row_of = row_of_.size() > 0 ? row_of_.data() : nullptr;
    return v;
}

void ColouredPoints::sort_points(const Context& context) {
    const std::vector<int> colour = shape_.rule == ColourRule::greedy
                                        ? greedy_colours(shape_.grid, shape_.offsets)
                                        : hashed_colours(context, shape_.grid, shape_.offsets);
    colours_ = 1 + *std::max_element(colour.begin(), colour.end());
    const std::size_t plane = std::size_t(shape_.grid.nx) * std::size_t(shape_.grid.ny);
    const std::size_t first = std::size_t(shape_.first_plane) * plane, rows = std::size_t(shape_.slots);
    std::vector<Index> at(std::size_t(shape_.colours) + 1);
    for (std::size_t row = 0; row < rows; ++row) ++at[std::size_t(colour[first + row]) + 1];
    for (std::size_t c = 1; c < at.size(); ++c) at[c] += at[c - 1];
    std::copy(at.begin(), at.end(), host_tables_.begin());
    std::vector<int> slot_of(rows), row_of(rows);
    const auto note_plane = [&](std::size_t k) {
        for (int c = 0; c < colours_; ++c)
            before_plane_[std::size_t(c) * std::size_t(shape_.planes + 1) + k] = at[std::size_t(c)] - host_tables_[c];
    };
    before_plane_.resize(std::size_t(colours_) * std::size_t(shape_.planes + 1));
    for (std::size_t row = 0; row < rows; ++row) {
        if (row % plane == 0) note_plane(row / plane);
        slot_of[row] = int(at[std::size_t(colour[first + row])]++);
        row_of[std::size_t(slot_of[row])] = int(first + row);
    }
    note_plane(rows / plane);
    slot_of_ = copied_to(context, "colours", slot_of);
    row_of_ = copied_to(context, "colours", row_of);
}

void ColouredPoints::fill(int dof, bool symmetric) {
    const auto& offsets = shape_.offsets;
    const Index entries = shape_.entries(), size = Index(dof) * dof * pitch_;
    const ColouredView v = view_at(host_tables_.data(), offsets.data());
    const auto writable = [&](const Index* table) { return host_tables_.data() + (table - v.begin); };
    Index *next = writable(v.next), *shift = writable(v.shift), *block = writable(v.block),
          *inverse = writable(v.inverse), *sum = writable(v.sum);
    Index held = 0;
    for (int colour = 0; colour < colours_; ++colour) {
        for (Index e = 0; e < entries; ++e) {
            const Index at = colour * entries + e;
            if (!shape_.is_linear()) {
                block[at] = e * size + v.begin[colour];
                continue;
            }
            const Index n = colour + offsets[e].x + shape_.line * offsets[e].y + shape_.plane * offsets[e].z;
            next[at] = (n % colours_ + colours_) % colours_;
            shift[at] = (n - next[at]) / colours_;
            const bool kept = !symmetric || next[at] < colour;
            block[at] = kept ? held : -1;
            held += kept ? size : 0;
        }
        inverse[colour] = shape_.is_linear() ? held : entries * size + v.begin[colour];
        held += shape_.is_linear() ? size : 0;
    }
    for (Index e = 0; e < entries; ++e)
        for (Index l = 0; l < entries; ++l) {
            const auto found = std::find(offsets.begin(), offsets.end(), offsets[e] + -offsets[l]);
            sum[e * entries + l] = found == offsets.end() ? -1 : found - offsets.begin();
        }
}

}  // namespace hyperplane
