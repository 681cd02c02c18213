// A stage's choice in run files and identities: "tuned: candidate 3 of 8, algo 66, tile 18" where
// it was autotuned, else its name.
#pragma once

#include <string_view>

namespace fusegate::baselines {

// Whether it was autotuned: another process may choose another candidate.
bool is_autotuned(std::string_view choice);

// The candidate's name, "algo 66, tile 18".
std::string_view choice_name(std::string_view choice);

}  // namespace fusegate::baselines
