// What a launch asks for (LaunchIdentity::launch), and how many instructions its kernel has, each
// with its name, so that messages show only what changed.
#pragma once

#include <string>
#include <vector>

#include "baselines/launches/call_identity.h"

namespace fusegate::baselines {

// {"registers", "166", "120", ""}, {"block", "128", "256", "threads"}.
struct LaunchFact {
  std::string what;
  std::string before;  // "none" where that side does not ask for it
  std::string after;
  std::string unit;  // empty where the sides' differ, or there is none
};

// Those that differ, in the order in which the launch has them. Instructions differ only where both
// sides know them.
std::vector<LaunchFact> changed_facts(const LaunchIdentity& before, const LaunchIdentity& after);

// Of a kernel whose machine code may change without any other: registers, shared memory and
// instructions that both sides have alike, before and after equal. Nothing of a memory operation.
std::vector<LaunchFact> kept_facts(const LaunchIdentity& before, const LaunchIdentity& after);

}  // namespace fusegate::baselines
