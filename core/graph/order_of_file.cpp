// SPDX-License-Identifier: BSD-3-Clause
// The order of rows that a file gives: one number a row, each once.
#include <fmt/format.h>

#include "core/error.hpp"
#include "core/graph/orderings.hpp"
#include "core/with_place.hpp"

namespace hyperplane {

Buffer<int> order_of_file(const BlockPattern& pattern, const Parameters& parameters, const InputFiles& files) {
    const std::string& file = parameters.text("ordering", "file");
    return with_place(parameters.where("ordering", "file"), [&] {
        const std::vector<double> numbers = files.vector(file);
        const Index rows = pattern.rows();
        if (Index(numbers.size()) != rows)
            throw FileError(fmt::format(
                "{} holds {} numbers, and the matrix has {} block rows; the file needs one for each block row", file,
                numbers.size(), rows));
        Buffer<int> order(pattern.context(), "row order", rows);
        std::vector<Index> place(std::size_t(rows), 0);  // of each row, counted from 1; 0 as long as it has none
        for (Index at = 0; at < rows; ++at) {
            const double number = numbers[at];
            if (!(number >= 1.0 && number <= double(rows)) || number != double(Index(number)))
                throw FileError(fmt::format("{}: its number {} is {}, which is no block row from 1 to {}", file, at + 1,
                                            number, rows));
            const Index row = Index(number) - 1;
            if (place[row] != 0)
                throw FileError(
                    fmt::format("{}: block row {} is its number {} and again its number {}; each has one place", file,
                                row + 1, place[row], at + 1));
            place[row] = at + 1;
            order[at] = int(row);
        }
        return order;
    });
}

}  // namespace hyperplane
