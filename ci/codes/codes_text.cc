#include "ci/codes/codes_text.h"

#include <fmt/format.h>

#include <algorithm>

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
  const auto before = change.before ? (*change.before).*member : Number{};
  const auto after = change.after ? (*change.after).*member : Number{};
  if (change.before && change.after) {
    return before == after ? fmt::format("{}", before) : fmt::format("{} -> {}", before, after);
  }
  return fmt::format("{}", change.before ? before : after);
}

nlohmann::json change_json(const KernelChange& change) {
  const auto code = [](const std::optional<KernelCode>& one) {
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
  std::string text = fmt::format(", launched by {} of {}", diff.touched.size(),
                                 format_count(diff.benchmarks, "benchmark"));
  if (!diff.unknown.empty()) text += fmt::format("; not known of {}", diff.unknown.size());
  return text;
}

}  // namespace

std::string codes_headline(const CodesDiff& diff) {
  std::map<CodeChange, std::size_t> counts;
  for (const KernelChange& change : diff.changes) ++counts[change.change];
  std::string text;
  for (const auto& [change, count] : counts) {
    text += text.empty() ? fmt::format("of {}, {} {}", format_count(diff.kernels, "kernel"), count,
                                       code_change_name(change))
                         : fmt::format(", {} {}", count, code_change_name(change));
  }
  if (diff.is_incomplete) {
    return (text.empty() ? "" : text + "; ") +
           "could not compare: the two are not built for the same architectures";
  }
  if (!diff.changes_code()) {
    return fmt::format("{}no kernel changed: no GPU needed", text.empty() ? "" : text + "; ");
  }
  return text + (diff.has_baseline ? benchmarks_text(diff) : "");
}

Table codes_table(const CodesDiff& diff) {
  std::vector<Column> columns{{"change"},
                              {"kernel", Align::kLeft, true},
                              {"for"},
                              {"instructions", Align::kRight},
                              {"registers", Align::kRight},
                              {"shared bytes", Align::kRight},
                              {"local bytes", Align::kRight}};
  if (diff.has_baseline) columns.push_back({"benchmarks", Align::kRight});
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
    table.add_row(std::move(cells));
  }
  return table;
}

nlohmann::json codes_diff_json(const CodesDiff& diff) {
  nlohmann::json changes = nlohmann::json::array();
  for (const KernelChange& change : diff.changes) changes.push_back(change_json(change));
  nlohmann::json json = {{"fusegate_codes_diff", 1},
                         {"exit_code", static_cast<int>(codes_exit_code(diff))},
                         {"headline", codes_headline(diff)},
                         {"kernels", diff.kernels},
                         {"changes", std::move(changes)},
                         {"notes", diff.notes},
                         {"benchmarks", nullptr}};
  if (diff.has_baseline) {
    json["benchmarks"] = {
        {"all", diff.benchmarks}, {"touched", diff.touched}, {"unknown", diff.unknown}};
  }
  return json;
}

ExitCode codes_exit_code(const CodesDiff& diff) {
  if (diff.is_incomplete) return ExitCode::kCouldNotJudge;
  return diff.changes_code() ? ExitCode::kRegression : ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
