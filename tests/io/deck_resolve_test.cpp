// SPDX-License-Identifier: BSD-3-Clause
// What the keys of a deck mean: defaults, provenance, and each kind of mistake with its message.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/error.hpp"
#include "io/deck.hpp"
#include "io/sample_schema.hpp"

namespace hyperplane {
namespace {

Parameters resolved(const std::string& source, const std::vector<std::string>& sets = {}) {
    std::vector<DeckEntry> overrides;
    for (const std::string& text : sets) overrides.push_back(parse_override(text));
    return resolve(parse_deck(source, "deck.ini"), overrides, sample_schema());
}

std::string message(const std::string& source, const std::vector<std::string>& sets = {}) {
    try {
        resolved(source, sets);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

const std::string grid = "[grid]\ncells = 4 4 4\n";  // lines 1 and 2

TEST(Resolve, DefaultsDeckAndOverridesInThisOrder) {
    const Parameters p = resolved(grid + "[solver]\nrtol = 1e-3\n",
                                  {"solver.max_iterations=7", "solver.rtol=1e-4", "solver.max_iterations=1e3"});
    EXPECT_EQ(p.text("problem", "name"), "poisson");
    EXPECT_EQ(p.value("problem", "name").provenance.text(), "default");
    EXPECT_EQ(p.integers("grid", "cells"), (std::vector<Index>{4, 4, 4}));
    EXPECT_EQ(p.value("grid", "cells").provenance.text(), "deck.ini:2");
    EXPECT_EQ(p.real("solver", "rtol"), 1e-4);
    EXPECT_EQ(p.value("solver", "rtol").provenance.text(), "--set");
    EXPECT_EQ(p.integer("solver", "max_iterations"), 1000);
    EXPECT_FALSE(p.has("problem", "peclet"));
}

TEST(Resolve, ComponentsBringTheirKeysAndAliasesBecomeNames) {
    const Parameters p = resolved(grid + "[problem]\nname = cd\npeclet = 5\n", {"solver.name=gmres"});
    EXPECT_EQ(p.text("problem", "name"), "convection_diffusion");
    EXPECT_EQ(p.real("problem", "peclet"), 5.0);
    EXPECT_EQ(p.integer("solver", "restart"), 30);
    EXPECT_FALSE(p.has("problem", "coefficient"));
}

TEST(Resolve, UnknownKeysAreToldWithTheNearestOne) {
    EXPECT_EQ(message(grid + "[solver]\nrtoll = 1\n"),
              "deck.ini:4: unknown key solver.rtoll; did you mean solver.rtol? (hyperplane help solver)");
    EXPECT_EQ(message(grid + "[solver]\nzzzzzz = 1\n"),
              "deck.ini:4: unknown key solver.zzzzzz (hyperplane help solver)");
    EXPECT_EQ(message(grid + "[output]\nrtol = 1\n"),
              "deck.ini:4: unknown key output.rtol; did you mean solver.rtol? (hyperplane help output)");
    EXPECT_EQ(message(grid, {"solver.rtoll=1"}),
              "--set: unknown key solver.rtoll; did you mean solver.rtol? (hyperplane help solver)");
}

TEST(Resolve, PrefixesAreNotGuessed) {
    EXPECT_EQ(message(grid + "[solver]\nmax_iter = 5\n"),
              "deck.ini:4: unknown key solver.max_iter; did you mean solver.max_iterations? (hyperplane help solver)");
}

/// With a section that belongs to solver gmres alone and has components of its own.
DeckSchema nested_schema() {
    DeckSchema s = sample_schema();
    for (auto& component : s.components)
        if (component.name == "gmres")
            component.parameters.push_back({"inner", "name", ParameterType::text, "quick", "The inner method"});
    s.components.push_back({"inner", "quick", {"fast"}, {integer("inner", "speed", "9")}});
    s.components.push_back({"inner", "slow", {}, {integer("inner", "patience", "1")}});
    return s;
}

std::string nested_message(const std::string& source) {
    try {
        resolve(parse_deck(source, "deck.ini"), {}, nested_schema());
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Resolve, SectionsThatBelongToAComponent) {
    const auto nested = [](const std::string& source) {
        return resolve(parse_deck(grid + source, "deck.ini"), {}, nested_schema());
    };
    const Parameters by_default = nested("[solver]\nname = gmres\n");
    EXPECT_EQ(by_default.text("inner", "name"), "quick");
    EXPECT_EQ(by_default.integer("inner", "speed"), 9);
    EXPECT_FALSE(by_default.has("inner", "patience"));
    const Parameters named = nested("[solver]\nname = gmres\n[inner]\nname = slow\npatience = 3\n");
    EXPECT_EQ(named.integer("inner", "patience"), 3);
    EXPECT_FALSE(named.has("inner", "speed"));
    EXPECT_EQ(nested("[solver]\nname = gmres\n[inner]\nname = fast\n").text("inner", "name"), "quick");
    EXPECT_FALSE(nested("").has("inner", "name"));
    EXPECT_FALSE(nested("[inner]\nname ?= slow\n").has("inner", "name")) << "a default that means nothing here";
    EXPECT_EQ(nested_message(grid + "[inner]\nname = slow\n"),
              "deck.ini:4: section [inner] belongs to solver gmres, not to cg (hyperplane help gmres)");
    EXPECT_EQ(nested_message(grid + "[inner]\nspeed = 3\n"),
              "deck.ini:4: section [inner] belongs to solver gmres, not to cg (hyperplane help gmres)");
    EXPECT_EQ(nested_message(grid + "[solver]\nname = gmres\n[inner]\npatience = 3\n"),
              "deck.ini:6: inner.patience belongs to inner slow, not to quick; remove it, or leave it out by --set "
              "inner.patience= (hyperplane help inner.patience)");
    EXPECT_EQ(nested_message(grid + "[solver]\nname = gmres\n[inner]\nname = slo\n"),
              "deck.ini:6: no inner is called 'slo'; did you mean slow? (hyperplane help inner)");
    // A resolved deck gives the same values again.
    const std::string ini = to_ini(named);
    EXPECT_EQ(to_ini(resolve(parse_deck(ini, "again.ini"), {}, nested_schema())).size() > 0, true);
    EXPECT_EQ(resolve(parse_deck(ini, "again.ini"), {}, nested_schema()).integer("inner", "patience"), 3);
}

TEST(Resolve, KeysOfAnotherComponentAreRefused) {
    EXPECT_EQ(message(grid + "[problem]\npeclet = 1\n"),
              "deck.ini:4: problem.peclet belongs to problem convection_diffusion, not to poisson; remove it, or leave "
              "it out "
              "by --set problem.peclet= (hyperplane help problem.peclet)");
    EXPECT_EQ(message(grid + "[solver]\nname = gmres\nrestart = 20\n", {"solver.name=cg"}),
              "deck.ini:5: solver.restart belongs to solver gmres, not to cg; remove it, or leave it out by --set "
              "solver.restart= (hyperplane help solver.restart)");
    EXPECT_EQ(message(grid, {"solver.name=cg", "solver.restart=20"}),
              "--set: solver.restart belongs to solver gmres, not to cg (hyperplane help solver.restart)");
}

TEST(Resolve, AnOverrideWithoutAValueLeavesTheKeyOut) {
    const std::string deck = grid + "[solver]\nname = gmres\nrestart = 20\nrtol = 0.5\n";
    EXPECT_EQ(message(deck, {"solver.name=cg", "solver.restart="}), "accepted");
    EXPECT_EQ(message(deck, {"solver.name=", "solver.restart="}), "accepted") << "cg is the default";
    const auto restart = [&](const std::vector<std::string>& sets) {
        return resolved(deck, sets).integer("solver", "restart");
    };
    EXPECT_EQ(restart({"solver.restart="}), 30);
    EXPECT_EQ(restart({"solver.restart=40", "solver.restart="}), 30);
    EXPECT_EQ(restart({"solver.restart=", "solver.restart=40"}), 40);
    EXPECT_EQ(message(deck, {"solver.restrt="}),
              "--set: unknown key solver.restrt; did you mean solver.restart? (hyperplane help solver)");
    EXPECT_EQ(message(deck, {"grid.cells="}), "deck.ini: grid.cells is missing (hyperplane help grid.cells)");
}

TEST(Resolve, UnknownSectionsAreToldWithTheNearestOne) {
    EXPECT_EQ(message(grid + "[solvr]\nrtol = 1\nx = 2\n"),
              "deck.ini:3: unknown section [solvr]; did you mean [solver]? (hyperplane help)");
    EXPECT_EQ(message(grid + "[zzzzzzzz]\n"), "deck.ini:3: unknown section [zzzzzzzz] (hyperplane help)");
    EXPECT_EQ(message(grid, {"solvr.rtol=1"}),
              "--set: unknown section [solvr]; did you mean [solver]? (hyperplane help)");
}

TEST(Resolve, SectionsOfStudiesAreRefusedForARun) {
    const std::string why = "is for studies, and no key of it can be set for a single run (hyperplane help study)";
    EXPECT_EQ(message(grid + "[slurm]\ngpus = 2\n"), "deck.ini:3: section [slurm] " + why);
    EXPECT_EQ(message(grid, {"sweep.folder=a"}), "--set: sweep.folder: section [sweep] " + why);
}

TEST(Resolve, NamesThatAreRefusedForAReason) {
    DeckSchema schema = sample_schema();
    schema.refused = {{"problem", "poissons", "it is a statistician's"}};
    try {
        resolve(parse_deck(grid + "[problem]\nname = poissons\n", "deck.ini"), {}, schema);
        ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(), "deck.ini:4: it is a statistician's");
    }
}

TEST(Resolve, UnknownComponentsAreReportedOnce) {
    EXPECT_EQ(message(grid + "[problem]\nname = poison\ncoefficient = 2\npeclet = 1\n"),
              "deck.ini:4: no problem is called 'poison'; did you mean poisson? (hyperplane list problems)");
    EXPECT_EQ(message(grid, {"solver.name=gmers"}),
              "--set: no solver is called 'gmers'; did you mean gmres? (hyperplane list solvers)");
    EXPECT_EQ(message(grid, {"solver.name=GMRES"}),
              "--set: no solver is called 'GMRES'; did you mean gmres? (hyperplane list solvers)");
}

TEST(Resolve, ValuesOfAnotherTypeOrOutOfRangeAreRefused) {
    const auto rtol = [](const std::string& v) { return message(grid + "[solver]\nrtol = " + v + "\n"); };
    const auto most = [](const std::string& v) { return message(grid + "[solver]\nmax_iterations = " + v + "\n"); };
    EXPECT_EQ(rtol("nan"),
              "deck.ini:4: solver.rtol: expected a finite number, got 'nan' (hyperplane help solver.rtol)");
    EXPECT_EQ(rtol("inf"),
              "deck.ini:4: solver.rtol: expected a finite number, got 'inf' (hyperplane help solver.rtol)");
    EXPECT_EQ(rtol("1e999"),
              "deck.ini:4: solver.rtol: expected a finite number, got '1e999' (hyperplane help solver.rtol)");
    EXPECT_EQ(rtol("-1"),
              "deck.ini:4: solver.rtol: -1 is out of range; expected real >= 0 (hyperplane help solver.rtol)");
    EXPECT_EQ(most("-1"),
              "deck.ini:4: solver.max_iterations: -1 is out of range; expected integer >= 0 "
              "(hyperplane help solver.max_iterations)");
    EXPECT_EQ(most("1.5"),
              "deck.ini:4: solver.max_iterations: expected an integer, got '1.5' "
              "(hyperplane help solver.max_iterations)");
    EXPECT_EQ(most("1e3"), "accepted");
    EXPECT_EQ(message(grid, {"output.fields=perhaps"}),
              "--set: output.fields: expected true or false, got 'perhaps' (hyperplane help output.fields)");
    EXPECT_EQ(message("[grid]\ncells = 4 4\n"),
              "deck.ini:2: grid.cells: expected 3 integers >= 1, got 2 values (hyperplane help grid.cells)");
}

TEST(Resolve, AnOverriddenValueIsCheckedToo) {
    EXPECT_EQ(message(grid + "[solver]\nrtol = x\n", {"solver.rtol=1"}),
              "deck.ini:4: solver.rtol: expected a finite number, got 'x' (hyperplane help solver.rtol)");
}

TEST(Resolve, MissingKeysAreToldWithWhatNeedsThem) {
    EXPECT_EQ(message("[solver]\n"), "deck.ini: grid.cells is missing (hyperplane help grid.cells)");
    EXPECT_EQ(message(grid + "[problem]\nname = matrix_market\n"),
              "deck.ini: problem.matrix_file is missing, problem matrix_market needs it "
              "(hyperplane help problem.matrix_file)");
    EXPECT_EQ(message(grid + "[problem]\nname = matrix_market\nmatrix_file = \"\"\n"),
              "deck.ini: problem.matrix_file is missing, problem matrix_market needs it "
              "(hyperplane help problem.matrix_file)");
    EXPECT_EQ(message("[solver]\n", {"grid.cells=1 1 1"}), "accepted");
}

TEST(Resolve, KeysThatMeanNothingWithoutAnother) {
    const std::string gmres = grid + "[solver]\nname = gmres\n";  // to line 4
    EXPECT_EQ(message(gmres + "twice = true\ntolerance = 0.5\n"), "accepted");
    EXPECT_EQ(
        message(gmres + "tolerance = 0.5\n"),
        "deck.ini:5: solver.tolerance means nothing with solver.twice = false; leave it out, or set solver.twice = "
        "true (hyperplane help solver.tolerance)");
    EXPECT_EQ(message(gmres + "tolerance = 0.5\n", {"solver.twice=true"}), "accepted");
    // The first unmet condition of a chain is reported, also if the keys that depend on it were not given.
    EXPECT_EQ(message(gmres + "tolerance = 0.5\n", {"solver.orthogonalisation=mgs", "solver.twice=true"}),
              "deck.ini:5: solver.tolerance means nothing with solver.orthogonalisation = mgs; leave it out, or set "
              "solver.orthogonalisation = cgs (hyperplane help solver.tolerance)\n"
              "--set: solver.twice means nothing with solver.orthogonalisation = mgs; leave it out, or set "
              "solver.orthogonalisation = cgs (hyperplane help solver.twice)");
}

TEST(Resolve, AllErrorsTogetherInTheDecksOrder) {
    EXPECT_EQ(message("x = 1\n[solver]\nrtol = nan\nrtoll = 1\nrtol = 2\n[solvr]\n[output]\nfields\n",
                      {"solver.max_iterations=no"}),
              "deck.ini:1: key x stands outside a section; put a line [section] above it\n"
              "deck.ini:3: solver.rtol: expected a finite number, got 'nan' (hyperplane help solver.rtol)\n"
              "deck.ini:4: unknown key solver.rtoll; did you mean solver.rtol? (hyperplane help solver)\n"
              "deck.ini:5: solver.rtol is given twice, first in line 3\n"
              "deck.ini:6: unknown section [solvr]; did you mean [solver]? (hyperplane help)\n"
              "deck.ini:8: 'fields' has no '='; expected key = value\n"
              "--set: solver.max_iterations: expected an integer, got 'no' (hyperplane help solver.max_iterations)\n"
              "deck.ini: grid.cells is missing (hyperplane help grid.cells)");
}

TEST(Resolve, ManyErrorsAreCutShort) {
    std::string source = grid + "[solver]\n";
    for (int at = 0; at < 60; ++at) source += fmt::format("qqq{} = 1\n", at);
    const std::string text = message(source);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 50);
    EXPECT_EQ(text.substr(text.rfind('\n') + 1), "and 10 more errors");
}

TEST(ToIni, ResolvesToTheSameValues) {
    for (const std::string& source :
         {grid, grid + "[problem]\nname = cd\npeclet = 1e-3\n[solver]\nname = gmres\n",
          grid + "[solver]\nname = gmres\northogonalisation = mgs\n",
          grid + "[output]\nfile = \"a ; b # \"\"c\"\" \"\nnote = \"\"\"\"\n", grid + "[output]\nfile = \"\"\n"}) {
        const Parameters first = resolved(source, {"solver.max_iterations=1e1", "output.note= x#y "});
        const Parameters second = resolved(to_ini(first));
        const auto a = first.all(), b = second.all();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t at = 0; at < a.size(); ++at) {
            EXPECT_EQ(a[at].spec.name(), b[at].spec.name());
            EXPECT_EQ(a[at].text, b[at].text) << a[at].spec.name();
            const bool is_set = !a[at].text.empty() || !a[at].spec.default_value.empty();
            if (!is_set) continue;
            EXPECT_EQ(first.is_given(a[at].spec.section, a[at].spec.key),
                      second.is_given(a[at].spec.section, a[at].spec.key))
                << a[at].spec.name();
        }
    }
}

TEST(Defaults, OfADeckDoNotCountAsGiven) {
    const Parameters p = resolved(grid + "[solver]\nrtol ?= 1e-3\nmax_iterations = 7\n");
    EXPECT_EQ(p.real("solver", "rtol"), 1e-3);
    EXPECT_FALSE(p.is_given("solver", "rtol"));
    EXPECT_TRUE(p.is_given("solver", "max_iterations"));
    EXPECT_EQ(p.value("solver", "rtol").provenance.text(), "default");
    const Parameters overridden = resolved(grid + "[solver]\nrtol?=1e-3\n", {"solver.rtol=1e-4"});
    EXPECT_EQ(overridden.real("solver", "rtol"), 1e-4);
    EXPECT_TRUE(overridden.is_given("solver", "rtol"));
}

TEST(Defaults, FollowOtherKeys) {
    DeckSchema s = sample_schema();
    s.other_defaults = {{"solver.name", "gmres", "problem.name", "convection_diffusion"},
                        {"solver.max_iterations", "9", "output.fields", "false"}};
    const auto with = [&](const std::string& source, const std::vector<std::string>& overrides = {}) {
        std::vector<DeckEntry> entries;
        for (const std::string& text : overrides) entries.push_back(parse_override(text));
        return resolve(parse_deck(grid + source, "deck.ini"), entries, s);
    };
    EXPECT_EQ(with("").text("solver", "name"), "cg");
    const Parameters p = with("[problem]\nname = cd\n[solver]\nrestart = 7\n");  // an alias, and a key of gmres
    EXPECT_EQ(p.text("solver", "name"), "gmres");
    EXPECT_FALSE(p.is_given("solver", "name"));
    EXPECT_EQ(p.value("solver", "name").spec.default_value, "gmres");
    EXPECT_NE(to_ini(p).find("name ?= gmres  ; default\n"), std::string::npos);
    EXPECT_EQ(with("[problem]\nname = cd\n[solver]\nname = cg\n").text("solver", "name"), "cg");
    EXPECT_EQ(with("[problem]\nname = cd\n", {"problem.name="}).text("solver", "name"), "cg");
    EXPECT_EQ(with("[problem]\nname = cd\n", {"problem.name=poisson"}).text("solver", "name"), "cg");
    EXPECT_EQ(with("", {"problem.name=cd"}).text("solver", "name"), "gmres");
    EXPECT_EQ(with("[output]\nfields ?= false\n").integer("solver", "max_iterations"), 9);
    // Lines of a record say what it was there; another default that somebody has chosen counts.
    EXPECT_EQ(with("[problem]\nname = cd\n[solver]\nname ?= cg\n").text("solver", "name"), "gmres");
    EXPECT_EQ(with("[solver]\nname ?= gmres\n").text("solver", "name"), "cg");
    EXPECT_EQ(with("[output]\nfields = false\n[solver]\nmax_iterations ?= 8\n").integer("solver", "max_iterations"), 8);
}

TEST(Defaults, ThatNoLineDecidesAreRefusedUnlessTheySayWhatIs) {
    DeckSchema s = sample_schema();
    s.other_defaults = {{"solver.max_iterations", "9", "problem.name", "convection_diffusion"}};
    s.decided_defaults = {"solver.max_iterations"};
    const auto with = [&](const std::string& source, bool of_record, const std::vector<std::string>& overrides = {}) {
        std::vector<DeckEntry> entries;
        for (const std::string& text : overrides) entries.push_back(parse_override(text));
        Deck deck = parse_deck(source + grid, "deck.ini");
        deck.of_record = of_record;
        return resolve(deck, entries, s).integer("solver", "max_iterations");
    };
    const std::string of_nine = "[problem]\nname = cd\n";  // an alias
    const auto line = [](int value) { return fmt::format("[solver]\nmax_iterations ?= {}\n", value); };
    for (const int value : {2000, 9, 7}) {
        EXPECT_EQ(with(line(value), true), 2000) << value;
        EXPECT_EQ(with(of_nine + line(value), true), 9) << value;
    }
    for (const int value : {9, 7}) EXPECT_THROW(with(line(value), false), UsageError) << value;
    for (const int value : {2000, 7}) EXPECT_THROW(with(of_nine + line(value), false), UsageError) << value;
    EXPECT_EQ(with(line(2000), false), 2000);
    EXPECT_EQ(with(of_nine + line(9), false), 9);
    EXPECT_EQ(with(line(2000), false, {"problem.name=cd"}), 9);  // as the deck's own keys lead to it
    EXPECT_EQ(with("[solver]\nmax_iterations = 7\n", false), 7);
    try {
        with(of_nine + line(7), false);
    } catch (const UsageError& error) {
        EXPECT_STREQ(
            error.what(),
            "deck.ini:4: solver.max_iterations ?= 7 would be ignored, since this default follows other keys and "
            "is 9 here; write max_iterations = 7, or leave the line out (hyperplane help "
            "solver.max_iterations)");
    }
}

TEST(Defaults, AreIgnoredWhereTheyDoNotApply) {
    // Defaults of keys that belong to gmres, and to a form of gmres that was not chosen.
    const Parameters cg = resolved(grid + "[solver]\nname ?= gmres\nrestart ?= 10\n", {"solver.name=cg"});
    EXPECT_FALSE(cg.has("solver", "restart"));
    EXPECT_NO_THROW(resolved(grid + "[solver]\nname = gmres\northogonalisation = mgs\ntwice ?= true\n"));
    EXPECT_NE(message(grid + "[solver]\nrestrt ?= 10\n"), "");         // of nothing at all
    EXPECT_NE(message(grid + "[solver]\nrtol ?= fast\n"), "");         // and a wrong value is wrong
    EXPECT_NE(message(grid + "[solver]\nrtol ?= 1\nrtol = 1\n"), "");  // given twice
}

TEST(ToIni, LeavesOutWhatMeansNothing) {
    const std::string ini = to_ini(resolved(grid + "[solver]\nname = gmres\northogonalisation = mgs\n"));
    EXPECT_NE(ini.find("; twice means nothing without orthogonalisation = cgs\n"
                       "; tolerance means nothing without orthogonalisation = cgs\n"),
              ini.npos)
        << ini;
}

TEST(ToIni, KeepsTheLongestValueInADeckOfAStrangeName) {
    const Deck deck = parse_deck(grid + "[output]\nnote = \"" + std::string(8192, '"') + "\"\n", "my\ndeck.ini");
    const Parameters p = resolve(deck, {}, sample_schema());
    EXPECT_EQ(p.text("output", "note"), std::string(4096, '"'));
    EXPECT_EQ(resolved(to_ini(p)).text("output", "note"), p.text("output", "note"));
}

TEST(ToIni, ShowsProvenance) {
    EXPECT_EQ(to_ini(resolved(grid + "[output]\nfile = \"my run.h5\"\n", {"solver.rtol=0"})),
              "[problem]\nname ?= poisson  ; default\ncoefficient ?= 1  ; default\n\n"
              "[grid]\ncells = 4 4 4  ; deck.ini:2\n\n"
              "[solver]\nname ?= cg  ; default\nrtol = 0  ; --set\nmax_iterations ?= 2000  ; default\n\n"
              "[output]\nfile = my run.h5  ; deck.ini:4\n; note is not set\nfields ?= true  ; default\n");
}

}  // namespace
}  // namespace hyperplane
