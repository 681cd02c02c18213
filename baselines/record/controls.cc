#include "baselines/record/controls.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/error.h"
#include "baselines/io/pattern.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {
namespace {

// As run files named them before they had lists of controls.
constexpr std::array<std::string_view, 2> kFormerControls{"control_copy", "control_gemm"};

// Other tools' files have no protocol, or the tool's name in it.
bool is_of_fusegate(const Provenance& provenance) {
  const nlohmann::json& protocol = provenance.protocol;
  return protocol.is_object() && !protocol.empty() && !protocol.contains(kTool);
}

Pattern pattern_of(const std::string& text) try {
  return Pattern(text);
} catch (const std::invalid_argument& error) {
  throw InputError("--control", "", error.what());
}

}  // namespace

DeclaredControls read_controls(const JsonField& object) {
  const auto list = object.find("controls");
  if (!list) return std::nullopt;
  DeclaredControls::value_type names;
  for (const JsonField& name : list->elements()) names.insert(name.text());
  return names;
}

bool is_control(const DeclaredControls& declared, const Provenance& provenance,
                std::string_view benchmark) {
  if (declared) return declared->contains(benchmark);
  const std::string_view operation = benchmark.substr(0, benchmark.find('/'));
  return is_of_fusegate(provenance) &&
         std::ranges::find(kFormerControls, operation) != kFormerControls.end();
}

std::vector<std::string> controls_of(const Run& run) {
  std::vector<std::string> names;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (series.is_control && !series.is_unmeasured()) names.push_back(series.name);
  }
  return names;
}

void name_controls(const std::vector<std::string>& patterns, Run& run) {
  for (const std::string& text : patterns) {
    const Pattern pattern = pattern_of(text);
    for (BenchmarkSeries& series : run.benchmarks) {
      series.is_control = series.is_control || pattern.fits(series.name);
    }
  }
}

void require_fitting(const std::vector<std::string>& patterns,
                     const std::vector<const Run*>& runs) {
  for (const std::string& text : patterns) {
    const Pattern pattern = pattern_of(text);
    const auto fits = [&](const BenchmarkSeries& series) { return pattern.fits(series.name); };
    const bool fits_any = std::ranges::any_of(
        runs, [&](const Run* run) { return std::ranges::any_of(run->benchmarks, fits); });
    if (!fits_any) throw InputError("--control", "", "\"" + text + "\" fits no benchmark's name");
  }
}

}  // namespace fusegate::baselines
