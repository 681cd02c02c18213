// What the gate found, in sentences.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/gate.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {

// One sentence, or two where the exit code comes of two things.
std::string gate_headline(const baselines::GateResult& result,
                          const baselines::GateOptions& options);

// Doubts about either run, what else must be known of the two, and how stale the baseline is.
std::vector<std::string> gate_notes(const Judgement& judgement, const baselines::Run& candidate);

// Part of these.
std::vector<std::string> staleness_notes(const baselines::Staleness& staleness);
// Why nothing was judged by the anchor; empty where it was.
std::string creep_not_judged(const baselines::Creep& creep);

}  // namespace fusegate::ci
