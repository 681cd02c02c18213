#include "ci/bisect/line.h"

#include <fmt/format.h>

#include <sstream>

#include "baselines/io/error.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

ChildOutput git(const fs::path& checkout, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", checkout.string()});
  return collect_output({.arguments = std::move(arguments)});
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Fields end with a unit separator, since a subject may hold anything but a newline.
constexpr const char* kFormat = "--format=%H%x1f%P%x1f%an%x1f%aI%x1f%s%x1f";

std::vector<Commit> log_of(const fs::path& checkout, const std::string& source,
                           const std::vector<std::string>& range) {
  std::vector<std::string> arguments{"log", kFormat};
  arguments.insert(arguments.end(), range.begin(), range.end());
  const ChildOutput log = git(checkout, arguments);
  if (!log.failure.empty()) throw baselines::InputError(source, "", "git log: " + log.failure);
  std::vector<Commit> commits;
  for (const std::string& line : split(log.out, '\n')) {
    const std::vector<std::string> fields = split(line, '\x1f');
    if (fields.size() < 4) continue;
    commits.push_back({.hash = fields[0],
                       .parents = split(fields[1], ' '),
                       .author = fields[2],
                       .date = fields[3],
                       .subject = fields.size() > 4 ? fields[4] : ""});
  }
  return commits;
}

}  // namespace

std::string short_hash(const Commit& commit) { return commit.hash.substr(0, 12); }

std::string hash_of(const fs::path& checkout, const std::string& option,
                    const std::string& revision) {
  if (!fs::exists(checkout / ".git")) {
    throw baselines::InputError(option, "",
                                checkout.string() + " is not in a git checkout; start it in one");
  }
  const ChildOutput parsed = git(
      checkout, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (parsed.failure.empty()) return parsed.out.substr(0, parsed.out.find('\n'));
  // Of an unknown revision git has no words.
  if (parsed.failure.find(": ") != std::string::npos) {
    throw baselines::InputError(option, "", "git rev-parse: " + parsed.failure);
  }
  throw baselines::InputError(
      option, "",
      fmt::format("{} is not a commit of {}; if it was cloned without its history, run git fetch "
                  "--unshallow; if the history was rewritten, name a commit of the new one",
                  revision, checkout.string()));
}

std::vector<Commit> line_between(const fs::path& checkout, const std::string& good,
                                 const std::string& bad) {
  if (good == bad) throw baselines::InputError("--bad", "", "is the same commit as --good");
  if (!git(checkout, {"merge-base", "--is-ancestor", good, bad}).failure.empty()) {
    const std::string common = output_of({"git", "-C", checkout.string(), "merge-base", good, bad});
    throw baselines::InputError(
        "--good", "",
        fmt::format("{} is not an ancestor of --bad {}{}", good.substr(0, 12), bad.substr(0, 12),
                    common.empty() ? ", and they have no common one"
                                   : "; their last common one is " + common.substr(0, 12)));
  }
  std::vector<Commit> line = log_of(checkout, "--good", {"-1", good});
  for (Commit& commit :
       log_of(checkout, "--bad", {"--first-parent", "--reverse", good + ".." + bad})) {
    line.push_back(std::move(commit));
  }
  return line;
}

}  // namespace fusegate::ci
