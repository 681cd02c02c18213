#include "ci/processes/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kPrefix = "@fusegate ";

// Between two plain lines: seldom enough for a log, often enough to see that it lives.
constexpr double kPlainLineIntervalS = 10;

}  // namespace

std::optional<ProgressEvent> parse_progress_event(std::string_view line) try {
  if (!line.starts_with(kPrefix)) return std::nullopt;
  const auto object = nlohmann::json::parse(line.substr(kPrefix.size()));
  if (object.at("event") == "note") {
    const auto text = object.at("text").get<std::string>();
    return text.empty() ? std::nullopt : std::optional(ProgressEvent{.note = text});
  }
  const bool is_start = object.at("event") == "start";
  const bool is_check = object.at("event") == "check";
  if (!is_start && !is_check && object.at("event") != "benchmark") return std::nullopt;
  ProgressEvent event{.total = object.at("total").get<int>(), .is_check = is_check};
  if (!is_start) {
    event.index = object.at("index").get<int>();
    event.benchmark = object.value("benchmark", "");
    event.failure = object.value("failure", "");
  }
  const bool sensible = event.index >= 0 && event.total >= event.index && event.total > 0;
  return sensible ? std::optional(event) : std::nullopt;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

ProgressDisplay::ProgressDisplay(Console& console, int planned_processes, Now now)
    : console_(console), planned_(planned_processes), now_(std::move(now)), last_line_(now_()) {}

ProgressDisplay::~ProgressDisplay() { clear_status(); }

void ProgressDisplay::start_process(const std::string& label) {
  ++process_;
  label_ = label;
  process_started_ = now_();
  is_running_ = true;
  fraction_ = 0;
  status_ = process_text() + time_left_text();
  if (console_.status_line) update_status(status_);
}

void ProgressDisplay::show(const ProgressEvent& event) {
  if (event.is_check) {
    return show_status(fmt::format("{}: checking results, benchmark {}/{}  {}", process_text(),
                                   event.index + 1, event.total, event.benchmark));
  }
  fraction_ = static_cast<double>(event.index) / event.total;
  if (!event.failure.empty()) note(fmt::format("{} failed: {}", event.benchmark, event.failure));
  show_status(fmt::format("{}: {} %{}  {}", process_text(), 100 * event.index / event.total,
                          time_left_text(), event.benchmark));
}

void ProgressDisplay::show_status(const std::string& text) {
  status_ = text;
  if (console_.status_line) {
    update_status(text);
  } else if (now_() - last_line_ >= kPlainLineIntervalS) {
    note(text);
  }
}

void ProgressDisplay::wait() {
  if (console_.status_line || now_() - last_line_ < kPlainLineIntervalS) return;
  note(fmt::format("{}, {} so far", status_, format_duration(process_s())));
}

void ProgressDisplay::finish_process(const std::string& failure) {
  is_running_ = false;
  fraction_ = 0;
  if (failure.empty()) {
    ++measured_;
    measured_s_ += process_s();
  }
  note(fmt::format("{}: {} {}{}", process_text(),
                   failure.empty() ? "finished in" : failure + ", after",
                   format_duration(process_s()), process_ < planned_ ? time_left_text() : ""));
}

std::string ProgressDisplay::process_text() const {
  return fmt::format("process {}/{}{}", process_, planned_,
                     label_.empty() ? "" : " (" + label_ + ")");
}

// Nothing before anything is done. Processes of one run measure the same, so that the others are
// estimated from those that finished. Within the first, benchmarks count as equally long, which is
// rough and good enough for a line on a terminal.
std::string ProgressDisplay::time_left_text() const {
  if (measured_ == 0 && fraction_ == 0) return "";
  const double whole_s = measured_ > 0 ? measured_s_ / measured_ : process_s() / fraction_;
  const double left = std::max(0, planned_ - process_) + (is_running_ ? 1 - fraction_ : 0);
  return fmt::format(", {} left", format_duration(whole_s * left));
}

void ProgressDisplay::update_status(const std::string& text) {
  console_.err.status_line(text, console_.columns);
  status_shown_ = true;
}

void ProgressDisplay::clear_status() {
  if (status_shown_) console_.err.status_line("", console_.columns);
  status_shown_ = false;
}

void ProgressDisplay::note(const std::string& line) {
  clear_status();
  console_.err.print("{}\n", line);
  console_.err.flush();
  last_line_ = now_();
}

}  // namespace fusegate::ci
