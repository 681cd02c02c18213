#include "ci/codes/codes_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "baselines/launches/kernel_name.h"
#include "ci/codes/codes_file.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using baselines::KernelCode;

// "1204", "1204 -> 1210"; "-" where neither is known.
template <typename Number>
std::string numbers_text(const KernelChange& change, Number KernelCode::*member) {
  const auto before = change.before ? change.before->code.*member : Number{};
  const auto after = change.after ? change.after->code.*member : Number{};
  if (change.before && change.after) {
    return before == after ? fmt::format("{}", before) : fmt::format("{} -> {}", before, after);
  }
  return fmt::format("{}", change.before ? before : after);
}

nlohmann::json change_json(const KernelChange& change) {
  const auto code = [](const std::optional<ProgramKernel>& one) {
    return one ? code_json(*one) : nlohmann::json();
  };
  return {{"change", code_change_name(change.change)},
          {"name", change.name},
          {"architecture", change.architecture},
          {"former_name", change.former_name},
          {"before", code(change.before)},
          {"after", code(change.after)},
          {"benchmarks", change.benchmarks}};
}

std::string benchmarks_text(const CodesDiff& diff) {
  const bool is_all = diff.gpu_work() == GpuWork::kIdentify;
  if (is_all && diff.touched.empty()) return "";  // of new kernels, say
  std::string text = fmt::format(", launched by {} of {}", diff.touched.size(),
                                 format_count(diff.benchmarks, "benchmark"));
  if (is_all) return text;
  if (!diff.choosing.empty()) {
    text += fmt::format("; {} autotune and may choose it", diff.choosing.size());
  }
  if (!diff.unknown.empty()) text += fmt::format("; not known of {}", diff.unknown.size());
  return text;
}

// "of 3 kernels, 1 changed, 1 added"; "" where none did.
std::string counts_text(const CodesDiff& diff) {
  std::map<CodeChange, std::size_t> counts;
  for (const KernelChange& change : diff.changes) ++counts[change.change];
  std::string text;
  for (const auto& [change, count] : counts) {
    text += text.empty() ? fmt::format("of {}, {} {}", format_count(diff.kernels, "kernel"), count,
                                       code_change_name(change))
                         : fmt::format(", {} {}", count, code_change_name(change));
  }
  return text;
}

std::string kinds_cell(const KernelChange& change) {
  if (change.change != CodeChange::kChanged) return "";
  const InstructionKinds& before = change.before->kinds;
  const InstructionKinds& after = change.after->kinds;
  if (before.empty() || after.empty()) return "-";
  const std::string text = kinds_text(before, after);
  return text.empty() ? "the same ones: their order, registers or constants" : text;
}

Table changes_table(const CodesDiff& diff) {
  std::vector<Column> columns{{"change"},
                              {"kernel", Align::kLeft, true},
                              {"for"},
                              {"instructions", Align::kRight},
                              {"registers", Align::kRight},
                              {"shared bytes", Align::kRight},
                              {"local bytes", Align::kRight}};
  if (diff.has_baseline) columns.push_back({"benchmarks", Align::kRight});
  columns.push_back({"by kind"});
  Table table(std::move(columns));
  for (const KernelChange& change : diff.changes) {
    std::vector<Cell> cells{std::string(code_change_name(change.change)),
                            short_kernel_name(baselines::read_kernel_name(change.name)),
                            change.architecture,
                            numbers_text(change, &KernelCode::instructions),
                            numbers_text(change, &KernelCode::registers),
                            numbers_text(change, &KernelCode::shared_bytes),
                            numbers_text(change, &KernelCode::local_bytes)};
    if (diff.has_baseline) cells.push_back(fmt::format("{}", change.benchmarks.size()));
    cells.push_back(kinds_cell(change));
    table.add_row(std::move(cells));
  }
  return table;
}

// Where the host's code changed, any can: the first are those of the kernels.
Table benchmarks_table(const CodesDiff& diff) {
  Table table({{"benchmark", Align::kLeft, true}, {"why"}});
  const auto add = [&](const std::vector<std::string>& names, const char* why) {
    for (const std::string& name : names) table.add_row({name, why});
  };
  add(diff.touched, "launches what changed");
  if (diff.gpu_work() == GpuWork::kSome) {
    add(diff.choosing, "autotunes, and may choose what changed");
    add(diff.unknown, "the baseline does not say what it launches");
  }
  return table;
}

}  // namespace

std::string codes_headline(const CodesDiff& diff) {
  const std::string counts = counts_text(diff);
  const std::string all = counts.empty() ? "" : counts + "; ";
  if (diff.is_incomplete) {
    return all + "could not compare: the two are not built for the same architectures";
  }
  if (diff.gpu_work() == GpuWork::kNone) return all + "no kernel changed: no GPU needed";
  const std::string host = "the host's code changed: any benchmark can launch something else";
  if (!diff.changes_code()) return all + "no kernel changed, but " + host;
  return counts + (diff.has_baseline ? benchmarks_text(diff) : "") +
         (diff.host_changes.empty() ? "" : "; " + host);
}

Document codes_document(const CodesDiff& diff) {
  constexpr std::size_t kTerminalRows = 20;
  Document document{
      .title = "Machine code",
      .outcome = codes_exit_code(diff) == ExitCode::kNoRegression ? "pass" : "changed",
      .headline = codes_headline(diff)};
  std::vector<Cell> notes(diff.notes.begin(), diff.notes.end());
  if (!diff.host_changes.empty()) {
    notes.insert(notes.begin(),
                 fmt::format("the host's code differs in {}", fmt::join(diff.host_changes, ", ")));
  }
  document.sections = {{.table = changes_table(diff), .terminal_rows = kTerminalRows},
                       {.title = "Benchmarks that can change",
                        .table = benchmarks_table(diff),
                        .fold = Fold::kInMarkdown,
                        .terminal_rows = kTerminalRows},
                       {.title = "Notes", .notes = std::move(notes), .fold = Fold::kInMarkdown}};
  return document;
}

nlohmann::json codes_diff_json(const CodesDiff& diff) {
  nlohmann::json changes = nlohmann::json::array();
  for (const KernelChange& change : diff.changes) changes.push_back(change_json(change));
  nlohmann::json json = {{"fusegate_codes_diff", 1},
                         {"exit_code", static_cast<int>(codes_exit_code(diff))},
                         {"gpu", gpu_work_name(diff.gpu_work())},
                         {"headline", codes_headline(diff)},
                         {"kernels", diff.kernels},
                         {"changes", std::move(changes)},
                         {"host", nullptr},
                         {"notes", diff.notes},
                         {"benchmarks", nullptr}};
  if (diff.compares_host) json["host"] = {{"changed", diff.host_changes}};
  if (diff.has_baseline) {
    json["benchmarks"] = {{"all", diff.benchmarks},
                          {"touched", diff.touched},
                          {"choosing", diff.choosing},
                          {"unknown", diff.unknown}};
  }
  return json;
}

ExitCode codes_exit_code(const CodesDiff& diff) {
  if (diff.is_incomplete) return ExitCode::kCouldNotJudge;
  return diff.gpu_work() == GpuWork::kNone ? ExitCode::kNoRegression : ExitCode::kRegression;
}

}  // namespace fusegate::ci
