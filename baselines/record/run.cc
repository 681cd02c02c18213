#include "baselines/record/run.h"

#include <utility>

namespace fusegate::baselines {

std::vector<EnvironmentDifference> differences_between(const Run& baseline, const Run& candidate) {
  auto differences = environment_differences(baseline.environment, candidate.environment);
  for (EnvironmentDifference& difference :
       protocol_differences(baseline.provenance.protocol, candidate.provenance.protocol)) {
    differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace fusegate::baselines
