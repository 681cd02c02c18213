// The variants of a protocol experiment: the same program and suite under flags of their own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::ci {

struct Variant {
  std::string name;
  std::vector<std::string> flags;  // may be empty

  std::string folder() const;  // the name's slug
};

// "NAME: FLAGS", the flags parted by blanks. Throws InputError naming source where it is none.
Variant parse_variant(std::string_view source, std::string_view text);
// A file of them, one a line; empty lines and lines that start with # are passed over.
std::vector<Variant> read_variants(const std::filesystem::path& path);

// What was asked for, kept in the experiment's folder.
struct Experiment {
  std::string suite;
  std::vector<std::string> flags;  // of all variants
  std::vector<Variant> variants;
};

std::filesystem::path experiment_path(const std::filesystem::path& folder);
void write_experiment(const std::filesystem::path& folder, const Experiment& experiment);
// Throws InputError naming file and field, also for two variants of one folder.
Experiment read_experiment(const std::filesystem::path& folder);

// Throws InputError where there is none, or where two would share a folder.
void check_variants(const std::vector<Variant>& variants);

}  // namespace fusegate::ci
