#include "baselines/launches/choice.h"

namespace fusegate::baselines {

std::vector<ChoiceChange> choice_changes(const std::map<std::string, std::string>& before,
                                         const std::map<std::string, std::string>& after) {
  std::vector<ChoiceChange> changes;
  for (const auto& [name, choice] : after) {
    const auto old = before.find(name);
    if (old == before.end() || choice_name(old->second) == choice_name(choice)) continue;
    changes.push_back({name, old->second, choice});
  }
  return changes;
}

}  // namespace fusegate::baselines
