// SPDX-License-Identifier: BSD-3-Clause
// A study: a deck with a section [sweep], and the cases it makes.
//
// A case is the deck with one value of each swept key. Its record is FOLDER/NAME.h5, its log FOLDER/NAME.log.
// A case is the same case as long as its resolved deck, [output] apart, is the same: whoever looks at a record compares
// that, so that a study which was edited after some of its cases ran is noticed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/deck/identity.hpp"
#include "apps/run/case.hpp"
#include "apps/study/sweep.hpp"

namespace hyperplane {

struct StudyCase {
    int number = 0;                             ///< from 0, in the order of the sweep
    std::string name;                           ///< "cells=32,solver=cg"
    std::map<std::string, std::string> values;  ///< of the swept keys that apply, "section.key" -> text
    Deck deck;
    Parameters parameters;
    std::string hash;   ///< of the resolved deck; empty where the case is refused
    std::string error;  ///< why the case cannot be: its deck is wrong
    std::string record;

    /// FOLDER/NAME with another extension than the record's.
    std::string beside(const std::string& extension) const;
    /// Throws UsageError, DeviceError, FileError, OutOfMemory.
    Case build() const { return build_case(deck, {}); }
};

struct Study {
    std::string file, name, folder;
    Sweep sweep;
    Parameters slurm;  ///< section [slurm]
    std::vector<StudyCase> cases;

    /// Makes its folder where there is none. Throws FileError.
    void make_folder() const;
    /// What its launcher's lock is named after; a name that no case has.
    std::string launcher() const { return folder + "/study"; }
    /// By hash, name or number; throws UsageError that says which there are.
    const StudyCase& find(const std::string& word) const;
};

/// What of a deck does not make it another case.
inline const Sections not_of_a_case = {"output"};

/// Reads a study and resolves the deck of each case. In a case, keys of a component that the sweep replaced by another
/// one are left out, and cases that become equal by it are one. Throws UsageError where [sweep] or [slurm] are wrong
/// or the file has no [sweep]; a case whose deck is wrong keeps its error.
Study read_study(const std::string& file);

}  // namespace hyperplane
