// SPDX-License-Identifier: BSD-3-Clause
// A study: a deck with a section [sweep], and its cases.
//
// A case is the deck with one value for each varied key. Its record is FOLDER/NAME.h5, its log FOLDER/NAME.log. A
// record belongs to a case if their resolved decks are the same except for [output]. This is checked whenever a record
// is read, so that it is noticed if the study was edited after some cases had run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/deck/identity.hpp"
#include "apps/study/case_axes.hpp"
#include "io/deck.hpp"

namespace hyperplane {

struct StudyCase {
    int number = 0;                             ///< counted from 0 in the order of the combinations
    std::string name;                           ///< "cells=32,solver=cg"
    std::map<std::string, std::string> values;  ///< "section.key" -> text, for the varied keys that apply
    Deck deck;
    Parameters parameters;
    std::string hash;   ///< hash of the resolved deck; empty if the case is refused
    std::string error;  ///< why the case is refused, if its deck is wrong
    std::string record;

    /// The file beside the record, FOLDER/NAME with this extension.
    std::string beside(const std::string& extension) const;
};

struct Study {
    std::string file, name, folder;
    CaseAxes varied;
    Parameters slurm;  ///< section [slurm]
    std::vector<StudyCase> cases;

    /// "s.ini:9: sweep.folder", the place of a message about the study's folder.
    std::string where_folder() const;
    /// Creates the study's folder if it does not exist. Throws FileError.
    void make_folder() const;
    /// The name of the launcher's lock, which is no case's name.
    std::string launcher() const { return folder + "/study"; }
    /// The case with this hash, name or number. Throws a UsageError that lists what there is.
    const StudyCase& find(const std::string& word) const;
};

/// Sections of a deck that do not distinguish cases.
inline const Sections not_of_a_case = {"output"};

/// Reads a study and resolves the deck of each case. If a case replaces a component by another one, the keys of the
/// former are left out, and cases that become equal are one case. Throws UsageError if [sweep] or [slurm] is wrong, if
/// the file has no [sweep], or if a file has the name of the study's folder. A case whose deck is wrong keeps its
/// error.
Study read_study(const std::string& file);

}  // namespace hyperplane
