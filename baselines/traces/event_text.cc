#include "baselines/traces/event_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace fusegate::baselines {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

constexpr std::int64_t kNanosecondsInMicrosecond = 1000;
constexpr std::int64_t kMostMicroseconds = 9'200'000'000'000'000;

// A number with an exponent was a double, and has no more precision.
std::optional<std::int64_t> of_double(std::string_view text) {
  const double ns = std::strtod(std::string(text).c_str(), nullptr) * kNanosecondsInMicrosecond;
  if (!(std::abs(ns) < 9.2e18)) return std::nullopt;
  return std::llround(ns);
}

// ns of a JSON number of microseconds ("12", "12.345", "1.5e3"), cut off below 1 ns. Nothing beyond
// 292 years.
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

// Null for arguments that are not used.
std::optional<std::int64_t>* integer_argument(EventText& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "External id" || key == "external id") return &event.external_id;
  if (key == "stream") return &event.stream;
  if (key == "bytes") return &event.bytes;
  if (key == "registers per thread") return &event.registers;
  if (key == "shared memory") return &event.shared_bytes;
  return nullptr;
}

class EventTextReader {
 public:
  EventText read(value event) {
    if (event.type() != json_type::object) {
      event_.reject("", "must be an object");
      return std::move(event_);
    }
    for (auto member : event.get_object()) {
      key_ = key_of(member);
      read_unless_null(member.value(), [this](value field) { read_field(field); });
    }
    return std::move(event_);
  }

 private:
  // The field or argument that is being read.
  void reject(std::string_view problem) {
    event_.reject(argument_.empty() ? std::string(key_) : fmt::format("{}.{}", key_, argument_),
                  problem);
  }

  // An argument of a wrong type. Those that join events must be right in all events.
  void reject_argument(std::string_view problem) {
    const auto* field = integer_argument(event_, argument_);
    if (field == &event_.correlation || field == &event_.external_id) reject(problem);
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
    reject(fmt::format("must be a string and not {}", type_name(field.type())));
    return "";
  }

  std::optional<std::int64_t> time(value field) {
    if (field.type() != json_type::number) {
      reject(fmt::format("must be a number and not {}", type_name(field.type())));
      return std::nullopt;
    }
    std::string_view digits = field.raw_json_token();
    digits = digits.substr(0, digits.find_first_of(" \t\r\n"));
    check_json(field);
    const auto ns = nanoseconds_of_microseconds(digits);
    if (!ns) reject("must be a time in microseconds of less than 292 years");
    return ns;
  }

  // Kineto's "Spans" tracks have a text here and no event that is used. TraceBuilder rejects a used
  // event without a number.
  std::optional<std::int64_t> track_id(value field) {
    if (field.type() == json_type::string) return std::nullopt;
    std::string problem;
    const auto id = integer(field, problem);
    if (!id) reject(problem);
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
    if (arguments.type() != json_type::object) return reject("must be an object");
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
      if (!*field) reject_argument(problem);
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
    reject_argument("must be three integers");
    return std::nullopt;
  }

  std::string_view key_, argument_;
  EventText event_;
};

}  // namespace

void EventText::reject(std::string_view key, std::string_view why) {
  if (!problem.empty()) return;
  wrong_key = std::string(key);
  problem = std::string(why);
}

EventText read_event_text(value event) { return EventTextReader().read(event); }

}  // namespace fusegate::baselines
