// SPDX-License-Identifier: BSD-3-Clause
// Colourings: validity point by point, the smallest number of colours, and the numbering of points in coloured order.
#include "precond/multicolor/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "core/error.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/reproductions/looked_up_colours.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

using reference::Box;
using reference::Offset;

const std::vector<Box> boxes{{17, 9, 5}, {8, 8, 8}, {5, 4, 3}, {9, 7, 1}, {1, 9, 1}, {1, 1, 11}, {2, 1, 6}, {1, 1, 1}};

/// Whether no two points of a box that an offset couples have the same colour.
template <class Colour>
bool is_valid(const Box& box, const std::vector<Offset>& offsets, const Colour& colour) {
    for (int row = 0; row < box.points(); ++row)
        for (Offset o : offsets) {
            const Offset q = box.point(row) + o;
            if (!(o == Offset{}) && box.contains(q) && colour(row) == colour(box.row(q))) return false;
        }
    return true;
}

/// The colour of every point of a box.
template <class Colour>
std::vector<int> all_colours(const Box& box, const Colour& colour) {
    std::vector<int> colours;
    for (int row = 0; row < box.points(); ++row) colours.push_back(colour(reference::to_int3(box.point(row))));
    return colours;
}

/// Size of the largest clique of `size` given points and any of `candidates`, or `best` if that is larger.
int largest_clique(int size, const std::vector<Int3>& candidates, const std::vector<Int3>& offsets, int best) {
    best = std::max(best, size);
    for (std::size_t at = 0; at < candidates.size() && size + int(candidates.size() - at) > best; ++at) {
        std::vector<Int3> rest;
        for (std::size_t later = at + 1; later < candidates.size(); ++later)
            if (std::find(offsets.begin(), offsets.end(), candidates[later] + -candidates[at]) != offsets.end())
                rest.push_back(candidates[later]);
        best = largest_clique(size + 1, rest, offsets, best);
    }
    return best;
}
/// Size of the largest set of points that the offsets all couple to each other. Each colouring of a grid that contains
/// such a set has at least as many colours. Cliques can be shifted: the first point in natural order is the origin.
int clique_size(const std::vector<Int3>& offsets) {
    std::vector<Int3> behind;
    std::copy_if(offsets.begin(), offsets.end(), std::back_inserter(behind),
                 [](Int3 o) { return natural_less({}, o); });
    return largest_clique(1, behind, offsets, 1);
}

TEST(Colouring, LinearOnesAreValidEverywhere) {
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box : boxes) {
            const auto offsets = coupling_offsets(reference::to_grid(box), reference::to_stencil(stencil));
            for (const ColourMap map : linear_colourings(offsets)) {
                const auto colours = all_colours(box, [&](Int3 p) { return map.colour(p); });
                EXPECT_TRUE(is_valid(box, stencil.offsets, [&](int row) { return colours[row]; }))
                    << stencil.name << " " << reference::name_of(box);
            }
        }
}

TEST(Colouring, OfTheReadyMadeStencilsHasTheFewestColours) {
    const std::map<std::string, int> known{
        {"star7", 2}, {"star13", 3}, {"diamond13", 4}, {"diamond25", 7}, {"box27", 8}};
    for (const Stencil& stencil : Stencil::ready_made()) {
        const auto offsets = coupling_offsets({9, 9, 9}, stencil);
        EXPECT_EQ(linear_colourings(offsets).front().colours, known.at(stencil.name())) << stencil.name();
        EXPECT_EQ(clique_size(offsets), known.at(stencil.name())) << stencil.name();
    }
}

TEST(Colouring, NeedsFewerOnThinGrids) {
    const auto colours = [](Grid grid, const Stencil& stencil) {
        return linear_colourings(coupling_offsets(grid, stencil)).front().colours;
    };
    EXPECT_EQ(colours({9, 9, 1}, Stencil::box27()), 4);
    EXPECT_EQ(colours({9, 1, 1}, Stencil::box27()), 2);
    EXPECT_EQ(colours({9, 9, 1}, Stencil::diamond25()), 5);
    EXPECT_EQ(colours({1, 1, 1}, Stencil::box27()), 1);
}

TEST(Colouring, CliquesByHand) {
    EXPECT_EQ(clique_size({}), 1);
    EXPECT_EQ(clique_size({{-1, 0, 0}, {1, 0, 0}}), 2);
    EXPECT_EQ(clique_size({{-2, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {2, 0, 0}}), 3);
}

TEST(Colouring, GreedyIsTheLeastColourInNaturalOrder) {
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box : boxes) {
            const Grid grid = reference::to_grid(box);
            const auto colours = greedy_colours(grid, coupling_offsets(grid, reference::to_stencil(stencil)));
            ASSERT_EQ(int(colours.size()), box.points());
            EXPECT_TRUE(is_valid(box, stencil.offsets, [&](int row) { return colours[row]; })) << stencil.name;
            for (int row = 0; row < box.points(); ++row)
                for (int smaller = 0; smaller < colours[row]; ++smaller) {
                    const bool taken = std::any_of(stencil.offsets.begin(), stencil.offsets.end(), [&](Offset o) {
                        const Offset q = box.point(row) + o;
                        return o < Offset{} && box.contains(q) && colours[box.row(q)] == smaller;
                    });
                    ASSERT_TRUE(taken) << stencil.name << " " << row;
                }
        }
}

TEST(Colouring, HashedIsValidAndHasAboutTwelveColours) {
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box : boxes) {
            const Grid grid = reference::to_grid(box);
            const auto offsets = coupling_offsets(grid, reference::to_stencil(stencil));
            const auto colours = hashed_colours(Context::cpu(1), grid, offsets);
            EXPECT_TRUE(is_valid(box, stencil.offsets, [&](int row) { return colours[row]; })) << stencil.name;
            EXPECT_EQ(*std::min_element(colours.begin(), colours.end()), 0);
            EXPECT_LT(*std::max_element(colours.begin(), colours.end()), most_hashed_colours(offsets));
        }
    const Grid grid{32, 32, 32};
    const auto colours = hashed_colours(Context::cpu(1), grid, coupling_offsets(grid, Stencil::star7()));
    const int most = 1 + *std::max_element(colours.begin(), colours.end());
    EXPECT_GE(most, 9);
    EXPECT_LE(most, 14);
}

/// Every point has one place, in its own colour, and neighbours lie where the tables say.
TEST(ColouredPoints, NumberThePointsOfAColourOneByOne) {
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box : boxes) {
            const Grid grid = reference::to_grid(box);
            const ColouredShape shape(grid, reference::to_stencil(stencil), ColourRule::stencil);
            const ColouredPoints points(Context::cpu(1), shape, 1, false);
            const ColouredView& view = points.host();
            std::map<int, ColouredView::Place> place_of;
            for (int colour = 0; colour < points.colours(); ++colour)
                for (Index at = 0; at < points.count(colour); ++at) {
                    const Int3 p = view.point(colour, at);
                    if (!grid.contains(p)) continue;
                    EXPECT_EQ(shape.map.colour(p), colour);
                    EXPECT_TRUE(place_of.emplace(int(grid.row(p)), ColouredView::Place{colour, at}).second);
                }
            ASSERT_EQ(Index(place_of.size()), grid.points());
            for (const auto& [row, place] : place_of)
                for (int e = 0; e < view.entries; ++e) {
                    const Int3 p = grid.point(row), q = p + shape.offsets[e];
                    if (!grid.contains(q)) continue;
                    const auto found = view.neighbour(place, p, e), expected = place_of.at(int(grid.row(q)));
                    ASSERT_TRUE(found.colour == expected.colour && found.at == expected.at) << stencil.name;
                }
        }
}

/// The kernels of a rank's part count numbers beyond its slots, and the message names what is too many.
TEST(ColouredPoints, RefuseMoreNumbersThanKernelsCount) {
    const Grid grid{29000, 29000, 4};  // two planes have slots enough, three have not
    const Layout part = Layout(LayoutKind::natural, grid, {}).of_planes(0, 1, 1);
    try {
        const ColouredShape shape(part, Stencil::star7(), ColourRule::stencil);
        ADD_FAILURE() << shape.slots << " slots were taken";
    } catch (const UsageError& error) {
        const std::string text = error.what();
        const std::string needs = " points need ";
        ASSERT_NE(text.find(needs), text.npos) << text;
        EXPECT_GT(std::stoll(text.substr(text.find(needs) + needs.size())), std::numeric_limits<int>::max()) << text;
    }
}

TEST(ColouredPoints, LeaveFewPlacesEmpty) {
    for (const Stencil& stencil : Stencil::ready_made())
        for (int n : {63, 64, 100, 336}) {
            const ColouredShape shape({n, n, n}, stencil, ColourRule::stencil);
            EXPECT_LT(double(shape.slots), 1.0 + double(shape.grid.points()) * (1.0 + 7.0 / n) + 8.0 * 64.0)
                << stencil.name() << " " << n;
        }
}

}  // namespace
}  // namespace hyperplane
