#include "ci/gate/judging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/judge.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"
#include "baselines/record/load_run.h"
#include "baselines/record/program_variables.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

std::string suite_of(const JudgingRequest& request, const baselines::Run& candidate) {
  return request.suite.empty() ? candidate.provenance.suite : request.suite;
}

// A program from before there was a field of the protocol measures as it did then. One that can be
// asked for the same suite measures the same otherwise.
bool is_of_older_protocol(const baselines::Run& replayed, const baselines::Run& candidate) {
  return std::ranges::all_of(baselines::differences_between(replayed, candidate),
                             [](const auto& difference) {
                               return difference.field.starts_with("protocol.") &&
                                      difference.baseline == baselines::kAbsent;
                             });
}

// The named ones, or those that are stored for the suite, of any device.
std::vector<fs::path> possible_baselines(const JudgingRequest& request, const std::string& suite) {
  if (!request.baseline.empty()) return request.baseline;
  return baselines::baselines_of_suite(request.stores, suite_name(suite));
}

// The suite's own calibration first, then those of the device's other suites.
std::vector<fs::path> calibrations_in(const fs::path& folder, const std::string& suite) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().string().ends_with(".calibration.json")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  const std::string own = suite + ".calibration.json";
  std::ranges::stable_partition(found,
                                [&](const fs::path& path) { return path.filename() == own; });
  return found;
}

// As a calibration beside the baseline says, or one that is stored for its device.
baselines::CardDifferences card_differences(const JudgingRequest& request,
                                            const baselines::Run& baseline) {
  std::vector<fs::path> folders;
  for (const fs::path& path : request.baseline) {
    if (fs::is_regular_file(path)) folders.push_back(path.parent_path());
  }
  for (const fs::path& store : request.stores) {
    folders.push_back(store / baselines::device_slug(baseline.environment));
  }
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    if (!seen.insert(folder).second) continue;
    for (const fs::path& path : calibrations_in(folder, baseline.provenance.suite)) {
      if (const auto known = baselines::read_card_differences(path)) return *known;
    }
  }
  return {};
}

// A run on another card: of the first card's processes, under another name.
baselines::Run on_another_card(baselines::Run run) {
  run.cards = {"another"};
  for (baselines::BenchmarkSeries& series : run.benchmarks) {
    std::erase_if(series.processes, [](const auto& summary) { return summary.card != 0; });
  }
  return run;
}

bool stores_identities(const fs::path& path) {
  try {
    return std::ranges::any_of(baselines::load_run({path}).benchmarks, baselines::code_is_known);
  } catch (const baselines::InputError&) {
    return false;  // what judges by it says what is wrong
  }
}

// As a baseline keeps them, to five digits, of all that was timed.
std::string kept_times(const baselines::Run& run) {
  std::string text;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    for (const baselines::ProcessSummary& summary : series.processes) {
      text += fmt::format("{} {:.4e}\n", series.name, summary.time_ns);
    }
  }
  return text;
}

void name_controls(const JudgingRequest& request, baselines::LoadedBaseline& baseline) {
  baselines::name_controls(request.controls, baseline.run);
  if (baseline.anchor) baselines::name_controls(request.controls, baseline.anchor->run);
}

// Of the protocol that the run records; nothing where it has none.
std::optional<baselines::JsonField> protocol_field(const baselines::Run& run, const char* key) {
  const nlohmann::json& protocol = run.provenance.protocol;
  if (!protocol.is_object()) return std::nullopt;
  return baselines::JsonField(protocol, run.source, "protocol").find(key);
}

double number_or(const baselines::JsonField& field, double otherwise) {
  return field.value().is_number() ? field.value().get<double>() : otherwise;
}

[[noreturn]] void refuse(const baselines::JsonField& field, std::string_view problem) {
  field.fail(fmt::format("{} {}", field.value().dump(), problem));
}

std::optional<double> fraction_of(const baselines::Run& run, const char* key) {
  const auto field = protocol_field(run, key);
  if (!field) return std::nullopt;
  const double fraction = number_or(*field, 0);
  if (!(fraction > 0 && fraction < 1))
    refuse(*field, "is not a fraction; expected a number between 0 and 1");
  return fraction;
}

// What a call must cost the host more by the run's own suite, or else Rule's.
baselines::HostRule host_rule_of(const baselines::Run& run) {
  baselines::HostRule rule;
  rule.min_effect = fraction_of(run, baselines::kHostMinEffect).value_or(rule.min_effect);
  if (const auto min_ns = protocol_field(run, baselines::kHostMinNs)) {
    rule.min_ns = number_or(*min_ns, -1);
    if (!(rule.min_ns >= 0)) refuse(*min_ns, "is not a time in ns; expected 0 or more");
  }
  return rule;
}

// What benchmarks have apart, by the run's own suite. A flag counts for all.
baselines::Settings settings_of(const JudgingRequest& request, const baselines::Run& run) {
  baselines::Settings settings = run.provenance.settings;
  for (auto& [pattern, own] : settings) {
    if (request.min_effect) own.min_effect.reset();
    if (request.allow) own.allow.reset();
  }
  return settings;
}

std::optional<fs::path> accepted_path(const JudgingRequest& request) {
  if (request.accepted) return request.accepted;
  for (const fs::path& store : request.stores) {
    if (fs::exists(store / baselines::kAcceptedFile)) return store / baselines::kAcceptedFile;
  }
  return std::nullopt;
}

bool any_fits(const baselines::Pattern& pattern, const baselines::Run& run) {
  return std::ranges::any_of(run.benchmarks,
                             [&](const auto& series) { return pattern.fits(series.name); });
}

// Other suites' entries lie in the same file: what a stored baseline has is no mistake.
bool any_stored_fits(const baselines::Pattern& pattern, const std::vector<fs::path>& stores) {
  std::error_code error;
  for (const fs::path& store : stores) {
    for (const auto& file : fs::recursive_directory_iterator(
             store, fs::directory_options::skip_permission_denied, error)) {
      if (file.path().extension() != ".json") continue;
      try {
        if (any_fits(pattern, baselines::read_baseline(file.path()).run)) return true;
      } catch (const baselines::InputError&) {
        continue;  // a calibration; and whoever is judged by a broken one gets an error
      }
    }
  }
  return false;
}

void require_part(const std::string& filter, const baselines::Run& baseline,
                  const baselines::Run& candidate) {
  const baselines::Pattern pattern(filter);
  if (filter.empty() || any_fits(pattern, baseline) || any_fits(pattern, candidate)) return;
  throw baselines::InputError("--filter", "",
                              fmt::format("\"{}\" matches no benchmark of either run", filter));
}

void require_fitting(const JudgingRequest& request,
                     const std::vector<baselines::AcceptedSlowdown>& accepted,
                     const std::vector<const baselines::Run*>& runs) {
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    const baselines::Pattern pattern(accepted[i].pattern);
    const auto fits = [&](const baselines::Run* run) { return any_fits(pattern, *run); };
    if (std::ranges::any_of(runs, fits) || any_stored_fits(pattern, request.stores)) continue;
    throw baselines::InputError(
        accepted_path(request)->string(), fmt::format("[{}].pattern", i),
        fmt::format("\"{}\" fits no benchmark of the runs or of a stored baseline; correct or "
                    "remove the entry",
                    accepted[i].pattern));
  }
}

// Where the environments differ, that was said, and nothing was compared.
void refuse_same_run(const baselines::Run& baseline, const baselines::Run& candidate,
                     const baselines::GateResult& result) {
  const std::string times = kept_times(candidate);
  if (result.verdicts.empty() || times.empty() || times != kept_times(baseline)) return;
  throw baselines::InputError(
      candidate.source, "",
      fmt::format("is the run that the baseline {} was made of: the times of all processes are the "
                  "same. Measure the candidate again",
                  baseline.source));
}

}  // namespace

baselines::Run load_candidate(const JudgingRequest& request) {
  baselines::Run run = baselines::load_run(request.candidate, request.unfinished);
  baselines::name_controls(request.controls, run);
  return run;
}

void judge_candidate(const JudgingRequest& request, GateFacts& facts) {
  const baselines::Run& candidate = facts.candidate;
  auto baseline = load_baseline(request, candidate);
  if (!baseline) {
    baselines::require_fitting(request.controls, {&candidate});
    return;
  }
  std::optional<baselines::LoadedBaseline> stored;
  if (request.replay_of) stored = baselines::load_stored_baseline(*request.replay_of);
  baselines::require_fitting(request.controls, {&baseline->run, &candidate});
  name_controls(request, *baseline);
  if (stored) name_controls(request, *stored);
  baselines::GateOptions options =
      gate_options(request, stored ? stored->run : baseline->run,
                   baselines::circumstances_of(baseline->run, candidate).side_by_side);
  if (stored) {
    if (is_of_older_protocol(baseline->run, candidate)) {
      options.allow_environment_differences = true;
    }
    // How old the program is that was measured, and what crept in before it.
    baseline->acceptance = std::move(stored->acceptance);
    baseline->anchor = std::move(stored->anchor);
  }
  // Unlike the suite's own, the candidate's: a change can bring a limit, and need not wait for
  // another baseline. A note says where they differ, so that it is seen.
  options.settings = settings_of(request, candidate);
  options.accepted = accepted_slowdowns(request);
  options.filter = request.filter;
  require_part(request.filter, baseline->run, candidate);
  require_fitting(request, options.accepted, {&baseline->run, &candidate});
  options.former_settings = settings_of(request, baseline->run);
  baselines::GateResult result = baselines::gate(*baseline, candidate, options);
  refuse_same_run(baseline->run, candidate, result);
  if (stored) facts.replay = replay_of(std::move(stored->run), baseline->run, result, options.rule);
  facts.baseline = std::move(baseline);
  facts.options = std::move(options);
  facts.result = std::move(result);
}

void judge(const JudgingRequest& request, GateFacts& facts) {
  facts.candidate = load_candidate(request);
  judge_candidate(request, facts);
  if (facts.baseline) return;
  throw baselines::InputError(facts.candidate.source, "",
                              missing_baseline_text(request, facts.candidate));
}

GateFacts judged(const JudgingRequest& request) {
  GateFacts facts;
  judge(request, facts);
  return facts;
}

std::optional<AaFindings> recorded_aa(const baselines::Run& candidate) {
  if (!candidate.aa_record) return std::nullopt;
  const auto& [source, aa] = *candidate.aa_record;
  return parse_aa(baselines::JsonField(aa, source, "aa"));
}

std::string suite_name(const fs::path& suite) { return suite.stem().string(); }

std::optional<StoredBaseline> find_comparable_baseline(const std::vector<fs::path>& stores,
                                                       const baselines::Environment& environment,
                                                       const std::string& suite) {
  std::optional<StoredBaseline> first;
  for (const fs::path& store : stores) {
    const auto path = baselines::find_baseline({store}, environment, suite);
    if (!path) continue;
    std::string text = baselines::read_file(*path);
    baselines::Baseline baseline = baselines::parse_baseline(text, path->string());
    const bool is_same =
        baselines::environment_differences(baseline.run.environment, environment).empty();
    if (!is_same && first) continue;
    StoredBaseline found{*path, std::move(baseline), std::move(text)};
    if (is_same) return found;
    first = std::move(found);
  }
  return first;
}

std::optional<baselines::LoadedBaseline> load_baseline(const JudgingRequest& request,
                                                       const baselines::Run& candidate) {
  if (!request.baseline.empty()) {
    return baselines::load_run_or_baseline(request.baseline, request.unfinished);
  }
  const std::string suite = suite_of(request, candidate);
  if (suite.empty()) return std::nullopt;
  auto found = find_comparable_baseline(request.stores, candidate.environment, suite);
  if (!found) return std::nullopt;
  return baselines::judging_baseline(std::move(found->baseline), found->text, found->path);
}

std::map<std::string, std::string> keep_choices_environment(const JudgingRequest& request,
                                                            const std::string& suite, bool fresh) {
  if (fresh) return {{baselines::kPinChoicesVariable, ""}};
  std::vector<std::string> paths;
  for (const fs::path& path : possible_baselines(request, suite)) paths.push_back(path.string());
  if (paths.empty()) return {};
  return {{baselines::kPinChoicesVariable, fmt::format("{}", fmt::join(paths, ":"))}};
}

bool any_baseline_has_identities(const JudgingRequest& request, const std::string& suite) {
  return std::ranges::any_of(possible_baselines(request, suite), stores_identities);
}

std::vector<baselines::AcceptedSlowdown> accepted_slowdowns(const JudgingRequest& request) {
  const auto path = accepted_path(request);
  return path ? baselines::read_accepted(*path) : std::vector<baselines::AcceptedSlowdown>();
}

std::optional<baselines::Run> any_stored_run(const JudgingRequest& request,
                                             const std::string& suite) {
  for (const fs::path& path : possible_baselines(request, suite)) {
    try {
      return baselines::load_run({path});
    } catch (const baselines::InputError&) {
      continue;  // what judges by it says what is wrong
    }
  }
  return std::nullopt;
}

std::string missing_baseline_text(const JudgingRequest& request, const baselines::Run& candidate) {
  const std::string suite = suite_of(request, candidate);
  if (suite.empty()) {
    return "has no suite by which to find its baseline; name one with --suite, or a run with "
           "--baseline";
  }
  return fmt::format(
      "no baseline of suite {} is stored for {}; record one with: fusegate accept RUN --reason "
      "TEXT",
      suite, baselines::device_slug(candidate.environment));
}

double min_effect_of(const baselines::Run& run) {
  return fraction_of(run, baselines::kMinEffect).value_or(baselines::Rule{}.min_effect);
}

double allow_of(const baselines::Run& run) {
  const auto min_effect = fraction_of(run, baselines::kMinEffect);
  const auto allow = fraction_of(run, baselines::kAllow);
  if (allow && *allow < min_effect_of(run)) {
    refuse(*protocol_field(run, baselines::kAllow),
           fmt::format("is below the smallest effect, {}", min_effect_of(run)));
  }
  if (allow) return *allow;
  const bool is_on_cpu = run.environment.contains(baselines::kCpuCycles);
  return is_on_cpu && min_effect ? 2 * *min_effect : baselines::GateOptions{}.allow;
}

baselines::GateOptions gate_options(const JudgingRequest& request, const baselines::Run& baseline,
                                    bool side_by_side) {
  baselines::GateOptions options;
  static_cast<baselines::GateSwitches&>(options) = request;
  options.rule.cards = card_differences(request, baseline);
  // The baseline's suite and not the candidate's: a change must not loosen the rule it is judged
  // by.
  options.rule.min_effect = request.min_effect ? *request.min_effect : min_effect_of(baseline);
  const bool is_said = request.min_effect || fraction_of(baseline, baselines::kMinEffect);
  if (side_by_side && !is_said) options.rule.tested_effect = baselines::kTestedSideBySide;
  options.rule.host = host_rule_of(baseline);
  options.allow = request.allow ? *request.allow : allow_of(baseline);
  if (request.false_discovery_rate) {
    options.rule.false_discovery_rate = *request.false_discovery_rate;
  }
  return options;
}

std::string detectable_text(const JudgingRequest& request, const baselines::Run& run,
                            bool other_card) {
  constexpr double kMostThatIsAFinding = 0.5;  // two cards show next to nothing of a third
  baselines::Run baseline = baselines::without_identities(run);
  baseline.session.clear();
  const baselines::Run candidate = other_card ? on_another_card(baseline) : baseline;
  const baselines::Rule rule = gate_options(request, baseline).rule;
  std::vector<double> effects;
  for (const baselines::Verdict& verdict : baselines::judge(baseline, candidate, rule)) {
    if (std::isfinite(verdict.estimates.smallest_detectable))
      effects.push_back(verdict.estimates.smallest_detectable);
  }
  if (effects.empty()) return "";
  std::ranges::sort(effects);
  if (effects[(effects.size() - 1) / 2] > kMostThatIsAFinding) return "";
  const auto at = [&](std::size_t tenths) { return effects[(effects.size() * tenths - 1) / 10]; };
  const std::string half = fmt::format("{} in half of the benchmarks", format_fraction(at(5)));
  if (at(9) > kMostThatIsAFinding) return half;
  return half + fmt::format(" and {} in nine tenths", format_fraction(at(9)));
}

}  // namespace fusegate::ci
