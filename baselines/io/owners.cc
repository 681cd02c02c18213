#include "baselines/io/owners.h"

#include <fmt/format.h>

#include <stdexcept>

#include "baselines/io/pattern.h"

namespace fusegate::baselines {

Owners read_owners(const JsonField& field) {
  // It is written into issues as it is, where it mentions whom it names and does nothing else.
  static const re2::RE2 form("@[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?");
  Owners owners;
  for (const auto& [pattern, owner] : field.members()) {
    if (pattern.empty()) field.fail("has an empty pattern, which fits every name; write \".\"");
    try {
      const Pattern compiled(pattern);
    } catch (const std::invalid_argument& error) {
      owner.fail(error.what());
    }
    const std::string name = owner.text();
    if (!re2::RE2::FullMatch(name, form)) {
      owner.fail(fmt::format("must be \"@user\" or \"@organisation/team\", not \"{}\"", name));
    }
    owners.emplace(pattern, name);
  }
  return owners;
}

std::string owner_of(const Owners& owners, std::string_view benchmark) {
  std::string_view longest;
  std::string found;
  for (const auto& [pattern, owner] : owners) {
    if (pattern.size() <= longest.size() || !Pattern(pattern).fits(benchmark)) continue;
    longest = pattern;
    found = owner;
  }
  return found;
}

}  // namespace fusegate::baselines
