// A stage's choice in run files and identities: "tuned: candidate 3 of 8, algo 66, tile 18" where
// it was autotuned, else its name.
#pragma once

#include <string_view>

namespace fusegate::baselines {

inline constexpr std::string_view kChoiceRank = ": candidate ";

// Whether it was autotuned: another process may choose another candidate.
inline bool is_autotuned(std::string_view choice) {
  return choice.find(kChoiceRank) != choice.npos;
}

// The candidate's name, "algo 66, tile 18".
inline std::string_view choice_name(std::string_view choice) {
  const std::size_t rank = choice.find(kChoiceRank);
  const std::size_t end = rank == choice.npos ? rank : choice.find(", ", rank);
  return end == choice.npos ? choice : choice.substr(end + 2);
}

}  // namespace fusegate::baselines
