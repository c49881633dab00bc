// SPDX-License-Identifier: BSD-3-Clause
// Words for the programs that read what this one writes: whatever a name holds, it stays one word and does nothing
// else.
#pragma once

#include <string>

namespace hyperplane {

/// `word` as one word of bash.
std::string shell_word(const std::string& word);

/// `word` as one word of an #SBATCH line, which sbatch splits by rules of its own: quotes and backslashes count, '#'
/// begins a comment, and a line ends where it ends. Throws UsageError for a word with a line break, saying that `what`
/// cannot be told to sbatch.
std::string sbatch_word(const std::string& word, const std::string& what);

/// `text` on one line, control characters replaced by '?': for comments and labels.
std::string one_line(const std::string& text);

/// A file's name as an argument that is never taken for an option: "./-x" for "-x".
std::string as_argument(const std::string& path);

}  // namespace hyperplane
