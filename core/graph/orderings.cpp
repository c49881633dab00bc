// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/orderings.hpp"

#include <chrono>
#include <numeric>

#include "core/random.hpp"
#include "core/timer.hpp"

namespace hyperplane {
namespace {

constexpr const char* order_label = "row order";

Buffer<int> given_order(const BlockPattern& pattern) {
    Buffer<int> order(pattern.context(), order_label, pattern.rows());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// Fisher and Yates's shuffle.
Buffer<int> random_order(const BlockPattern& pattern, const Parameters& parameters, const InputFiles&) {
    const auto seed = std::uint64_t(parameters.integer("ordering", "seed"));
    Buffer<int> order = given_order(pattern);
    for (Index last = order.size() - 1; last > 0; --last)
        std::swap(order[last], order[Index(random_bits(seed, std::uint64_t(last)) % std::uint64_t(last + 1))]);
    return order;
}

}  // namespace

Buffer<int> order_by_colour(const Buffer<int>& colour) {
    const int colours = colour.size() > 0 ? 1 + *std::max_element(colour.begin(), colour.end()) : 0;
    std::vector<Index> next(std::size_t(colours) + 1, 0);
    for (const int own : colour) ++next[own + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    Buffer<int> order(colour.context(), order_label, colour.size());
    for (Index v = 0; v < colour.size(); ++v) order[next[colour[v]]++] = int(v);
    return order;
}

const std::vector<RegistryRow<MakeOrder>>& orderings() {
    static const std::vector<RegistryRow<MakeOrder>> rows{
        {"natural",
         {},
         "the order of the file, or of the grid's points",
         "The block rows keep the order in which they were given.",
         {},
         [](const BlockPattern& pattern, const Parameters&, const InputFiles&) { return given_order(pattern); }},
        {"rcm",
         {},
         "reverse Cuthill-McKee: a small bandwidth",
         "Rows are numbered by their distance from a row at the edge of the graph, and then backwards, each connected "
         "part by itself. Products find their operands in the caches, and ILU is often better than in an arbitrary "
         "order. Sources: Cuthill and McKee 1969; George and Liu, Computer Solution of Large Sparse Positive Definite "
         "Systems, 1981, for the reversal and for the row at which to begin.",
         {},
         [](const BlockPattern& pattern, const Parameters&, const InputFiles&) {
             return rcm_order(graph_of(pattern));
         }},
        {"random",
         {},
         "a random permutation",
         "Every row gets a random place, the same for the same seed on every machine. It shows what an arbitrary order "
         "costs.",
         {{.section = "ordering",
           .key = "seed",
           .type = ParameterType::integer,
           .default_value = "1",
           .description = "number that the permutation follows from",
           .minimum = Bound{0}}},
         random_order},
        {"nested_dissection",
         {"nd", "metis"},
         "METIS's nested dissection: little fill, short dependencies",
         "Separators divide the graph into halves, again and again; each is numbered after the halves that it "
         "divides. Dependencies are short, so levels are few and wide, but ILU is mostly weaker than in the orders of "
         "a "
         "line. Source: Karypis and Kumar, A fast and high quality multilevel scheme for partitioning irregular "
         "graphs, "
         "1998. It needs a program that was built with METIS.",
         {},
         [](const BlockPattern& pattern, const Parameters&, const InputFiles&) {
             return nested_dissection_order(graph_of(pattern));
         }},
        {"multicolor",
         {"colours"},
         "rows by colour: as many levels as colours",
         "No two coupled rows have the same colour, so the rows of a colour are factored and solved at the same time. "
         "With sync_free_ilu this is multicolour ILU: as many levels as colours at fill level 0, and more iterations "
         "than in most other orders.",
         {{.section = "ordering",
           .key = "colours",
           .type = ParameterType::choice,
           .default_value = "greedy",
           .description =
               "greedy: row by row in the given order, on one thread, the smallest colour that no coupled row before "
               "it has. hashed: on all threads, the smallest colour that no coupled row with more couplings has, a "
               "hash of the row's number deciding between equals (Jones and Plassmann 1993, largest degree first); "
               "the same colours for any number of threads, two to four times as many as greedy finds for grids in "
               "natural order",
           .choices = {"greedy", "hashed"}}},
         [](const BlockPattern& pattern, const Parameters& parameters, const InputFiles&) {
             const bool hashed = parameters.text("ordering", "colours") == "hashed";
             const Graph graph = graph_of(pattern);
             return order_by_colour(hashed ? hashed_colours(graph) : greedy_colours(graph));
         }},
        {"file",
         {},
         "the order that a file gives, such as one that export has written",
         "Any order of your own: that of another program, or one that took long to find. What hyperplane export "
         "writes as order.mtx can be read back.",
         {{.section = "ordering",
           .key = "file",
           .type = ParameterType::path,
           .default_value = "",
           .description = "file of the order, a Matrix Market array or the first vector of a PETSc file: at each place "
                          "the number of the block row that is solved there, counted from 1 in the given order",
           .required = true}},
         order_of_file},
    };
    return rows;
}

ParameterTable common_ordering_parameters() {
    return {{.section = "ordering",
             .key = "name",
             .type = ParameterType::text,
             .default_value = "natural",
             .description = "the order in which the block rows of a general matrix are solved (hyperplane list "
                            "orderings); what is read and written stays in the given order"},
            {.section = "ordering",
             .key = "rows",
             .type = ParameterType::choice,
             .default_value = "natural",
             .description =
                 "which equation stands in the row of each unknown of a matrix from a file, before it is ordered. "
                 "natural: the row of its number. matching: rows are exchanged so that the product of the diagonal's "
                 "absolute values, or of its blocks' determinants, is the largest (Duff and Koster 2001), for matrices "
                 "with zeros on the diagonal; the solution, the residual and what is written stay those of the given "
                 "system, but a symmetric matrix whose rows are moved is not symmetric",
             .choices = {"natural", "matching"}}};
}

bool asks_for_matching(const Parameters& parameters) {
    return parameters.text("ordering", "rows") == "matching";
}

bool keeps_given_order(const Parameters& parameters) {
    return parameters.text("ordering", "name") == orderings().front().name && !asks_for_matching(parameters);
}

std::string order_text(const std::string& name, const std::function<std::string(const std::string& key)>& value) {
    for (const auto& row : orderings()) {
        if (!row.is_called(name)) continue;
        std::string keys;
        ParameterTable table = row.parameters;
        for (const ParameterSpec& spec : common_ordering_parameters())
            if (spec.key != "name") table.push_back(spec);
        for (const ParameterSpec& spec : table)
            if (const std::string own = value(spec.key); !own.empty() && own != spec.default_value)
                keys += (keys.empty() ? "" : ", ") + spec.key + " = " + own;
        return keys.empty() ? row.name : row.name + " (" + keys + ")";
    }
    return name;
}

std::string order_text(const Parameters& parameters) {
    return order_text(parameters.text("ordering", "name"),
                      [&](const std::string& key) { return parameters.text("ordering", key); });
}

std::shared_ptr<const RowOrder> make_order(const BlockPattern& pattern, const Parameters& parameters,
                                           const InputFiles& files, const RowMatching* matching) {
    const auto& row = find_row(orderings(), "ordering", parameters.text("ordering", "name"));
    if (&row == &orderings().front() && !matching) return nullptr;
    const auto begin = std::chrono::steady_clock::now();
    Buffer<int> places = matching ? row.create(with_rows_matched(pattern, *matching), parameters, files)
                                  : row.create(pattern, parameters, files);
    RowOrder order = make_row_order(pattern.context(), order_text(parameters), std::move(places));
    order.seconds = seconds_since(begin);
    order.before = pattern.statistics();
    if (matching) {
        order.equation = Buffer<int>(pattern.context(), order_label, order.rows());
        for (Index p = 0; p < order.rows(); ++p) order.equation[p] = matching->row[order.given[p]];
        order.matching_seconds = matching->seconds;
    }
    return std::make_shared<const RowOrder>(std::move(order));
}

}  // namespace hyperplane
