// SPDX-License-Identifier: BSD-3-Clause
// The verbs. Each is in a file of its own, verb_NAME.cpp.
#pragma once

#include <string>
#include <vector>

#include "apps/base/invocation.hpp"

namespace hyperplane {

/// The table from which dispatch, --help and the documents are made.
const std::vector<Verb>& verbs();
/// The verb of that name. Throws a UsageError that suggests the nearest one.
const Verb& find_verb(const std::string& name);
/// Whether the words of a command line ask for one JSON object on standard output. They may have errors.
bool ask_for_json(const std::vector<std::string>& words);
/// What `hyperplane --help` prints.
std::string program_usage();

int bench_verb(const Invocation& invocation);
int run_verb(const Invocation& invocation);
int check_verb(const Invocation& invocation);
int warm_verb(const Invocation& invocation);
int compare_verb(const Invocation& invocation);
int study_verb(const Invocation& invocation);
int list_verb(const Invocation& invocation);
int help_verb(const Invocation& invocation);
int info_verb(const Invocation& invocation);
int diff_verb(const Invocation& invocation);
int new_verb(const Invocation& invocation);
int plot_verb(const Invocation& invocation);
int report_verb(const Invocation& invocation);
int export_verb(const Invocation& invocation);
int selftest_verb(const Invocation& invocation);

}  // namespace hyperplane
