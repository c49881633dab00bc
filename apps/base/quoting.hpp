// SPDX-License-Identifier: BSD-3-Clause
// Quotes names for the programs that read what this one writes, so that any name stays one word and has no other
// effect.
#pragma once

#include <string>

namespace hyperplane {

/// `word` as one word of bash.
std::string shell_word(const std::string& word);

/// `word` as one word of an #SBATCH line, which sbatch splits by rules of its own: quotes and backslashes have a
/// meaning, '#' begins a comment, and a line cannot be continued. Throws UsageError for a word with a line break, which
/// says that `what` cannot be passed to sbatch.
std::string sbatch_word(const std::string& word, const std::string& what);

/// `text` on one line, with control characters replaced by '?', for comments and labels.
std::string one_line(const std::string& text);

/// A file's name as an argument that cannot be taken for an option: "./-x" for "-x".
std::string as_argument(const std::string& path);

/// A file's name in a command that a message shows: as it is if bash reads it as one word, else as shell_word writes
/// it.
std::string shown_argument(const std::string& path);

}  // namespace hyperplane
