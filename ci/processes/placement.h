// Where the processes of a card run: on cores of the NUMA node that it is connected to, of which
// each card there has its own, so that cards that are measured at once do not disturb each other's
// host times.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "ci/processes/cards.h"

namespace fusegate::ci {

// For each card the CPUs to pin to; empty where the system does not say what is near it, or has
// fewer free cores there than cards. A core's hardware threads stay together. allowed: those that
// this process may use. sys: /sys, or a copy.
std::vector<std::set<int>> cpus_near(const std::vector<Card>& cards, const std::set<int>& allowed,
                                     const std::filesystem::path& sys = "/sys");

std::set<int> allowed_cpus();

// This thread and all that it starts. Does nothing for an empty set, or where it may not.
void pin_this_thread(const std::set<int>& cpus);

// "0-3,8" to its numbers; what is no such list has none.
std::set<int> parse_cpu_list(const std::string& text);

}  // namespace fusegate::ci
