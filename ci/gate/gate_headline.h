// The gate's outcome in a sentence, or two where the exit code comes of two things.
#pragma once

#include <string>
#include <vector>

#include "ci/gate/gate_facts.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {

std::string gate_headline(const GateFacts& facts);

std::string_view gate_cause_name(baselines::GateCause cause);  // "slower", ...
// By the cause that weighs most: of undecided ones what most of these need.
NextStep next_step(const GateFacts& facts);

std::size_t count_of(const std::vector<baselines::Verdict>& verdicts, baselines::VerdictKind kind);
// Regressions that are accepted.
std::size_t accepted_count(const std::vector<baselines::Verdict>& verdicts);

// Each "driver (baseline 580, candidate 590)".
std::vector<std::string> difference_texts(
    const std::vector<baselines::EnvironmentDifference>& differences);

// "2026-11-21" of a point in time; as it is where it is not one.
std::string date_of(const std::string& when);

// What launching costs the host.

// Of the changes with that verdict, the largest first.
std::vector<const baselines::HostChange*> host_changes(const baselines::HostTimes& host,
                                                       baselines::HostVerdict verdict);
// "3 benchmarks take longer to launch"
std::string host_count_text(const std::vector<const baselines::HostChange*>& changes);
// "NAME 9.100 us -> 29.20 us (+220.88 %)", with "as a graph" where it is launched so.
std::string host_change_text(const baselines::HostChange& change);
std::string host_verdict_text(baselines::HostVerdict verdict);  // "looks slower"
// Why it only looks slower, and what to do; empty where nothing stands in the way.
std::string host_obstacle_text(baselines::HostObstacle obstacle);

}  // namespace fusegate::ci
