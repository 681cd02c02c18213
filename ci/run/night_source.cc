#include "ci/run/night_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "baselines/history/night_json.h"
#include "baselines/history/night_of_run.h"
#include "baselines/history/text_hash.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/file_mark.h"
#include "baselines/io/instant.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/processes/child_process.h"
#include "ci/processes/run_record.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::History;
using baselines::Night;
using baselines::Run;

struct RunFolders {
  fs::path run;
  std::optional<fs::path> replay{};
};

RunFolders folders_of(const fs::path& path) {
  fs::path run = path.has_filename() ? path : path.parent_path();  // "runs/today/"
  for (const char* judged : {"head", "second", "first"}) {
    if (!fs::is_directory(path / judged)) continue;
    run = path / judged;
    break;
  }
  const fs::path base = run.parent_path() / "base";
  if (run.filename() == "head" && fs::is_directory(base)) return {run, base};
  return {run};
}

// Of the program's file, where it is the one that was measured: unchanged since.
std::string program_hash(const fs::path& run_folder) {
  if (!fs::exists(run_folder / "run.json")) return "";
  const RunRecord record = read_run_record(run_folder);
  const auto started = baselines::parse_instant(record.started);
  std::error_code error;
  if (!started || !fs::is_regular_file(record.program, error)) return "";
  const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(record.program, error));
  if (error || written > *started) return "";
  return baselines::text_hash(baselines::read_file(record.program));
}

bool is_hash(const std::string& commit) {
  return !commit.empty() &&
         std::ranges::all_of(commit, [](unsigned char c) { return std::isxdigit(c); });
}

// "" where git does not know it, or where there is no git.
std::string parent_of(const std::string& commit, const fs::path& checkout) {
  if (!is_hash(commit)) return "";
  return output_of(
      {"git", "-C", checkout.string(), "rev-parse", "--verify", "--quiet", commit + "^"});
}

struct LoadedRun {
  Run run;
  std::optional<Run> replay{};
  std::string parent{};
  std::string program{};
};

// Only what was measured beside it says what the machine did.
std::optional<Run> load_replay(const RunFolders& folders, const Run& run) {
  if (!folders.replay || run.session.empty()) return std::nullopt;
  Run replay = baselines::load_run({*folders.replay});
  return replay.session == run.session ? std::optional(std::move(replay)) : std::nullopt;
}

NightSource source_of(LoadedRun run, const fs::path& checkout) {
  run.parent = parent_of(run.run.provenance.commit, checkout);
  const auto loaded = std::make_shared<const LoadedRun>(std::move(run));
  const auto make = [loaded](const History* history) {
    using Clocks = std::map<std::string, baselines::CommonClock>;
    Night night = baselines::night_of_run(
        loaded->run, loaded->replay ? &*loaded->replay : nullptr,
        history != nullptr ? history->clocks(baselines::device_of(loaded->run)) : Clocks());
    night.parent = loaded->parent;
    night.program = loaded->program;
    return night;
  };
  return {loaded->run.source, baselines::date_of(loaded->run).time_since_epoch().count(), make,
          loaded->run.provenance.dirty, loaded->run.provenance.settings};
}

NightSource of_folders(const RunFolders& folders, const fs::path& checkout) {
  LoadedRun loaded{.run = baselines::load_run({folders.run})};
  loaded.replay = load_replay(folders, loaded.run);
  loaded.program = program_hash(folders.run);
  return source_of(std::move(loaded), checkout);
}

std::vector<NightSource> of_lines(const std::string& text, const fs::path& path) {
  std::vector<NightSource> sources;
  std::size_t start = 0;
  for (int number = 1; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string source = fmt::format("{}:{}", path.string(), number);
    if (end > start) {
      const Night night = baselines::parse_night(text.substr(start, end - start), source);
      const std::int64_t before = sources.empty() ? night.unix_s : sources.back().measured_s;
      sources.push_back(
          {source, std::max(before, night.unix_s), [night](const History*) { return night; }});
    }
    start = end + 1;
  }
  return sources;
}

constexpr std::string_view kBaseline = "fusegate_baseline", kCalibration = "fusegate_calibration";

std::string mark_of(const std::string& text) {
  constexpr std::array<std::string_view, 3> kMarks{baselines::kNightMark, kBaseline, kCalibration};
  return baselines::first_mark(text, kMarks);
}

}  // namespace

bool is_run_file(const fs::path& path) {
  return fs::is_regular_file(path) && mark_of(baselines::read_file(path)).empty();
}

NightSources read_nights(const fs::path& path, const fs::path& checkout) {
  if (fs::is_directory(path)) return {{of_folders(folders_of(path), checkout)}};
  const std::string text = baselines::read_file(path);
  const std::string mark = mark_of(text);
  if (mark == baselines::kNightMark) return {of_lines(text, path)};
  if (mark == kCalibration) return {.passed_over = "a calibration"};
  if (mark != kBaseline) return {{of_folders({path}, checkout)}};
  baselines::Baseline baseline = baselines::parse_baseline(text, path.string());
  if (baseline.published) return {.passed_over = "figures of a publication"};
  return {{source_of({.run = std::move(baseline.run)}, checkout)}};
}

}  // namespace fusegate::ci
