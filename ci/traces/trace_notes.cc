#include "ci/traces/trace_notes.h"

#include <fmt/format.h>

#include "ci/console/format.h"
#include "ci/traces/summary_table.h"

namespace fusegate::ci {

std::vector<std::string> loss_notes(const baselines::TraceLosses& lost) {
  std::vector<std::string> notes;
  if (lost.events > 0) {
    notes.push_back(fmt::format("{} left out, {}{}", format_count(lost.events, "event"),
                                lost.events > 1 ? "the first: " : "", lost.first));
  }
  if (lost.bytes > 0) {
    notes.push_back(
        fmt::format("{} no UTF-8 and shown as \\x..",
                    lost.bytes == 1 ? "1 byte is" : fmt::format("{} bytes are", lost.bytes)));
  }
  return notes;
}

std::vector<std::string> trace_notes(const baselines::TraceSummary& summary) {
  std::vector<std::string> notes = loss_notes(summary.lost);
  if (summary.enclosing) {
    constexpr std::size_t kLongestName = 100;
    notes.push_back(
        fmt::format("{} takes {}, in which {} of its stream began and ended: its duration is "
                    "wrong, unless they "
                    "are branches of a CUDA graph",
                    short_name(summary.enclosing->name, kLongestName),
                    format_time_ns(static_cast<double>(summary.enclosing->duration_ns)),
                    summary.enclosing->enclosed == 1
                        ? std::string("one other operation")
                        : fmt::format("{} other operations", summary.enclosing->enclosed)));
  }
  return notes;
}

}  // namespace fusegate::ci
