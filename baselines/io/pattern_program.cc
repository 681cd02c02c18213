#include "baselines/io/pattern_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <utility>

namespace fusegate::baselines {
namespace {

using Characters = std::bitset<256>;

constexpr std::size_t kDeepest = 200;
// A filter that names benchmarks is as long as an argument may be, 128 KiB.
constexpr std::size_t kMostSteps = 200'000;
constexpr std::size_t kMostRepeats = 32'767;  // RE_DUP_MAX of Linux

std::size_t code_of(char c) { return static_cast<unsigned char>(c); }

Characters only(char c) { return Characters().set(code_of(c)); }

template <typename Is>
Characters all_that(Is is) {
  Characters set;
  for (int c = 0; c < 256; ++c) set[static_cast<std::size_t>(c)] = is(c) != 0;
  return set;
}

std::optional<Characters> class_of(std::string_view name) {
  using Is = int (*)(int);
  static constexpr std::array<std::pair<std::string_view, Is>, 12> kClasses{
      {{"alpha", std::isalpha},
       {"digit", std::isdigit},
       {"alnum", std::isalnum},
       {"upper", std::isupper},
       {"lower", std::islower},
       {"space", std::isspace},
       {"blank", std::isblank},
       {"punct", std::ispunct},
       {"print", std::isprint},
       {"graph", std::isgraph},
       {"cntrl", std::iscntrl},
       {"xdigit", std::isxdigit}}};
  for (const auto& [known, is] : kClasses) {
    if (known == name) return all_that(is);
  }
  return std::nullopt;
}

PatternStep step_of(PatternStep::Kind kind) { return {.kind = kind}; }
PatternStep taking(Characters characters) { return {.characters = characters}; }
PatternStep either(std::size_t next, std::size_t other) {
  return {.kind = PatternStep::kEither,
          .next = static_cast<std::ptrdiff_t>(next),
          .other = static_cast<std::ptrdiff_t>(other)};
}

class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  PatternProgram take() {
    PatternProgram program = alternatives(0);
    if (at_ != text_.size()) fail();
    return program;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::invalid_argument(fmt::format("\"{}\" is not a regular expression", text_));
  }
  void require_room(std::size_t steps) const {
    if (steps <= kMostSteps) return;
    throw std::invalid_argument(fmt::format("the regular expression \"{}\" is too large", text_));
  }

  bool has_ended() const { return at_ == text_.size(); }
  bool is_at(char c) const { return !has_ended() && text_[at_] == c; }
  bool skip(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  char take_character() {
    if (has_ended()) fail();
    return text_[at_++];
  }

  void append(PatternProgram& program, const PatternProgram& more) const {
    require_room(program.size() + more.size());
    program.insert(program.end(), more.begin(), more.end());
  }

  // a|b|c. Within a group it ends at the group's bracket.
  PatternProgram alternatives(std::size_t depth) {
    if (depth > kDeepest) require_room(kMostSteps + 1);
    std::vector<PatternProgram> branches{branch(depth)};
    std::size_t size = branches[0].size();
    while (skip('|')) {
      branches.push_back(branch(depth));
      size += branches.back().size() + 2;
      require_room(size);
    }
    PatternProgram program;
    program.reserve(size);
    for (std::size_t i = 0; i + 1 < branches.size(); ++i) {
      program.push_back(either(1, branches[i].size() + 2));
      append(program, branches[i]);
      const std::size_t to_end = size - program.size();
      program.push_back(either(to_end, to_end));
    }
    append(program, branches.back());
    return program;
  }

  PatternProgram branch(std::size_t depth) {
    PatternProgram program;
    while (!has_ended() && !is_at('|') && !(depth > 0 && is_at(')'))) {
      append(program, piece(depth));
    }
    return program;
  }

  // An atom and what repeats it.
  PatternProgram piece(std::size_t depth) {
    if (skip('^')) return {step_of(PatternStep::kStart)};
    if (skip('$')) return {step_of(PatternStep::kEnd)};
    bool is_repeatable = true;
    PatternProgram program = atom(depth, is_repeatable);
    while (is_repeatable) {
      if (skip('*')) {
        program = repeated(program, 0, std::nullopt);
      } else if (skip('+')) {
        program = repeated(program, 1, std::nullopt);
      } else if (skip('?')) {
        program = repeated(program, 0, 1);
      } else if (skip('{')) {
        program = counted(program);
      } else {
        break;
      }
    }
    return program;
  }

  PatternProgram atom(std::size_t depth, bool& is_repeatable) {
    const char c = take_character();
    switch (c) {
      case '(': {
        PatternProgram group = alternatives(depth + 1);
        if (!skip(')')) fail();
        return group;
      }
      case '[':
        return {taking(bracket())};
      case '.':
        return {taking(~only('\0'))};
      case '\\':
        return {escaped(take_character(), is_repeatable)};
      case '*':
      case '+':
      case '?':
      case '{':
        fail();
      default:
        return {taking(only(c))};
    }
  }

  PatternStep escaped(char c, bool& is_repeatable) const {
    switch (c) {
      case 'w':
        return taking(
            all_that([](int code) { return is_word_character(static_cast<char>(code)); }));
      case 'W':
        return taking(
            ~all_that([](int code) { return is_word_character(static_cast<char>(code)); }));
      case 's':
        return taking(*class_of("space"));
      case 'S':
        return taking(~*class_of("space"));
      default:
        break;
    }
    if ('1' <= c && c <= '9') fail();
    static constexpr std::array<std::pair<char, PatternStep::Kind>, 6> kEdges{
        {{'<', PatternStep::kWordStart},
         {'>', PatternStep::kWordEnd},
         {'b', PatternStep::kWordEdge},
         {'B', PatternStep::kNoWordEdge},
         {'`', PatternStep::kStart},
         {'\'', PatternStep::kEnd}}};
    for (const auto& [name, kind] : kEdges) {
      if (name != c) continue;
      is_repeatable = false;
      return step_of(kind);
    }
    return taking(only(c));
  }

  // Behind "[". A bracket that ends it may stand there as the first character.
  Characters bracket() {
    const bool is_negated = skip('^');
    Characters set;
    for (bool first = true; first || !is_at(']'); first = false) {
      if (is_at('[') && at_ + 1 < text_.size() && text_[at_ + 1] == ':') {
        set |= named_class();
        continue;
      }
      const char low = element();
      const bool is_range = is_at('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (is_range) ++at_;
      const char high = is_range ? element() : low;
      if (code_of(high) < code_of(low)) fail();
      for (std::size_t code = code_of(low); code <= code_of(high); ++code) set.set(code);
    }
    ++at_;
    return is_negated ? ~set : set;
  }

  Characters named_class() {
    const std::size_t end = text_.find(":]", at_ + 2);
    if (end == text_.npos) fail();
    const auto known = class_of(text_.substr(at_ + 2, end - at_ - 2));
    if (!known) fail();
    at_ = end + 2;
    return *known;
  }

  // A character, also as [.x.] or [=x=].
  char element() {
    const char c = take_character();
    if (c != '[' || (!is_at('.') && !is_at('='))) return c;
    const char mark = take_character();
    const char named = take_character();
    if (!skip(mark) || !skip(']')) fail();
    return named;
  }

  // Behind "{".
  PatternProgram counted(const PatternProgram& program) {
    const std::optional<std::size_t> least = number();
    const bool has_comma = skip(',');
    const std::optional<std::size_t> most = has_comma ? number() : least;
    if (!skip('}') || (!least && !most) || (most && *most < least.value_or(0))) fail();
    return repeated(program, least.value_or(0), most);
  }

  std::optional<std::size_t> number() {
    if (has_ended() || std::isdigit(code_of(text_[at_])) == 0) return std::nullopt;
    std::size_t value = 0;
    while (!has_ended() && std::isdigit(code_of(text_[at_])) != 0) {
      value = 10 * value + code_of(text_[at_++]) - code_of('0');
      if (value > kMostRepeats) fail();
    }
    return value;
  }

  // Without a most, the last copy comes back to itself.
  PatternProgram repeated(const PatternProgram& once, std::size_t least,
                          std::optional<std::size_t> most) const {
    const std::size_t size = once.size();
    require_room((size + 2) * std::max(least, most.value_or(0)));
    PatternProgram program;
    for (std::size_t i = 0; i < least; ++i) append(program, once);
    if (!most) {
      program.push_back(either(1, size + 2));
      append(program, once);
      PatternStep back = either(1, 1);
      back.next = back.other = -static_cast<std::ptrdiff_t>(size + 1);
      program.push_back(back);
      return program;
    }
    for (std::size_t i = least; i < *most; ++i) {
      program.push_back(either(1, (*most - i) * (size + 1)));
      append(program, once);
    }
    return program;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

PatternProgram pattern_program(std::string_view text) { return Compiler(text).take(); }

}  // namespace fusegate::baselines
