// Whom a benchmark concerns, as its suite says: "owners": {"geglu_mlp/": "@org/team-mlp"}.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

// By pattern (pattern.h): "@user" or "@organisation/team".
using Owners = std::map<std::string, std::string>;

// Of an object. Throws InputError naming the field: a pattern that is none, or an owner of another
// form.
Owners read_owners(const JsonField& field);

// That of the longest pattern that fits, the most special one; of several as long the first by
// name. "" where none fits.
std::string owner_of(const Owners& owners, std::string_view benchmark);

}  // namespace fusegate::baselines
