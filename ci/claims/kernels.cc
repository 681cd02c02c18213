#include "ci/claims/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "baselines/launches/kernel_name_reader.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/traces/summary_table.h"

namespace fusegate::ci {
namespace {

constexpr std::size_t kNameWidth = 90;

std::optional<std::string> field_of(const baselines::KernelName& kernel, std::string_view field) {
  const std::string tile = fmt::format("{}", fmt::join(kernel.tile, "x"));
  if (field == "name") return kernel.name;
  if (field == "library") return kernel.library;
  if (field == "function") return kernel.function;
  if (field == "architecture") return kernel.architecture;
  if (field == "operations") return kernel.operations;
  if (field == "layout") return kernel.layout;
  if (field == "tile") return tile;
  if (field == "stages") return std::to_string(kernel.stages);
  if (field == "shape") return tile.empty() ? "" : fmt::format("{} x {}", tile, kernel.stages);
  return std::nullopt;
}

bool value_fits(const std::string& value, std::string wanted,
                std::map<std::string, std::string>* said) {
  const bool is_denied = wanted.starts_with('!');
  if (is_denied) wanted.erase(0, 1);
  if (!wanted.starts_with('$'))
    return (fnmatch(wanted.c_str(), value.c_str(), 0) == 0) != is_denied;
  const std::string& before = said->try_emplace(wanted, value).first->second;
  return !value.empty() && (value == before) != is_denied;
}

}  // namespace

KernelPatterns::KernelPatterns(const baselines::JsonField& named) : named_(named) {
  for (const auto& [name, pattern] : named_.members()) {
    if (const auto other = pattern.find("is")) other->fail("is for patterns that have no name");
    are({}, {pattern});
  }
}

bool KernelPatterns::fits(const baselines::KernelName& kernel, const baselines::JsonField& pattern,
                          Said* said) const {
  if (pattern.value().is_string()) {
    const auto named = named_.find(pattern.text());
    if (!named) pattern.fail("is no pattern of \"kernels\"");
    return fits(kernel, *named, said);
  }
  bool all = true;
  for (const auto& [field, wanted] : pattern.members()) {
    if (field == "is") {
      all = fits(kernel, wanted, said) && all;
      continue;
    }
    const auto value = field_of(kernel, field);
    if (!value) wanted.fail("is nothing that a kernel's name tells");
    const auto each = wanted.value().is_array() ? wanted.elements() : std::vector{wanted};
    bool any = false;
    for (const baselines::JsonField& one : each) any = value_fits(*value, one.text(), said) || any;
    all = all && any;
  }
  return all;
}

bool KernelPatterns::are(const KernelNames& kernels,
                         const std::vector<baselines::JsonField>& patterns) const {
  Said said;
  for (const baselines::JsonField& pattern : patterns) fits({}, pattern, &said);
  said.clear();
  return std::ranges::equal(kernels, patterns,
                            [&](const auto& kernel, const baselines::JsonField& pattern) {
                              return fits(kernel, pattern, &said);
                            });
}

KernelNames KernelPatterns::select(const KernelNames& kernels, const baselines::JsonField& name,
                                   bool fitting) const {
  Said said;
  fits({}, name, &said);
  KernelNames selected;
  std::ranges::copy_if(kernels, std::back_inserter(selected),
                       [&](const auto& kernel) { return fits(kernel, name, &said) == fitting; });
  return selected;
}

std::string kernel_line(const std::string& name, double duration_ns) {
  const baselines::KernelName kernel = baselines::read_kernel_name(name);
  const std::string read =
      kernel.is_read() ? fmt::format(" ({})", markdown_code(baselines::short_kernel_name(kernel)))
                       : "";
  return fmt::format("{}{}, {}", markdown_code(short_name(kernel.name, kNameWidth)), read,
                     format_time_ns(duration_ns));
}

}  // namespace fusegate::ci
