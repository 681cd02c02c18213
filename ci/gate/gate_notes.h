// What else must be known of the two runs: a sentence each, with what to do.
#pragma once

#include <string>
#include <vector>

#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

// Warnings about either run, what differs between them, how stale the baseline is, and what was
// asked to be said besides.
std::vector<std::string> gate_notes(const GateFacts& facts);

// Part of these.
std::vector<std::string> staleness_notes(const baselines::Staleness& staleness);
// Why nothing was judged by the anchor; empty where it was.
std::string creep_not_judged(const baselines::Creep& creep);

// "The baseline has 2 processes on each card; at least 4 are needed to report a regression.
// Re-record it: fusegate run ...". Empty where each card has enough of them: a stored baseline of
// few processes reports no regression, as nothing fresh can be added to stored figures
// (baselines/comparing/rule.h).
std::string few_processes_text(const baselines::Run& baseline);
// The same of the processes that were compared with a candidate: of its card, or of all cards.
std::string few_processes_text(const baselines::Run& baseline,
                               const std::vector<baselines::Verdict>& verdicts);

}  // namespace fusegate::ci
