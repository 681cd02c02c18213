// What differs between two nights but for the code, in words and as a class.
#pragma once

#include <string>

#include "baselines/history/change_point.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

// Equal where stored figures of one card are comparable.
std::string environment_of(const Night& night);

struct EnvironmentChange {
  ChangeClass of_class = ChangeClass::kUnexplained;
  std::string reason{};  // "driver 570.1 -> 580.2; cuda 12.9 -> 13.0"; empty where nothing changed
};
EnvironmentChange environment_change(const Night& before, const Night& after);

// "commit a..b"; empty where either is not known or both are the same.
std::string commits_between(const Night& before, const Night& after);

}  // namespace fusegate::baselines
