// SPDX-License-Identifier: BSD-3-Clause
// The memory of a run on a matrix of a file, predicted from the head of the file before it is read: numbers of rows and
// entries, and whether both triangles are there.
#pragma once

#include <vector>

#include "apps/run/build_case.hpp"
#include "io/matrix_head.hpp"

namespace hyperplane {

/// The result of `check --header`: what the head of the matrix's file says, and the memory that follows from it.
struct HeadPrediction {
    std::string file;  ///< of the matrix
    MatrixHead head;
    std::vector<int> block_sizes;  ///< those that the numbers of rows and entries allow
    MemoryPlan memory;             ///< the least; `more` as for a run
    bool by_level = false;         ///< CountedPlan::by_level
    std::string pattern_decides;   ///< a condition that follows from the pattern alone; empty: there is none
    bool exact() const { return memory.more == 0; }
};

/// Throws UsageError if the deck has no matrix of a file, or what it asks for needs the pattern or a GPU, and for
/// contradictions that do not depend on the entries; FileError for a bad head.
HeadPrediction predict_from_head(const Deck& deck, const Parameters& parameters, const Context& context);

/// Throws OutOfMemory if the head of the deck's matrix announces more than this machine's memory can read, where
/// `readers` ranks read it. Errors in the head are left to those who read the file.
void refuse_larger_than_memory(const Deck& deck, const Parameters& parameters, int readers);

/// check DECK --header
int check_header(const AskedDeck& asked, bool json);

}  // namespace hyperplane
