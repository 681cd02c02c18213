#include "baselines/launches/call_profile.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

json with_span(json object, const ProfileSpan& span) {
  object["stage"] = span.stage;
  object["start_ns"] = span.start_ns;
  object["duration_ns"] = span.duration_ns;
  object["correlation"] = span.correlation;
  return object;
}

// A double holds every whole number that is written here.
std::int64_t whole_number(const JsonField& field) {
  const double value = field.number();
  if (value != std::floor(value) || std::abs(value) > 9e15) field.fail("must be a whole number");
  return static_cast<std::int64_t>(value);
}

std::int64_t count(const JsonField& field) {
  const std::int64_t value = whole_number(field);
  if (value < 0) field.fail("must not be negative");
  return value;
}

// At most 32 years, so that no sum of them passes what a double holds.
double nanoseconds(const JsonField& field) {
  const double value = field.number_from_zero();
  if (value > 1e18) field.fail("is too large");
  return value;
}

ProfileSpan parse_span(const JsonField& field) {
  ProfileSpan span;
  span.stage = field.text_or_empty("stage");
  span.start_ns = nanoseconds(field.at("start_ns"));
  span.duration_ns = nanoseconds(field.at("duration_ns"));
  if (const auto correlation = field.find("correlation")) {
    span.correlation = whole_number(*correlation);
  }
  return span;
}

std::array<std::int64_t, 3> parse_extent(const JsonField& field) {
  const std::vector<JsonField> elements = field.elements();
  if (elements.size() != 3) field.fail("must have three elements");
  std::array<std::int64_t, 3> extent{};
  for (std::size_t i = 0; i < extent.size(); ++i) extent[i] = count(elements[i]);
  return extent;
}

LaunchedKernel parse_kernel(const JsonField& field) {
  return {.name = field.at("name").text(),
          .span = parse_span(field),
          .grid = parse_extent(field.at("grid")),
          .block = parse_extent(field.at("block")),
          .registers = count(field.at("registers")),
          .static_shared_bytes = count(field.at("static_shared_bytes")),
          .dynamic_shared_bytes = count(field.at("dynamic_shared_bytes"))};
}

}  // namespace

std::vector<GpuWork> gpu_work(const CallProfile& profile) {
  std::vector<GpuWork> work;
  for (const LaunchedKernel& kernel : profile.kernels) work.push_back({&kernel.span, &kernel});
  for (const LaunchedMemoryOperation& operation : profile.memory_operations) {
    work.push_back({&operation.span, nullptr});
  }
  std::ranges::stable_sort(work, {}, [](const GpuWork& one) { return one.span->start_ns; });
  return work;
}

json call_profile_json(const CallProfile& profile) {
  json kernels = json::array(), memory_operations = json::array(), calls = json::array();
  for (const LaunchedKernel& kernel : profile.kernels) {
    kernels.push_back(with_span({{"name", kernel.name},
                                 {"grid", kernel.grid},
                                 {"block", kernel.block},
                                 {"registers", kernel.registers},
                                 {"static_shared_bytes", kernel.static_shared_bytes},
                                 {"dynamic_shared_bytes", kernel.dynamic_shared_bytes}},
                                kernel.span));
  }
  for (const LaunchedMemoryOperation& operation : profile.memory_operations) {
    memory_operations.push_back(
        with_span({{"kind", operation.kind}, {"bytes", operation.bytes}}, operation.span));
  }
  for (const ApiCall& call : profile.calls) {
    calls.push_back(with_span({{"name", call.name}}, call.span));
  }
  return {{"kernels", std::move(kernels)},
          {"memory_operations", std::move(memory_operations)},
          {"calls", std::move(calls)}};
}

CallProfile parse_call_profile(const JsonField& field) {
  CallProfile profile;
  for (const JsonField& kernel : field.at("kernels").elements()) {
    profile.kernels.push_back(parse_kernel(kernel));
  }
  for (const JsonField& operation : field.at("memory_operations").elements()) {
    profile.memory_operations.push_back({.kind = operation.at("kind").text(),
                                         .span = parse_span(operation),
                                         .bytes = count(operation.at("bytes"))});
  }
  for (const JsonField& call : field.at("calls").elements()) {
    profile.calls.push_back({.name = call.at("name").text(), .span = parse_span(call)});
  }
  return profile;
}

}  // namespace fusegate::baselines
