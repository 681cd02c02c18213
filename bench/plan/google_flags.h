// Google Benchmark's flags that set what the protocol sets: they become the protocol's, so that the
// run file says what was done.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fusegate::bench {

// Returns flags without those that went into protocol, named as a suite's protocol names them:
//   --benchmark_repetitions=N                      places
//   --benchmark_min_time=S                         batch_us
//   --benchmark_enable_random_interleaving=true    order
// Throws InputError for a value that says nothing.
std::vector<std::string> take_protocol_flags(const std::vector<std::string>& flags,
                                             nlohmann::json& protocol);

}  // namespace fusegate::bench
