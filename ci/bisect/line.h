// The commits between a good and a bad one, as the checkout's git has them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fusegate::ci {

struct Commit {
  std::string hash{};
  std::vector<std::string> parents{};
  std::string author{};
  std::string date{};  // ISO 8601, of the author
  std::string subject{};
};

// "0123456789ab"
std::string short_hash(const Commit& commit);

// The hash of a revision. option: where it was given, such as "--good", for the message. Throws
// InputError where the folder is in no checkout, and where that has no such commit.
std::string hash_of(const std::filesystem::path& checkout, const std::string& option,
                    const std::string& revision);

// From the good commit to the bad one, both of them included, along first parents: what a branch
// brought is one commit, its merge. good, bad: hashes. Throws InputError where the good one is no
// ancestor of the bad one.
std::vector<Commit> line_between(const std::filesystem::path& checkout, const std::string& good,
                                 const std::string& bad);

}  // namespace fusegate::ci
