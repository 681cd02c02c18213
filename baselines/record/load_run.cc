#include "baselines/record/load_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "baselines/formats/broken_text.h"
#include "baselines/formats/read_foreign.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/parallel.h"
#include "baselines/launches/identities.h"
#include "baselines/record/baseline.h"
#include "baselines/record/run_file.h"
#include "baselines/record/run_merger.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

// "9.json" before "10.json".
bool numeric_order(const fs::path& a, const fs::path& b) {
  const std::string left = a.filename().string();
  const std::string right = b.filename().string();
  return std::pair(left.size(), left) < std::pair(right.size(), right);
}

std::vector<fs::path> files_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& file = entry.path();
    const std::string name = file.filename();
    const bool is_other = name.starts_with('.') || name == "run.json" || name == kIdentitiesFile;
    if (file.extension() != ".json" || is_other) continue;
    require_regular(file);
    files.push_back(file);
  }
  if (error) throw InputError(folder.string(), "", "cannot read the folder: " + error.message());
  std::ranges::sort(files, numeric_order);
  return files;
}

struct RunSources {
  std::vector<fs::path> files;
  std::vector<ProcessPosition> positions;  // of each file
  std::vector<fs::path> identities;        // files of another kind
  std::string suite;                       // by the last folder that records one
  std::string session;
  std::vector<std::string> cut_short;                        // folders
  std::map<std::string, std::string> left_out;               // RunBlocks::left_out, of all folders
  std::optional<std::pair<std::string, nlohmann::json>> aa;  // RunBlocks::aa, of the last folder
};

// The folders directly in it that hold run files, in the order of numbers in their names.
std::vector<fs::path> run_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.filename().string().starts_with('.') || !fs::is_directory(path, error)) continue;
    if (!files_of_folder(path).empty()) folders.push_back(path);
  }
  std::ranges::sort(folders, numeric_order);
  return folders;
}

// Of a folder without run files: its only folder is the run, as in pytest-benchmark's storage, or
// each folder is a process, as after a download of artifacts.
std::vector<fs::path> files_of_folders(const fs::path& folder) {
  const std::vector<fs::path> folders = run_folders(folder);
  if (folders.size() == 1) return files_of_folder(folders.front());
  std::vector<fs::path> files;
  std::vector<std::string> names;
  for (const fs::path& one : folders) {
    names.push_back(one.filename());
    for (const fs::path& file : files_of_folder(one)) files.push_back(file);
  }
  if (files.size() > folders.size()) {
    throw InputError(folder.string(), "",
                     fmt::format("holds a run in each of the folders {}; name one of them",
                                 fmt::join(names, ", ")));
  }
  return files;
}

void add_path(const fs::path& path, RunSources& sources) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    sources.files.push_back(path);
    sources.positions.emplace_back();
    return;
  }
  const RunBlocks blocks = read_run_blocks(path);
  sources.session = blocks.session;
  if (!blocks.suite.empty()) sources.suite = blocks.suite;
  sources.aa = blocks.aa;
  sources.left_out.insert(blocks.left_out.begin(), blocks.left_out.end());
  if (!blocks.finished) sources.cut_short.push_back(path.string());
  std::vector<fs::path> files = files_of_folder(path);
  if (files.empty()) files = files_of_folders(path);
  const fs::path identities = path / kIdentitiesFile;
  if (fs::exists(identities, error)) {
    sources.identities.push_back(identities);
  } else if (files.empty()) {
    throw InputError(path.string(), "",
                     "no finished process: neither the folder nor its subfolders have run files; "
                     "name a folder that `fusegate run` wrote");
  }
  for (const fs::path& file : files) {
    const auto position = blocks.by_file.find(file.filename().string());
    sources.files.push_back(file);
    sources.positions.push_back(position == blocks.by_file.end()
                                    ? ProcessPosition{.shard = blocks.shard}
                                    : position->second);
  }
}

RunSources sources_of(const std::vector<fs::path>& paths) {
  RunSources sources;
  std::set<std::string> sessions;
  for (const fs::path& path : paths) {
    sources.session.clear();
    add_path(path, sources);
    sessions.insert(sources.session);
  }
  // Blocks are counted within a session.
  if (sessions.size() != 1) sources.session.clear();
  if (paths.size() != 1) sources.aa.reset();
  std::set<fs::path> seen;
  for (const fs::path& file : sources.files) {
    // One process named twice would look like two that agree perfectly.
    std::error_code error;
    if (!seen.insert(fs::weakly_canonical(file, error)).second) {
      throw InputError(file.string(), "", "named twice in one run; name each file once");
    }
  }
  return sources;
}

std::string source_of(const std::vector<fs::path>& paths) {
  std::string source;
  for (const fs::path& path : paths) {
    source += (source.empty() ? "" : ", ") + path.string();
  }
  return source;
}

// A stored baseline, and its file's text.
struct BaselineFile {
  Baseline baseline;
  std::string text;
};

// Of a process that was killed while it wrote.
struct CutShort {};

// Known by what it holds.
using FileOfRun = std::variant<RunFile, BaselineFile, Identities, CutShort>;

FileOfRun read_any(const fs::path& path) {
  std::string text = read_file(path);
  if (is_baseline_text(text)) {
    Baseline baseline = parse_baseline(text, path.string());
    return BaselineFile{std::move(baseline), std::move(text)};
  }
  if (is_identities_text(text)) return parse_identities(text, path.string());
  try {
    return read_run_text(std::move(text), path);
  } catch (const InputError&) {
    if (!fs::is_regular_file(path)) throw;
    text = read_file(path);
    quote_nonfinite(text);
    if (!ends_early(text)) throw;
  }
  return CutShort{};
}

std::vector<FileOfRun> read_files(const std::vector<fs::path>& files) {
  std::vector<FileOfRun> contents(files.size());
  in_parallel(files.size(), [&](std::size_t i) { contents[i] = read_any(files[i]); });
  return contents;
}

void require_finished(const Run& run) {
  if (!run.benchmarks.empty()) return;
  const auto& [files, count, cut] = run.unfinished;
  if ((files.empty() || count) && cut.empty()) {
    throw InputError(run.source, "benchmarks", "no finished process: no benchmark was measured");
  }
  throw InputError(
      run.source, "",
      fmt::format("no finished process: {}{}", unfinished_texts(run).front(),
                  files.empty() ? ""
                                : " (add --unfinished to show, gate, report or explain "
                                  "to count it)"));
}

// Processes of two commits are not replicas.
void require_one_commit(const std::vector<FileOfRun>& contents, const RunSources& sources,
                        const std::string& source) {
  std::map<std::string, std::vector<std::string>> files;  // by commit
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto* file = std::get_if<RunFile>(&contents[i]);
    if (file == nullptr || file->provenance.commit.empty()) continue;
    files[file->provenance.commit].push_back(sources.files[i].filename().string());
  }
  if (files.size() < 2) return;
  std::vector<std::string> runs;
  for (const auto& [commit, names] : files) {
    runs.push_back(fmt::format("{} ({})", commit.substr(0, 12), fmt::join(names, ", ")));
  }
  throw InputError(source, "",
                   fmt::format("has files of {} commits: {}; name the files of one commit",
                               runs.size(), fmt::join(runs, "; ")));
}

// Copies would look like processes that agree perfectly.
void refuse_copies(const std::vector<FileOfRun>& contents, const RunSources& sources) {
  std::map<std::string, std::size_t> first_of_process;
  std::map<std::size_t, std::size_t> first_of_fingerprint;
  const auto refuse = [&](std::size_t copy, std::size_t of, std::string_view what) {
    throw InputError(
        sources.files[copy].string(), "",
        fmt::format("is a copy of {}: {}; remove one of them", sources.files[of].string(), what));
  };
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto* file = std::get_if<RunFile>(&contents[i]);
    if (file == nullptr || file->benchmarks.empty()) continue;
    if (!file->process_id.empty()) {
      const auto [found, is_new] = first_of_process.emplace(file->process_id, i);
      if (!is_new) refuse(i, found->second, "the same process wrote both");
    }
    const auto [found, is_new] = first_of_fingerprint.emplace(file->fingerprint, i);
    if (!is_new) refuse(i, found->second, "context and times are the same");
  }
}

Run merged(std::vector<FileOfRun> contents, const RunSources& sources, Unfinished unfinished) {
  RunMerger merger;
  UnfinishedProcesses not_finished{.count = unfinished == Unfinished::kCounts};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string file = sources.files[i].string();
    if (std::holds_alternative<CutShort>(contents[i])) not_finished.cut.push_back(file);
    auto* process = std::get_if<RunFile>(&contents[i]);
    if (process == nullptr) continue;
    if (!process->finished) {
      not_finished.files.push_back(file);
      if (unfinished == Unfinished::kLeftOut) continue;
    }
    merger.add(std::move(*process), file, sources.positions[i]);
  }
  for (std::size_t i = 0; i < contents.size(); ++i) {
    auto* identities = std::get_if<Identities>(&contents[i]);
    if (identities != nullptr) {
      merger.add_identities(std::move(*identities), sources.files[i].string());
    }
  }
  for (const fs::path& identities : sources.identities) {
    merger.add_identities(read_identities(identities), identities.string());
  }
  Run run = merger.take();
  run.session = sources.session;
  if (run.provenance.suite.empty()) run.provenance.suite = sources.suite;
  run.unfinished = std::move(not_finished);
  run.cut_short = sources.cut_short;
  run.aa_record = sources.aa;
  for (const auto& [name, why] : sources.left_out) run.left_out[name] = why;
  return run;
}

// A stored baseline where a single file is one, or else a run.
std::variant<BaselineFile, Run> load_any(const std::vector<fs::path>& paths,
                                         Unfinished unfinished) {
  const RunSources sources = sources_of(paths);
  const std::vector<fs::path>& files = sources.files;
  if (paths.empty()) throw InputError("run", "", "no run given; name a run folder or run files");
  std::vector<FileOfRun> contents = read_files(files);
  require_one_commit(contents, sources, source_of(paths));
  refuse_copies(contents, sources);
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto* baseline = std::get_if<BaselineFile>(&contents[i]);
    if (baseline == nullptr) continue;
    if (files.size() == 1) return std::move(*baseline);
    throw InputError(files[i].string(), "", "a stored baseline is a whole run; name it alone");
  }
  Run run = merged(std::move(contents), sources, unfinished);
  run.source = source_of(paths);
  require_finished(run);
  return run;
}

}  // namespace

Run load_run(const std::vector<fs::path>& paths, Unfinished unfinished) {
  auto loaded = load_any(paths, unfinished);
  if (Run* run = std::get_if<Run>(&loaded)) return std::move(*run);
  Baseline& baseline = std::get<BaselineFile>(loaded).baseline;
  require_unpublished(baseline);
  baseline.run.is_stored_baseline = true;
  return std::move(baseline.run);
}

LoadedBaseline load_run_or_baseline(const std::vector<fs::path>& paths, Unfinished unfinished) {
  auto loaded = load_any(paths, unfinished);
  if (Run* run = std::get_if<Run>(&loaded)) return {std::move(*run)};
  auto& [baseline, text] = std::get<BaselineFile>(loaded);
  return judging_baseline(std::move(baseline), text, paths.front());
}

}  // namespace fusegate::baselines
