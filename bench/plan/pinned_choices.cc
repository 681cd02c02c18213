#include "bench/plan/pinned_choices.h"

#include <map>
#include <string>
#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "baselines/record/run_context.h"

namespace fusegate::bench {
namespace {

struct Choices {
  baselines::Environment environment;
  std::map<std::string, kernels::StageChoices> of_benchmark;
};

Choices choices_of_identities(const std::string& text, const std::string& source) {
  baselines::Identities identities = baselines::parse_identities(text, source);
  const baselines::JsonField context(identities.context, source, "fusegate");
  return {.environment = baselines::read_environment(context.at("environment")),
          .of_benchmark = std::move(identities.choices)};
}

Choices choices_in(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    const std::string text = baselines::read_file(path);
    if (baselines::is_identities_text(text)) return choices_of_identities(text, path.string());
  }
  Choices choices;
  baselines::Run run = baselines::load_run({path});
  choices.environment = std::move(run.environment);
  for (baselines::BenchmarkSeries& series : run.benchmarks) {
    choices.of_benchmark[series.name] = std::move(series.choices);
  }
  return choices;
}

// Whether any benchmark has choices.
bool pin(Plan& plan, Choices& choices, bool strictly) {
  bool any = false;
  for (PlannedBenchmark& benchmark : plan.benchmarks) {
    benchmark.pinned_choices = {choices.of_benchmark[benchmark.name()], strictly};
    any = any || !benchmark.pinned_choices.choices.empty();
  }
  return any;
}

}  // namespace

std::optional<std::filesystem::path> pin_choices(Plan& plan,
                                                 const std::vector<std::filesystem::path>& runs,
                                                 const baselines::Environment& environment,
                                                 bool strictly) {
  for (const std::filesystem::path& path : runs) {
    Choices choices = choices_in(path);
    if (baselines::device_slug(choices.environment) != baselines::device_slug(environment)) {
      continue;
    }
    return pin(plan, choices, strictly) ? std::optional(path) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fusegate::bench
