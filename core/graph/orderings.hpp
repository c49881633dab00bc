// SPDX-License-Identifier: BSD-3-Clause
// The orderings of block rows that a deck can name in [ordering]: a registry of functions that permute a pattern.
//
//   rcm                 reverse Cuthill and McKee: a small bandwidth
//   random              a permutation that follows from a seed
//   nested_dissection   METIS: little fill, few and wide levels
//   multicolor          colours of the graph, greedy on one thread or hashed on all: as many levels of ILU(0) as there
//                       are colours
//   file                the order that a file gives
#pragma once

#include <functional>
#include <memory>

#include "core/graph/graph.hpp"
#include "core/graph/row_matching.hpp"
#include "core/interfaces/input_files.hpp"
#include "core/parameters/registry.hpp"

namespace hyperplane {

/// The row at each place, for a pattern that the host can read. Throws UsageError if it cannot be made, FileError if
/// its file cannot be used.
using MakeOrder =
    std::function<Buffer<int>(const BlockPattern& pattern, const Parameters& parameters, const InputFiles& files)>;

/// The first row is `natural`, the given order.
const std::vector<RegistryRow<MakeOrder>>& orderings();

/// Keys `name` and `rows` of [ordering].
ParameterTable common_ordering_parameters();

/// "multicolor", or "multicolor (colours = hashed)": an ordering and those of its keys that do not have their default.
/// `value`: the text of a key of [ordering]; empty if it has none.
std::string order_text(const std::string& name, const std::function<std::string(const std::string& key)>& value);
/// Names the ordering that the deck asks for in that way.
std::string order_text(const Parameters& parameters);

/// Whether the deck asks for ordering.rows = matching.
bool asks_for_matching(const Parameters& parameters);
/// Whether it asks for the given order of rows and columns.
bool keeps_given_order(const Parameters& parameters);

/// The order that the deck asks for; null for the given one. `files` reads what the deck names. `matching`: of all
/// rows, where the deck asks for that; the order is then that of the rows which it has moved. Throws UsageError,
/// FileError.
std::shared_ptr<const RowOrder> make_order(const BlockPattern& pattern, const Parameters& parameters,
                                           const InputFiles& files, const RowMatching* matching = nullptr);

/// Reverse Cuthill-McKee (core/graph/rcm.cpp).
Buffer<int> rcm_order(const Graph& graph);
/// Greedy colouring (core/graph/colours.cpp): the smallest colour that no neighbour with a smaller number has.
Buffer<int> greedy_colours(const Graph& graph);
/// Jones and Plassmann's colouring, largest degree first (core/graph/hashed_colours.cpp): the smallest colour that no
/// neighbour of higher rank has. The same for any number of threads. Memory: 16 bytes a vertex beside the colours.
Buffer<int> hashed_colours(const Graph& graph);
/// The vertices by colour; those of one colour ascend.
Buffer<int> order_by_colour(const Buffer<int>& colour);
/// METIS's nested dissection (core/graph/nested_dissection.cpp). Throws UsageError if the graph is larger than
/// METIS's indices count, or if this program was built without METIS.
Buffer<int> nested_dissection_order(const Graph& graph);
/// The order that the file of ordering.file gives (core/graph/order_of_file.cpp): at each place the number of a block
/// row, counted from 1. Throws FileError unless each row of the pattern is there once.
Buffer<int> order_of_file(const BlockPattern& pattern, const Parameters& parameters, const InputFiles& files);
/// Whether this program was built with METIS.
bool metis_built();

}  // namespace hyperplane
