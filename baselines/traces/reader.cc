#include "baselines/traces/reader.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_walk.h"
#include "baselines/io/printable.h"
#include "baselines/traces/event_text.h"

namespace fusegate::baselines {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

constexpr std::size_t kMostCounterValues = 5'000'000;
constexpr std::size_t kLongestCounterName = 200;

class TraceBuilder {
 public:
  explicit TraceBuilder(std::string_view source) : source_(source) {}

  void read(simdjson::ondemand::document& document) {
    const json_type type = document.type();
    if (type == json_type::array) return read_events(document.get_array());
    if (type != json_type::object) {
      throw InputError(source_, "", "must be a JSON object or an array of events");
    }
    bool saw_events = false;
    for (auto member : document.get_object()) {
      if (key_of(member) != "traceEvents") continue;
      if (saw_events) throw InputError(source_, "traceEvents", "occurs twice");
      saw_events = true;
      value events = member.value();
      if (events.type() != json_type::array) {
        throw InputError(source_, "traceEvents", "must be an array");
      }
      read_events(events.get_array());
    }
    if (!saw_events) throw InputError(source_, "traceEvents", "is missing");
  }

  Trace take() {
    if (trace_.events.empty() && trace_.lost.events > 0) {
      throw InputError(source_, first_lost_, first_problem_);
    }
    for (TraceTrack& track : trace_.tracks) {
      track.process_name = process_names_[track.process];
      track.thread_name = thread_names_[{track.process, track.thread}];
    }
    return std::move(trace_);
  }

 private:
  std::string path() const { return fmt::format("traceEvents[{}]", index_); }

  static std::int64_t required(EventText& text, std::string_view key,
                               const std::optional<std::int64_t>& number) {
    if (!number) text.reject(key, "is missing or not a number");
    return number.value_or(0);
  }

  void read_events(simdjson::ondemand::array events) {
    for (value event : events) {
      EventText text = read_event_text(event);
      const bool is_unusable = !text.problem.empty() && text.phase.empty();
      if (!is_unusable) add(text);
      if (!text.problem.empty()) leave_out(text);
      ++index_;
    }
  }

  void leave_out(const EventText& text) {
    TraceLosses& lost = trace_.lost;
    const auto category = parse_category(text.category);
    lost.gpu_work += !category || is_gpu_work(*category);
    if (lost.events++ > 0) return;
    first_lost_ = text.wrong_key.empty() ? path() : fmt::format("{}.{}", path(), text.wrong_key);
    first_problem_ = text.problem;
    lost.first = fmt::format("{}: {}", first_lost_, text.problem);
    constexpr std::size_t kLongestName = 100;
    if (!text.name.empty()) {
      lost.first += fmt::format(" ({})", printable_excerpt(text.name, kLongestName));
    }
  }

  void add(EventText& text) {
    if (text.phase == "X") {
      add_complete(text);
    } else if (text.phase == "M") {
      add_name(text);
    } else if (text.phase == "C") {
      add_counters(text);
    } else if (text.phase == "B" || text.phase == "E") {
      throw InputError(
          source_, fmt::format("{}.ph", path()),
          fmt::format("\"{}\" is not supported; expected complete events (\"X\")", text.phase));
    } else if (text.phase.empty()) {
      text.reject("ph", "is missing");
    } else {
      text.problem.clear();  // not used
    }
  }

  // PyTorch before 1.12 had no category of its own for ranges.
  static TraceCategory category_of(const EventText& text, TraceCategory category) {
    const bool is_step = category == TraceCategory::kOperator && text.category == "Operator" &&
                         text.name.starts_with(kStepPrefix);
    return is_step ? TraceCategory::kRange : category;
  }

  static void check_times(const TraceEvent& event, EventText& text) {
    if (event.duration_ns < 0) text.reject("dur", "must not be negative");
    std::int64_t end_ns = 0;
    if (__builtin_add_overflow(event.start_ns, event.duration_ns, &end_ns)) {
      text.reject("dur", "must end within 292 years");
    }
  }

  void add_complete(EventText& text) {
    const auto category = parse_category(text.category);
    if (!category) {
      if (text.wrong_key != "cat") text.problem.clear();  // not used
      return;
    }
    TraceEvent event{.name = std::string(text.name), .category = category_of(text, *category)};
    if (text.name.empty()) text.reject("name", "is missing or empty");
    event.start_ns = required(text, "ts", text.start_ns);
    event.duration_ns = required(text, "dur", text.duration_ns);
    check_times(event, text);
    if (is_gpu_work(*category) && !text.wrong_argument.empty()) {
      text.reject(fmt::format("args.{}", text.wrong_argument), text.wrong_because);
    }
    const auto track = track_of(text, *category);
    if (!text.problem.empty()) return;
    event.track = *track;
    event.correlation = text.correlation.value_or(0);
    event.external_id = text.external_id.value_or(0);
    event.bytes = text.bytes;
    if (*category == TraceCategory::kKernel && text.grid && text.block) {
      event.launch = LaunchShape{*text.grid, *text.block, text.registers.value_or(0),
                                 text.shared_bytes.value_or(0)};
    }
    trace_.events.push_back(std::move(event));
  }

  // Nothing where the event is left out.
  std::optional<std::size_t> track_of(EventText& text, TraceCategory category) {
    const std::int64_t drawn = required(text, "tid", text.thread);
    const std::pair id(required(text, "pid", text.process),
                       is_gpu_work(category) ? text.stream.value_or(drawn) : drawn);
    if (!text.problem.empty()) return std::nullopt;
    const auto [known, added] = tracks_.try_emplace(id, trace_.tracks.size());
    if (added) trace_.tracks.push_back({.process = id.first, .thread = id.second});
    return known->second;
  }

  void add_name(const EventText& text) {
    if (!text.process) return;
    if (text.name == "process_name") process_names_[*text.process] = text.given_name;
    if (text.name == "thread_name" && text.thread) {
      thread_names_[{*text.process, *text.thread}] = text.given_name;
    }
  }

  void add_counters(EventText& text) {
    const std::int64_t at_ns = required(text, "ts", text.start_ns);
    if (!text.problem.empty()) return;
    // Each value repeats its event's name.
    const std::string name = printable_excerpt(text.name, kLongestCounterName);
    for (const auto& [key, value] : text.values) {
      if (trace_.counters.size() == kMostCounterValues) {
        throw InputError(source_, path(),
                         fmt::format("more than {} values of counters", kMostCounterValues));
      }
      trace_.counters.push_back(
          {.name = key == "value"
                       ? name
                       : fmt::format("{}: {}", name, printable_excerpt(key, kLongestCounterName)),
           .process = text.process.value_or(0),
           .at_ns = at_ns,
           .value = value});
    }
  }

  std::string_view source_;
  std::size_t index_ = 0;  // of the event that is being read
  Trace trace_;
  std::string first_lost_, first_problem_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> tracks_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
};

// Names of Python frames may have bad bytes. In a JSON string, "\\xb0" reads as printable.h prints
// it.
std::size_t escape_bad_bytes(std::string& text, const std::string& source) {
  if (simdjson::validate_utf8(text)) return 0;
  std::size_t count = 0;
  std::string escaped = with_escaped_bytes(text, &count);
  if (escaped.size() > largest_file()) fail_too_large(source);
  text = std::move(escaped);
  return count;
}

}  // namespace

Trace parse_trace(std::string text, const std::string& source) {
  TraceBuilder builder(source);
  const std::size_t bad_bytes = escape_bad_bytes(text, source);
  walk_json(std::move(text), source, [&](auto& document) { builder.read(document); });
  Trace trace = builder.take();
  trace.lost.bytes = bad_bytes;
  if (trace.events.empty()) {
    throw InputError(source, "traceEvents",
                     "has no complete event of a category that PyTorch's profiler or fusegate "
                     "writes (cpu_op, user_annotation, cuda_runtime, kernel, ...)");
  }
  return trace;
}

}  // namespace fusegate::baselines
