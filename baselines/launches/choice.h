// A stage's choice in run files and identities: "tuned: candidate 3 of 8, algo 66, tile 18" where
// it was autotuned, else its name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

// Another kernel was chosen for a stage, such as an algorithm of a library.
struct ChoiceChange {
  std::string name;
  std::string before;
  std::string after;
};

// Of the stages that both have; the choice may have another rank or reason.
std::vector<ChoiceChange> choice_changes(const std::map<std::string, std::string>& before,
                                         const std::map<std::string, std::string>& after);

}  // namespace fusegate::baselines
