#include "ci/bisect/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using Decision = Step::Decision;

constexpr std::array kDecisions{Decision::kMeasured, Decision::kIdenticalCode, Decision::kSkipped};

std::string file_name(std::size_t step) { return fmt::format("{:02}.json", step); }

}  // namespace

const char* decision_name(Decision decision) {
  switch (decision) {
    case Decision::kMeasured:
      return "measured";
    case Decision::kIdenticalCode:
      return "identical code";
    case Decision::kSkipped:
      return "skipped";
  }
  return "";
}

Steps::Steps(fs::path folder, const std::vector<Commit>& line, bool fresh)
    : folder_(std::move(folder)), line_(line), lock_(baselines::WriteLock::of_folder(folder_, "")) {
  for (std::size_t step = 0; fresh && fs::exists(folder_ / file_name(step)); ++step) {
    fs::remove(folder_ / file_name(step));
    fs::remove_all(runs_of(step));
  }
  while (fs::exists(folder_ / file_name(steps_.size()))) {
    steps_.push_back(read(folder_ / file_name(steps_.size())));
  }
}

fs::path Steps::runs_of(std::size_t step) const { return folder_ / fmt::format("{:02}", step); }

fs::path Steps::next_runs() {
  const fs::path next = runs_of(steps_.size());
  fs::remove_all(next);
  return next;
}

void Steps::add(Step step) {
  const auto hash = [&](std::size_t i) { return line_[i].hash; };
  nlohmann::json json{{"commit", hash(step.commit)}, {"decision", decision_name(step.decision)}};
  if (step.decision == Decision::kMeasured) {
    for (const std::size_t i : step.programs) json["programs"].push_back(hash(i));
    json["log_effect"] = step.level.log_effect;
    json["standard_error"] = step.level.standard_error;
  }
  if (step.decision == Decision::kIdenticalCode) json["same_as"] = hash(step.same_as);
  if (step.decision == Decision::kSkipped) json["reason"] = step.reason;
  baselines::write_atomically(folder_ / file_name(steps_.size()), json.dump(2) + "\n");
  steps_.push_back(std::move(step));
}

std::size_t Steps::index_of(const std::string& hash, const fs::path& file) const {
  const auto found = std::ranges::find(line_, hash, &Commit::hash);
  if (found != line_.end()) return static_cast<std::size_t>(found - line_.begin());
  throw baselines::InputError(file.string(), "commit",
                              hash +
                                  " does not lie between the good and the bad commit; start "
                                  "anew with --fresh");
}

Step Steps::read(const fs::path& file) const try {
  const nlohmann::json root = baselines::parse_json(baselines::read_file(file), file.string());
  const baselines::JsonField field(root, file.string(), "");
  const auto index = [&](const baselines::JsonField& hash) { return index_of(hash.text(), file); };
  const std::string name = field.at("decision").text();
  const auto decision = std::ranges::find(kDecisions, name, decision_name);
  if (decision == kDecisions.end()) field.fail_member("decision", "is not known: " + name);
  Step step{.commit = index(field.at("commit")), .decision = *decision};
  if (step.decision == Decision::kMeasured) {
    for (const auto& program : field.at("programs").elements()) {
      step.programs.push_back(index(program));
    }
    step.level = {field.at("log_effect").number(), field.at("standard_error").number()};
  }
  if (step.decision == Decision::kIdenticalCode) step.same_as = index(field.at("same_as"));
  if (step.decision == Decision::kSkipped) step.reason = field.at("reason").text();
  return step;
} catch (const baselines::InputError& error) {
  throw baselines::InputError(error.what(), "", "start anew with --fresh");
}

std::vector<LineCommit> Steps::known() const {
  using State = LineCommit::State;
  std::vector<LineCommit> known(line_.size());
  known.front() = {.state = State::kKnown, .same_as = 0};
  for (const Step& step : steps_) {
    LineCommit& commit = known[step.commit];
    if (commit.state != State::kUnknown) continue;  // measured once more
    if (step.decision == Decision::kSkipped) {
      commit.state = State::kSkipped;
    } else if (step.decision == Decision::kMeasured) {
      commit = {State::kKnown, step.commit, step.level};
    } else {
      commit = known[step.same_as];
    }
  }
  return known;
}

std::size_t Steps::measured() const {
  const auto is_measured = [](const Step& step) { return step.decision == Decision::kMeasured; };
  const auto all = static_cast<std::size_t>(std::ranges::count_if(steps_, is_measured));
  return all == 0 ? 0 : all - 1;
}

}  // namespace fusegate::ci
