#include "bench/plan/google_flags.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "baselines/io/error.h"
#include "bench/plan/protocol.h"

namespace fusegate::bench {
namespace {

template <typename T>
T number_of(const std::string& flag, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw baselines::InputError(flag, "", "is not followed by a number");
  }
  return value;
}

// "0.5" and, from version 1.8 on, "0.5s"; the "10x" of that version counts iterations, which are
// the batch's to choose.
std::int64_t microseconds_of(const std::string& flag, std::string_view text) {
  if (text.ends_with('s')) text.remove_suffix(1);
  const double seconds = number_of<double>(flag, text);
  constexpr double kDay = 86400;
  if (!(seconds >= 0 && seconds < kDay))
    throw baselines::InputError(flag, "", "is no time to measure for");
  return std::llround(seconds * 1e6);
}

// No value means yes.
std::string_view order_of(const std::string& flag, std::string_view text) {
  if (text.empty() || text == "true") return order_name(Order::kInterleaved);
  if (text == "false") return order_name(Order::kContiguous);
  throw baselines::InputError(flag, "", "must be true or false");
}

}  // namespace

std::vector<std::string> take_protocol_flags(const std::vector<std::string>& flags,
                                             nlohmann::json& protocol) {
  std::vector<std::string> rest;
  for (const std::string& flag : flags) {
    const std::size_t equals = flag.find('=');
    const std::string name = flag.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : flag.substr(equals + 1);
    if (name == "--benchmark_repetitions") {
      protocol["places"] = number_of<std::int64_t>(flag, value);
    } else if (name == "--benchmark_min_time") {
      protocol["batch_us"] = microseconds_of(flag, value);
    } else if (name == "--benchmark_enable_random_interleaving") {
      protocol["order"] = order_of(flag, value);
    } else {
      rest.push_back(flag);
    }
  }
  return rest;
}

}  // namespace fusegate::bench
