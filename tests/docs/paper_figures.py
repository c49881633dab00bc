# SPDX-License-Identifier: BSD-3-Clause
"""The figures of docs/papers.md that follow from files of docs/results, computed anew (papers_test.py)."""

import re

from result_files import (a_sweep_of_each, added, application, apply_ms, average, blocks, candidate, case, cases,
                          cusparse_bandwidth, dot_product, factorisation, figure8, figure9_of_fgbilu, general,
                          gigabytes_of_factors, gigaflops, lap, least_and_most, left_out, mean, mean_and_range,
                          median, nanoseconds_a_point, numeric, of, of_bytes, of_decks, of_limit, one_unknown,
                          over_auto, over_cusparse, overs, published, rates_of_lower_solves, row, seconds_of,
                          share_of, sweeps, sweeps_on, tuned, turns, two_unknowns, variant, whole_solves,
                          with_analysis, without)

NUMBER = re.compile(r"(?<![\w.^:-])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w^³²]|:\d|\.\d|-\w)")
NO_FIGURES = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\b[a-z]+\d*(?::\d+)+|\w+\(\d\)")


def figures_in(cell):
    """Numbers of a cell that are no part of a name, of a system or of a grid's size."""
    return NUMBER.findall(NO_FIGURES.sub(" ", cell))


def is_rounded(text, value):
    """Whether a figure is this value rounded to its last digit, or to its last two where it ends in zeros."""
    text = text.replace(",", "")
    after = len(text.partition(".")[2])
    zeros = 0 if "." in text else min(len(text) - len(text.rstrip("0")), max(0, len(text) - 2))
    return abs(float(text) - value) <= 0.5 * 10.0 ** (zeros - after) * (1 + 1e-9)


def of_struct_ilu():
    tall, larger = "kernels-table3", "kernels-table3-a100"
    cusparse = [f"cusparse_ilu{form}{levels}" for form in ("", ":cholesky=false") for levels in ("", ":level_information=false")]
    small = case("levels", "star7:1:128")["kernels"]
    ablated = ("diamond13:1:432", "box27:1:336", "box27:4:128")
    return {
        "Figure 2(c)": [*least_and_most(without("by level", "lower")), *least_and_most(without("by level", "factorise"))],
        "Figure 2(d)": [general("star7-128-natural", "sync_free_ilu"), min(general("star7-128-natural", name) for name in cusparse),
                        1e3 * (median(small["lower"]) + median(small["upper"]))],
        "Section 4.1, number of levels": [case(tall, system)["levels"] for system in ("star7:1:512", "diamond13:1:432", "box27:1:336")],
        "Section 4.2.1": [*(left_out(system, "not pipelined", "lower", "pipelined") for system in ablated),
                          *added("lower", "pipelined dot product")],
        "Section 4.2.2, Figure 4(c), (d)": [None, None, *(left_out(system, "shared rows", "factorise") for system in ablated[:2]), None],
        "Section 4.2.2, Figure 4(e), (f)": [None] * 4 + [tuned(system, "factor pipeline") for system in ablated[:2]] + [None],
        "Table 2, serial N_fp, factorisation": [
            next(one["kernels"]["factorise"]["flops"] / 2 / one["unknowns"] for one in cases(tall, one_unknown) if one["stencil"] == stencil)
            for stencil in ("star13", "diamond13", "diamond25", "box27")],
        "Section 4.3, Figure 5": [*(left_out(system, "no tensor cores", "factorise") for system in ("star7:4:208", "box27:4:128", "star7:8:128")),
                                  *added("factorise", "tensor cores")],
        "Section 4.4, Figure 6(b)": [*least_and_most(without("other layout", "lower")), *least_and_most(without("other layout", "factorise")),
                                     *added("lower", "layout by levels"), *added("factorise", "layout by levels")],
        "Table 3, A100": [None, *mean_and_range(larger, "lower", blocks), *mean_and_range(larger, "factorise", blocks), None, None, None,
                          *(mean(overs(larger, kernel, two_unknowns)) for kernel in ("lower", "factorise"))],
        "Figure 7, lower solve over": [average(overs(tall, "lower")), *mean_and_range(tall, "lower"), average(overs(tall, "lower", one_unknown))],
        "Figure 7, lower solve, Gflop/s": [*rates_of_lower_solves(tall), *rates_of_lower_solves(larger)],
        "Figure 7, factorisation over": [average(overs(tall, "factorise")), *mean_and_range(tall, "factorise")],
        "Figure 7, factorisation, Diamond": [gigaflops(case(name, f"diamond25:8:{n}")["kernels"]["factorise"]) for name, n in ((tall, 80), (larger, 104))],
        "Figure 8, breakdown": figure8(),
        "Figure 9, Star-13P": [1e3 * median(case("figure9", f"{stencil}:2:{n}")["kernels"]["lower"])
                               for n in (32, 64, 128, 192, 256, 320) for stencil in ("star13", "diamond13")]
                              + [mean(overs("figure9", "lower", which)) for which in (lambda one: one["n"] < 320, lambda one: True)],
        "Section 5.4, memory": [gigabytes_of_factors("struct_ilu"), gigabytes_of_factors("cusparse_ilu:format=bsr"),
                                case(tall, "star7:6:160")["cusparse"]["csr"]["work_bytes"] / 1e9, gigabytes_of_factors("cusparse_ilu")],
        **whole_solves_of_struct_ilu(),
    }


def whole_solves_of_struct_ilu():
    decks, turned = whole_solves("solves"), turns("orderings.txt")
    ic0, cahn = decks["poisson_ic0"], decks["cahn_hilliard"]
    ic0_turn, ic1, par, multi = (turned[name] for name in ("struct_ilu", "struct_ilu:fill_level=1", "par_ilu", "multicolor:colours=hashed"))
    titles = {"Convection": "convection_diffusion", "Navier": "navier_stokes", "Euler": "euler", "Cahn": "cahn_hilliard"}
    return {
        "Table 4, Poisson, CG": [decks[deck]["own"]["iterations"] for deck in ("poisson_ic0", "poisson_ic1")],
        **{f"Table 4, {title}": [decks[deck]["own"]["iterations"]] for title, deck in titles.items()},
        "Figure 10, total": [*over_cusparse(), mean(over_cusparse())],
        "Figure 10, Poisson-IC(0)": [1e3 * ic0["own"]["total"], 1e3 * ic0["csr"]["total"]],
        "Figure 10, Cahn-Hilliard": [100 * cahn[form]["factorise"]["median"] / cahn[form]["total"] for form in ("own", "csr")],
        "Section 5.5, cost": [1e3 * ic0["csr"]["analysis"]],
        "Figure 11, iterations": [one[0] for one in (ic0_turn, ic1, par, multi)],
        "Figure 11, time": [one[3] for one in (ic0_turn, par, ic1)],
        "Section 5.6, factorisation": [one[1] for one in (ic0_turn, ic1, par, multi)],
    }


def of_fgbilu():
    cpu, gpu = ([nanoseconds_a_point(name, "star7:6:65", "fgbilu", what) for what in ("setup", "apply")]
                for name in ("fgbilu-table3-cpu", "fgbilu-figure9"))
    setup = row("h200/fgbilu-table3-cpu.json", "star7:6:65", "fgbilu")["setup"]
    kernels = [figure9_of_fgbilu("fgbilu:style=kernels", what) for what in ("setup", "apply")]

    def of_sizes(applications, products, n):
        return [*(nanoseconds_a_point(applications, f"star7:6:{n}", "fgbilu", what) for what in ("setup", "apply")),
                1e9 * median(case(products, f"star7:6:{n}")["kernels"]["spmv"]) / n**3]

    def rates_of_sizes(applications, products, n):
        """Gflop/s of the factorisation, GB/s of the solves and of the product."""
        found, kernel = row(f"h200/{applications}.json", f"star7:6:{n}", "fgbilu"), case(products, f"star7:6:{n}")["kernels"]
        return [kernel["factorise"]["flops"] / found["setup"]["median"] / 1e9, found["bytes_per_apply"] / found["apply"]["median"] / 1e9,
                of_bytes(products, f"star7:6:{n}", "spmv")]

    def bytes_a_multiply_add():
        kernel = case("products", "star7:6:65")["kernels"]
        lower, upper, product, factor = (kernel[name] for name in ("lower", "upper", "spmv", "factorise"))
        solves = row("h200/fgbilu-figure9.json", "star7:6:65", "fgbilu")["bytes_per_apply"]
        return [2 * moved / flops for moved, flops in ((factor["own_bytes"], factor["flops"]), (solves, lower["flops"] + upper["flops"]),
                                                       (product["own_bytes"], product["flops"]))]
    small, large = ("fgbilu-figure9", "products", 65), ("preconditioners-6", "kernels-table3", 160)
    return {
        "Algorithm 4, ACC": of_decks("fgbilu-kernels", factorisation),
        "Algorithm 6, ACC": of_decks("fgbilu-kernels", application),
        "Algorithm 9, CL": of_decks("fgbilu", factorisation),
        "Algorithm 10, CL": of_decks("fgbilu", application),
        "Figure 9, time a point": [*figure9_of_fgbilu("fgbilu", "setup"), *figure9_of_fgbilu("fgbilu", "apply"),
                                   *(times[at] for times in kernels for at in (0, -1))],
        "Table 3, time a point": [*of_sizes(*small), *of_sizes(*large)],
        "Algorithm 7, residual": [None, of_sizes(*small)[2]],
        "Table 3, one thread": [None, *(time / 1e3 for time in cpu), *(one / other for one, other in zip(cpu, gpu)),
                                *(1e6 * setup[end] / 65**3 for end in ("least", "most")), *[None] * 6],
        "Table 4, GFLOPS": [*rates_of_sizes(*small), *rates_of_sizes(*large), *bytes_a_multiply_add(),
                           *(time / threads for time, threads in zip(of_sizes(*small), (36, 36, 6)))],
        "Figure 10, time a point over n": [*of_decks("fgbilu", application, True), *of_decks("fgbilu", factorisation, True)],
    }


def of_subdomains():
    shares = {one.get("format", "own"): one for one in of("shares")["solves"]}
    own, csr, bsr = (shares[name] for name in ("own", "csr", "bsr"))
    names = ("laplacian1", "laplacian2")

    def ms(name, preconditioner, what="apply"):
        return apply_ms(name, name, preconditioner, what)

    def lower(name, form):
        theirs, ours = ms(name, f"cusparse_ilu{form}", "lower"), ms(name, "subdomain_ildu0:variant=unfused", "lower")
        return [theirs, ours, theirs / ours]

    def solved(name):
        seconds = [seconds_of(name, one) for one in ("subdomain_ildu0", "cusparse_ilu", "cusparse_ilu:format=bsr")]
        ours, *theirs = (seconds_of(name, one, "total_seconds") for one in ("subdomain_ildu0", "cusparse_ilu", "cusparse_ilu:format=bsr"))
        return [*seconds, min(theirs) / ours, seconds_of(name, "struct_ilu")]
    return {
        "Figure 1.1": [*share_of(csr), *share_of(bsr), csr["iterations"], bsr["iterations"], csr["total"], bsr["total"],
                       *share_of(own), own["iterations"], own["total"]],
        "Table 2.1": [*(cusparse_bandwidth("star7:3:128", form, "lower") for form in ("bsr", "csr")),
                      *(of_bytes("products", "star7:3:128", kernel) for kernel in ("lower", "spmv")), None, dot_product()],
        "Figure 4.1(b)": [ms("laplacian1", "subdomain_ildu0:variant=spin")],
        "Figures 4.2, 4.3": [ms("laplacian1", "subdomain_ildu0:variant=dag_vertex", "setup")],
        "Section 4.4, fusion": [ms("laplacian1", "subdomain_ildu0"), ms("laplacian1", "subdomain_ildu0:variant=unfused"),
                                ms("laplacian1", "subdomain_ildu0:variant=unfused") / ms("laplacian1", "subdomain_ildu0")],
        "Table 5.2": [*lower("laplacian1", ":format=bsr"), *lower("laplacian2", "")],
        "Table 5.3, laplacian1, rocSPARSE": [ms("laplacian1", f"cusparse_ilu{form}") for form in ("", ":format=bsr")],
        "Table 5.3, laplacian1, ours": [ms("laplacian1", f"subdomain_ildu0{form}")
                                        for form in ("", ":variant=unfused", ":variant=dag_vertex", ":variant=dag_edge")],
        "Table 5.3, Figure 5.3": [ms("laplacian1", "cusparse_ilu:format=bsr") / ms("laplacian1", "subdomain_ildu0")],
        "Table 5.3, laplacian2": [*(ms("laplacian2", f"{name}") for name in ("cusparse_ilu", "cusparse_ilu:format=bsr", "subdomain_ildu0")),
                                  ms("laplacian2", "cusparse_ilu") / ms("laplacian2", "subdomain_ildu0")],
        "Figure 5.4": [*of_limit("laplacian1", "laplacian1"), *of_limit("laplacian2", "laplacian2")],
        **{f"Tables 5.5, 5.6, {name}, iterations": [candidate(f"{name}-solves", one)["iterations"] for one in ("subdomain_ildu0", "struct_ilu")]
           for name in names},
        **{f"Tables 5.5, 5.6, Figure 5.6, {name}": solved(f"{name}-solves") for name in names},
        "Tables 5.5, 5.6, overhead": [seconds_of(f"{name}-solves", "subdomain_ildu0", "setup_seconds") for name in names],
    }


def of_general_matrices_and_sweeps():
    blocks_of_sweeps, exact, counts = ":mode=block_async", turns("lap-times.txt"), [1, 2, 3, 5]
    one, other = a_sweep_of_each(), a_sweep_of_each(blocks_of_sweeps)
    return {
        "Figure 5, Table III": [*(average(published(name, False)) for name in ("shared", "vect", "adapt")), average(over_auto("variants-*.json", numeric))],
        "Figures 6, 7, ILU_levs": [*least_and_most(published("levs", True)), average(published("levs", True))],
        "Figure 8, analysis": [mean(over_auto("general-*.json", with_analysis)), *least_and_most(over_auto("general-*.json", with_analysis))],
        "Section 3, block-asynchronous": [5, sweeps(blocks_of_sweeps, 0)[3]],
        "Table 2, lap: exact": [lap("cusparse_ilu"), lap("struct_ilu"), one, other, lap("cusparse_ilu") / one, lap("struct_ilu") / one],
        "Figure 5, left": [*counts, *sweeps("", 0), *sweeps(blocks_of_sweeps, 0), exact["struct_ilu"][0],
                           *sweeps_on("lap-128", ""), *sweeps_on("lap-128", blocks_of_sweeps), *[None] * 12],
        "Figure 5, right": [*counts, *sweeps("", 3), exact["struct_ilu"][3], exact["cusparse_ilu"][3]],
        "Section 4.3, synchronous": [*counts, *sweeps("", 3), *sweeps(blocks_of_sweeps, 3), one / 2, other / 2],
    }


def figures():
    """{beginning of a row of papers.md: the figures in its column "our figure", in their order; None is one from elsewhere}."""
    return {**of_struct_ilu(), **of_fgbilu(), **of_subdomains(), **of_general_matrices_and_sweeps()}
