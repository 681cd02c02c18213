#include "baselines/traces/reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_walk.h"
#include "baselines/io/printable.h"

namespace fusegate::baselines {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

// One element of "traceEvents" as it stands in the file, and the keys that matter in it. What
// nobody reads, stacks and input shapes above all, is passed over. The texts stay until the walk
// through the file ends.
struct EventText {
  std::string_view phase, category, name;
  std::optional<std::int64_t> process, thread, start_ns, duration_ns;
  // Of "args".
  std::optional<std::int64_t> correlation, external_id, stream, bytes, registers, shared_bytes;
  std::optional<std::array<std::int64_t, 3>> grid, block;
  std::string_view given_name;                              // of a process or thread
  std::vector<std::pair<std::string_view, double>> values;  // of a counter
  // The first argument of a launch that is not of its type, and what it must be. Wrong in GPU work
  // alone: PyTorch's operators of Triton kernels have a "grid" that is a text.
  std::string_view wrong_argument;
  std::string wrong_because;
  // The first value for which the event is left out, as in "args.correlation".
  std::string wrong_key, problem;
};

constexpr std::size_t kMostCounterValues = 5'000'000;
constexpr std::size_t kLongestCounterName = 200;

constexpr std::int64_t kNanosecondsInMicrosecond = 1000;
constexpr std::int64_t kMostMicroseconds = 9'200'000'000'000'000;

// Exponents come from programs that write doubles; a double's precision is then all there is.
std::optional<std::int64_t> of_double(std::string_view text) {
  const double ns = std::strtod(std::string(text).c_str(), nullptr) * kNanosecondsInMicrosecond;
  if (!(std::abs(ns) < 9.2e18)) return std::nullopt;
  return std::llround(ns);
}

// ns of a number of microseconds as JSON writes it ("12", "12.345", "1.5e3"); what is below 1 ns is
// cut off. Nothing where it does not fit: 292 years.
std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) {
  if (text.find_first_of("eE") != text.npos) return of_double(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  std::string_view fraction = text.substr(std::min(text.size(), whole.size() + 1)).substr(0, 3);
  std::int64_t microseconds = 0;
  if (std::from_chars(whole.begin(), whole.end(), microseconds).ec != std::errc() ||
      microseconds < -kMostMicroseconds || microseconds > kMostMicroseconds) {
    return std::nullopt;
  }
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < 3; ++i) ns = 10 * ns + (i < fraction.size() ? fraction[i] - '0' : 0);
  const bool negative = text.starts_with('-');  // "-0.5" too, whose whole part has no sign
  return microseconds * kNanosecondsInMicrosecond + (negative ? -ns : ns);
}

// Where an integer argument belongs; null where nobody reads it.
std::optional<std::int64_t>* integer_argument(EventText& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "External id" || key == "external id") return &event.external_id;
  if (key == "stream") return &event.stream;
  if (key == "bytes") return &event.bytes;
  if (key == "registers per thread") return &event.registers;
  if (key == "shared memory") return &event.shared_bytes;
  return nullptr;
}

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
      if (saw_events) throw InputError(source_, "traceEvents", "stands there twice");
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
  // The event is left out for it.
  void doubt(std::string_view key, std::string_view problem) {
    if (!event_.problem.empty()) return;
    event_.wrong_key = std::string(key);
    event_.problem = std::string(problem);
  }
  // Of what is being read.
  void doubt(std::string_view problem) {
    doubt(argument_.empty() ? std::string(key_) : fmt::format("{}.{}", key_, argument_), problem);
  }
  std::int64_t required(const std::optional<std::int64_t>& value, std::string_view key) {
    if (!value) doubt(key, "is missing or no number");
    return value.value_or(0);
  }

  void read_events(simdjson::ondemand::array events) {
    for (value event : events) {
      event_ = {};
      if (event.type() == json_type::object) {
        for (auto member : event.get_object()) {
          key_ = key_of(member);
          read_unless_null(member.value(), [this](value field) { read_field(field); });
        }
        add(event_);
      } else {
        doubt("", "must be an object");
      }
      if (!event_.problem.empty()) leave_out();
      ++index_;
    }
  }

  void leave_out() {
    TraceLosses& lost = trace_.lost;
    const auto category = parse_category(event_.category);
    lost.gpu_work += !category || is_gpu_work(*category);
    if (lost.events++ > 0) return;
    first_lost_ =
        event_.wrong_key.empty() ? path() : fmt::format("{}.{}", path(), event_.wrong_key);
    first_problem_ = event_.problem;
    lost.first = fmt::format("{}: {}", first_lost_, event_.problem);
    constexpr std::size_t kLongestName = 100;
    if (!event_.name.empty()) {
      lost.first += fmt::format(" ({})", printable_excerpt(event_.name, kLongestName));
    }
  }

  // An argument of a wrong type: what joins events must be right everywhere, the rest where it is
  // read.
  void refuse(std::string_view problem) {
    const auto* field = integer_argument(event_, argument_);
    if (field == &event_.correlation || field == &event_.external_id) doubt(problem);
    if (!event_.wrong_argument.empty()) return;
    event_.wrong_argument = argument_;
    event_.wrong_because = problem;
  }

  // Null is the same as absent.
  template <typename Read>
  static void read_unless_null(value from, const Read& read) {
    from.type() == json_type::null ? check_json(from) : read(from);
  }

  void read_field(value field) {
    if (key_ == "ph") {
      event_.phase = text(field);
    } else if (key_ == "cat") {
      event_.category = text(field);
    } else if (key_ == "name") {
      event_.name = text(field);
    } else if (key_ == "ts") {
      event_.start_ns = time(field);
    } else if (key_ == "dur") {
      event_.duration_ns = time(field);
    } else if (key_ == "pid") {
      event_.process = track_id(field);
    } else if (key_ == "tid") {
      event_.thread = track_id(field);
    } else if (key_ == "args") {
      read_arguments(field);
    }
  }

  std::string_view text(value field) {
    if (field.type() == json_type::string) return text_of(field);
    doubt(fmt::format("must be a string and not {}", type_name(field.type())));
    return "";
  }

  std::optional<std::int64_t> time(value field) {
    if (field.type() != json_type::number) {
      doubt(fmt::format("must be a number and not {}", type_name(field.type())));
      return std::nullopt;
    }
    std::string_view digits = field.raw_json_token();
    digits = digits.substr(0, digits.find_first_of(" \t\r\n"));
    check_json(field);
    const auto ns = nanoseconds_of_microseconds(digits);
    if (!ns) doubt("is no time in microseconds that 64 bits hold in ns");
    return ns;
  }

  // May be a text, as Kineto's "Spans" is; such tracks hold nothing that is read, and an event that
  // is read and has no number there says so when it is complete.
  std::optional<std::int64_t> track_id(value field) {
    if (field.type() == json_type::string) return std::nullopt;
    std::string problem;
    const auto id = integer(field, problem);
    if (!id) doubt(problem);
    return id;
  }

  static std::optional<std::int64_t> integer(value field, std::string& problem) {
    std::int64_t result = 0;
    const json_type type = field.type();
    if (type != json_type::number) {
      problem = fmt::format("must be an integer and not {}", type_name(type));
    } else if (!field.get_int64().get(result)) {
      return result;
    } else {
      const double number = field.get_double();
      const bool whole = number == std::trunc(number);
      problem = whole ? "must be an integer below 2^63" : "must be an integer";
    }
    return std::nullopt;
  }

  void read_arguments(value arguments) {
    if (arguments.type() != json_type::object) return doubt("must be an object");
    for (auto member : arguments.get_object()) {
      argument_ = key_of(member);
      read_unless_null(member.value(), [this](value argument) { read_argument(argument); });
    }
    argument_ = {};
  }

  void read_argument(value argument) {
    const json_type type = argument.type();
    if (auto* field = integer_argument(event_, argument_)) {
      std::string problem;
      *field = integer(argument, problem);
      if (!*field) refuse(problem);
    } else if (argument_ == "grid") {
      event_.grid = triple(argument);
    } else if (argument_ == "block") {
      event_.block = triple(argument);
    } else if (argument_ == "name" && type == json_type::string) {
      event_.given_name = text_of(argument);
    } else if (event_.phase == "C" && type == json_type::number) {
      event_.values.emplace_back(argument_, argument.get_double());
    }
  }

  std::optional<std::array<std::int64_t, 3>> triple(value argument) {
    std::array<std::int64_t, 3> result{};
    std::size_t count = 0;
    bool fits = argument.type() == json_type::array;
    if (fits) {
      for (value element : argument.get_array()) {
        std::int64_t number = 0;
        fits = fits && count < result.size() && !element.get_int64().get(number);
        if (fits) result[count++] = number;
      }
    }
    if (fits && count == result.size()) return result;
    refuse("must be three integers");
    return std::nullopt;
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
          fmt::format("\"{}\" is not read, only complete events are (\"X\")", text.phase));
    } else if (text.phase.empty()) {
      doubt("ph", "is missing");
    } else {
      text.problem.clear();  // of what is passed over
    }
  }

  // PyTorch before 1.12 had no category of its own for ranges.
  static TraceCategory category_of(const EventText& text, TraceCategory category) {
    const bool is_step = category == TraceCategory::kOperator && text.category == "Operator" &&
                         text.name.starts_with(kStepPrefix);
    return is_step ? TraceCategory::kRange : category;
  }

  void check_times(const TraceEvent& event) {
    if (event.duration_ns < 0) doubt("dur", "must not be negative");
    std::int64_t end_ns = 0;
    if (__builtin_add_overflow(event.start_ns, event.duration_ns, &end_ns)) {
      doubt("dur", "ends at no time that 64 bits hold in ns");
    }
  }

  void add_complete(EventText& text) {
    const auto category = parse_category(text.category);
    if (!category) {
      if (text.wrong_key != "cat") text.problem.clear();  // of what is passed over
      return;
    }
    TraceEvent event{.name = std::string(text.name), .category = category_of(text, *category)};
    if (text.name.empty()) doubt("name", "is missing or empty");
    event.start_ns = required(text.start_ns, "ts");
    event.duration_ns = required(text.duration_ns, "dur");
    check_times(event);
    if (is_gpu_work(*category) && !text.wrong_argument.empty()) {
      doubt(fmt::format("args.{}", text.wrong_argument), text.wrong_because);
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
  std::optional<std::size_t> track_of(const EventText& text, TraceCategory category) {
    const std::int64_t drawn = required(text.thread, "tid");
    const std::pair id(required(text.process, "pid"),
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

  void add_counters(const EventText& text) {
    const std::int64_t at_ns = required(text.start_ns, "ts");
    if (!text.problem.empty()) return;
    // Each value repeats its event's name.
    const std::string name = printable_excerpt(text.name, kLongestCounterName);
    for (const auto& [key, value] : text.values) {
      if (trace_.counters.size() == kMostCounterValues) {
        throw InputError(source_, path(),
                         fmt::format("has more than {} values of counters", kMostCounterValues));
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
  // What is being read.
  std::size_t index_ = 0;
  std::string_view key_, argument_;
  EventText event_;
  Trace trace_;
  std::string first_lost_, first_problem_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> tracks_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
};

// In names of Python frames, say. As a part of a JSON string, "\\xb0" is what would be printed
// (printable.h).
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
