// Everything that a page or a comment says about a run, ready to be formatted. A report formats and
// never decides: verdicts come from the gate, speed-ups from the sweep, ratios to peers and floors
// from the standings, where fusion stops paying from the crossovers, classes from bound.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ci/figures/crossover.h"
#include "ci/figures/standing.h"
#include "ci/figures/sweep.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {

struct Report {
  std::string title;
  baselines::Run candidate;
  std::optional<Judgement> judgement;  // nothing: the run is shown and compared with nothing
  std::vector<Sweep> sweeps;           // empty where they are not to be shown
  std::vector<Crossover> crossovers;   // likewise
  std::optional<Standings> standings;  // likewise
};

// One sentence: the gate's, or what the run holds.
std::string headline(const Report& report);

// "5 invocations on NVIDIA H200, commit 0123456789ab (dirty), 2026-11-21T02:53:32+00:00"
std::string describe(const baselines::Run& run);

// Doubts about the candidate and the gate's notes, in sentences, each once.
std::vector<std::string> doubt_sentences(const Report& report);

// The number of invocations of the benchmark that has most.
int invocations_of(const baselines::Run& run);

// What ci/report/html/html_report.py draws. NaN is written as null.
nlohmann::json report_json(const Report& report);

}  // namespace fusegate::ci
