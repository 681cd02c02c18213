// What the gate found, in sentences.
#pragma once

#include <string>
#include <vector>

#include "baselines/gating/gate.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {

// One sentence, or two where the exit code comes of two things.
std::string gate_headline(const baselines::GateResult& result,
                          const baselines::GateOptions& options);

// Doubts about either run, what else must be known of the two, and how stale the baseline is.
std::vector<std::string> gate_notes(const Judgement& judgement, const baselines::Run& candidate);

// "NAME 9.100 us -> 29.20 us (+220.88 %)", with "as a graph" where it is launched so.
std::string host_change_text(const baselines::HostChange& change);
std::string host_verdict_text(baselines::HostVerdict verdict);  // "looks slower"
// Why it only looks slower; empty where nothing stands in the way.
std::string host_obstacle_text(baselines::HostObstacle obstacle);

// Part of these.
std::vector<std::string> staleness_notes(const baselines::Staleness& staleness);
// Why nothing was judged by the anchor; empty where it was.
std::string creep_not_judged(const baselines::Creep& creep);

}  // namespace fusegate::ci
