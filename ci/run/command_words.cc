#include "ci/run/command_words.h"

#include <filesystem>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

constexpr const char* kBlanks = " \t\n";

// The word that begins there; ends behind it.
std::string next_word(const std::string& text, std::size_t& at) {
  std::string word;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool escapes = c == '\\' && quote != '\'' && at + 1 < text.size();
    if (escapes) {
      word += text[++at];
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (std::string(kBlanks).find(c) != std::string::npos) {
      break;
    } else {
      word += c;
    }
  }
  if (quote != 0) throw baselines::InputError(text, "", "a quote in this command does not end");
  return word;
}

}  // namespace

std::vector<std::string> command_words(const std::string& program) {
  std::error_code ignored;
  const bool is_plain = program.find_first_of(" \t\n'\"\\") == std::string::npos;
  if (is_plain || std::filesystem::exists(program, ignored)) return {program};
  std::vector<std::string> words;
  for (std::size_t at = program.find_first_not_of(kBlanks); at < program.size();
       at = program.find_first_not_of(kBlanks, at)) {
    words.push_back(next_word(program, at));
  }
  return words.empty() ? std::vector{program} : words;
}

}  // namespace fusegate::ci
