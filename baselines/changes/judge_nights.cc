#include "baselines/changes/judge_nights.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "baselines/changes/suite_judge.h"

namespace fusegate::baselines {

Judged judge_nights(std::span<const Night> nights, std::int64_t now_unix_s,
                    const JudgeNightsOptions& options) {
  Judged judged{{}, missing_data(nights, now_unix_s)};
  std::map<std::string, SuiteJudge> devices;
  for (const Night& night : nights) {
    const auto found = devices.try_emplace(night.device, options).first;
    std::vector<ChangePoint> changes = found->second.add(night);
    std::ranges::move(changes, std::back_inserter(judged.changes));
  }
  for (const auto& [device, judge] : devices) {
    std::vector<MissingData> undecided = judge.undecided();
    std::ranges::move(undecided, std::back_inserter(judged.missing));
  }
  return judged;
}

}  // namespace fusegate::baselines
