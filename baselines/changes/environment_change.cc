#include "baselines/changes/environment_change.h"

#include <fmt/format.h>

namespace fusegate::baselines {
namespace {

struct Part {
  const char* name;
  std::string Night::*value;
  ChangeClass of_class;
};

constexpr Part kParts[] = {{"driver", &Night::driver, ChangeClass::kLibrary},
                           {"CUDA", &Night::cuda, ChangeClass::kLibrary},
                           {"cuBLAS", &Night::cublas, ChangeClass::kLibrary},
                           {"method", &Night::method, ChangeClass::kMethod},
                           {"suite", &Night::suite, ChangeClass::kMethod}};

const std::string& or_unknown(const std::string& value) {
  static const std::string unknown = "unknown";
  return value.empty() ? unknown : value;
}

}  // namespace

std::string environment_of(const Night& night) {
  std::string all;
  for (const Part& part : kParts) all += night.*part.value + '\n';
  return all;
}

EnvironmentChange environment_change(const Night& before, const Night& after) {
  EnvironmentChange change;
  for (const Part& part : kParts) {
    const std::string &a = before.*part.value, &b = after.*part.value;
    if (a == b) continue;
    if (change.reason.empty()) change.of_class = part.of_class;
    change.reason += fmt::format("{}{} {} -> {}", change.reason.empty() ? "" : "; ", part.name,
                                 or_unknown(a), or_unknown(b));
  }
  return change;
}

std::string commits_between(const Night& before, const Night& after) {
  if (before.commit.empty() || after.commit.empty() || before.commit == after.commit) return "";
  return fmt::format("commit {}..{}", before.commit, after.commit);
}

}  // namespace fusegate::baselines
