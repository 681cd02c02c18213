// Checks registrations once, before planning.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

// A part of a benchmark's name, which '/' and ':' divide.
bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

// What Google Benchmark adds to names, and the keys of a sweep.
constexpr std::array<std::string_view, 10> kReserved{
    "dtype",      "implementations", "iterations", "manual_time", "min_time",
    "operations", "process_time",    "real_time",  "repeats",     "threads"};

bool is_axis_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, fits) &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::find(kReserved, text) == kReserved.end();
}

class Findings {
 public:
  void about(const std::string& at, const std::string& whose) {
    head_ = fmt::format("{}: {}", at, whose);
  }
  void expect(bool fine, const std::string& field, const std::string& problem) {
    if (!fine) lines_.push_back(fmt::format("{}: {}: {}", head_, field, problem));
  }
  void throw_any() const {
    if (!lines_.empty()) throw ContractError(fmt::format("{}", fmt::join(lines_, "\n")));
  }

 private:
  std::string head_;
  std::vector<std::string> lines_;
};

// Also of one that this build leaves out.
bool is_known(const std::string& implementation) {
  return std::ranges::binary_search(implementation_names(), implementation);
}

void check(const AcrossRanks& across, const std::vector<std::string>& axes, Findings& findings) {
  const auto has = [&](const std::string& axis) {
    return std::ranges::find(axes, axis) != axes.end();
  };
  findings.expect(has(kRanksAxis), "across_ranks", fmt::format("needs the axis '{}'", kRanksAxis));
  for (const std::string& axis : across.divided) {
    findings.expect(has(axis), "across_ranks.divided",
                    fmt::format("'{}' is not among its axes", axis));
  }
  std::vector<std::string> others = across.exchanges;
  others.push_back(across.work);
  for (const std::string& name : others) {
    findings.expect(std::ranges::find(operations(), name, &Operation::name) != operations().end(),
                    "across_ranks", fmt::format("no operation '{}' is registered", name));
  }
}

void check(const Operation& operation, Findings& findings) {
  const std::vector<std::string>& axes = operation.axes;
  findings.expect(is_name(operation.name), "name", "must be of letters, digits, '_', '-' and '.'");
  findings.expect(!axes.empty(), "axes", "name at least one");
  for (const std::string& axis : axes) {
    findings.expect(
        is_axis_name(axis), "axes",
        fmt::format("'{}' is not an axis name; expected letters, digits and '_', and not {}", axis,
                    fmt::join(kReserved, ", ")));
    findings.expect(std::ranges::count(axes, axis) == 1, "axes",
                    fmt::format("'{}' is repeated", axis));
  }
  for (const std::string& axis : operation.unswept_axes) {
    findings.expect(std::ranges::find(axes, axis) != axes.end(), "unswept_axes",
                    fmt::format("'{}' is not among its axes", axis));
  }
  findings.expect(operation.compared_with.empty() || is_known(operation.compared_with),
                  "compared_with",
                  fmt::format("no implementation is named '{}'", operation.compared_with));
  if (operation.across_ranks) check(*operation.across_ranks, axes, findings);
  findings.expect(operation.outputs != nullptr, "outputs", "is missing");
  findings.expect((operation.reference != nullptr) != (operation.host_reference != nullptr),
                  "reference", "set either reference or host_reference");
}

const Operation* operation_of(const Implementation& implementation) {
  const auto found = std::ranges::find(operations(), implementation.operation, &Operation::name);
  return found == operations().end() ? nullptr : &*found;
}

void check(const Implementation& implementation, Findings& findings) {
  const Operation* const operation = operation_of(implementation);
  findings.expect(operation != nullptr, "operation",
                  fmt::format("no operation '{}' is registered", implementation.operation));
  findings.expect(is_name(implementation.name), "name",
                  "must be of letters, digits, '_', '-' and '.'");
  findings.expect(!implementation.device.empty(), "device", "is missing");
  findings.expect(!implementation.dtypes.empty(), "dtypes", "name at least one");
  findings.expect(implementation.prepare != nullptr, "prepare", "is missing");
  for (const std::string& other : implementation.compared_with) {
    findings.expect(is_known(other), "compared_with",
                    fmt::format("no implementation is named '{}'", other));
  }
  for (const auto& [axis, multiple] : implementation.multiples) {
    const bool has =
        operation == nullptr || std::ranges::find(operation->axes, axis) != operation->axes.end();
    findings.expect(has, "multiples", fmt::format("its operation has no axis '{}'", axis));
    findings.expect(multiple > 0, "multiples",
                    fmt::format("that of '{}' must be positive, but is {}", axis, multiple));
  }
}

}  // namespace

void require_sound_registrations() {
  Findings findings;
  const Operation* before = nullptr;  // of that name; equal ones are neighbours
  for (const Operation& operation : operations()) {
    findings.about(operation.registered_at, fmt::format("operation '{}'", operation.name));
    if (before != nullptr && before->name == operation.name) {
      findings.expect(false, "name", "is registered twice, first at " + before->registered_at);
    }
    check(operation, findings);
    before = &operation;
  }
  const Implementation* same = nullptr;
  for (const Implementation& implementation : implementations()) {
    findings.about(implementation.registered_at,
                   fmt::format("implementation '{}/{}' for {}", implementation.operation,
                               implementation.name, implementation.device));
    const auto identity = [](const Implementation& i) {
      return std::tie(i.operation, i.name, i.device);
    };
    if (same != nullptr && identity(*same) == identity(implementation)) {
      findings.expect(false, "name", "is registered twice, first at " + same->registered_at);
    }
    check(implementation, findings);
    same = &implementation;
  }
  findings.throw_any();
}

}  // namespace fusegate::kernels
