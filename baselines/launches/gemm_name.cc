#include "baselines/launches/gemm_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ranges>
#include <utility>

namespace fusegate::baselines {
namespace {

using Words = std::vector<std::string_view>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

Words words_of(std::string_view name) {
  Words words;
  for (const auto word : std::views::split(name, '_')) {
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  }
  return words;
}

// The text beside the key, empty where the table does not have it.
template <typename Table, typename Key>
std::string_view find_text(const Table& table, const Key& key) {
  const auto* const found = std::ranges::find(table, key, &Table::value_type::first);
  return found == table.end() ? std::string_view() : found->second;
}

// {128, 256} of "128x256"; else empty.
std::vector<int> sizes_of(std::string_view word) {
  std::vector<int> sizes;
  const char* const end = word.data() + word.size();
  for (const char* at = word.data(); at != end;) {
    int size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) return {};
    sizes.push_back(size);
    if (next == end) break;
    if (*next != 'x' || next + 1 == end) return {};
    at = next + 1;
  }
  return sizes.size() < 2 ? std::vector<int>{} : sizes;
}

bool is_architecture(std::string_view word) {
  return is_one_of(word, {"volta", "turing", "ampere", "hopper", "blackwell"}) ||
         (word.starts_with("sm") && is_digits(word.substr(2)));
}

// Reads word by word; unknown words become the flavour.
class GemmNameReader {
 public:
  explicit GemmNameReader(KernelName& kernel) : kernel_(kernel) {}

  void take(std::string_view word) {
    if (is_architecture(word)) {
      kernel_.architecture = word;
    } else if (!take_types(word) && !take_sizes(word) && !take_layout(word) &&
               !take_feature(word)) {
      kernel_.flavour.emplace_back(word);
    }
  }

 private:
  bool take_types(std::string_view word) {
    if (word.ends_with("gemm")) return take_instruction(word.substr(0, word.size() - 4));
    if (kernel_.function == "nvjet" && !nvjet_types_) return take_letters(word);
    if (kernel_.function == "xmma" && take_pair(word)) return true;
    const std::string_view dtype = word == "void" ? word : dtype_of(word);
    if (dtype.empty()) return false;
    if (kernel_.function == "xmma") {
      kernel_.accumulator = dtype;
      return true;
    }
    types_.push_back(dtype);
    // One type alone is of all tensors. CUTLASS 3 names A, B, sum, C and out.
    if (types_.size() == 1) kernel_.dtype = dtype;
    if (types_.size() == 3) kernel_.accumulator = dtype;
    if (types_.size() == 2 || types_.size() == 5) kernel_.out_dtype = dtype;
    return true;
  }

  // "s16816" of "s16816gemm": sums in fp32, 16 x 8 x 16 an instruction; "s" of "sgemm": all fp32.
  bool take_instruction(std::string_view instruction) {
    static constexpr std::array<std::pair<char, std::string_view>, 4> kSums{
        {{'s', "fp32"}, {'d', "fp64"}, {'h', "fp16"}, {'i', "int32"}}};
    if (instruction.empty()) return true;
    const std::string_view sum = find_text(kSums, instruction.front());
    if (sum.empty()) return false;
    kernel_.accumulator = sum;
    if (instruction.size() == 1) kernel_.dtype = sum;
    if (instruction.size() > 1) kernel_.flavour.emplace_back(instruction);
    return true;
  }

  bool take_letters(std::string_view word) {
    static constexpr std::array<std::pair<char, std::string_view>, 4> kLetters{
        {{'t', "bf16"}, {'h', "fp16"}, {'s', "fp32"}, {'d', "fp64"}}};
    nvjet_types_ = true;
    std::vector<std::string_view> types;
    for (const char letter : word) types.push_back(find_text(kLetters, letter));
    if (types.size() != 3 || std::ranges::count(types, "") > 0) return false;
    kernel_.dtype = types[0];
    kernel_.accumulator = types[1];
    kernel_.out_dtype = types[2];
    return true;
  }

  // xmma writes two types as one word. The first such word is A and B.
  bool take_pair(std::string_view word) {
    for (std::size_t cut = 2; cut + 2 <= word.size(); ++cut) {
      const std::string_view first = dtype_of(word.substr(0, cut));
      if (first.empty() || dtype_of(word.substr(cut)).empty() || !kernel_.dtype.empty()) continue;
      kernel_.dtype = first;
      return true;
    }
    return false;
  }

  bool take_sizes(std::string_view word) {
    if (word.starts_with("tilesize")) return take_size_list(sizes_of(word.substr(8)));
    if (word.starts_with("stage") && is_digits(word.substr(5))) {
      std::from_chars(word.data() + 5, word.data() + word.size(), kernel_.stages);
      return true;
    }
    return take_size_list(sizes_of(word));
  }

  // In this order: the tile; "64x4", its K and the stages, unless the tile has K; the cluster.
  bool take_size_list(std::vector<int> sizes) {
    if (sizes.empty()) return false;
    if (kernel_.tile.empty()) {
      kernel_.tile = std::move(sizes);
    } else if (kernel_.tile.size() == 2 && sizes.size() == 2) {
      kernel_.tile.push_back(sizes[0]);
      kernel_.stages = sizes[1];
    } else if (kernel_.cluster.empty()) {
      kernel_.cluster = std::move(sizes);
    } else {
      return false;
    }
    return true;
  }

  bool take_layout(std::string_view word) {
    const auto is_layout = [](char c) { return c == 't' || c == 'n' || c == 'T' || c == 'N'; };
    if (word.size() > 4 || !std::ranges::all_of(word, is_layout)) return false;
    std::string lower(word);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (kernel_.layout.empty() && lower.size() > 1) {
      kernel_.layout = lower.substr(0, 2);
      kernel_.out_layout = lower.substr(2);
    } else if (kernel_.out_layout.empty()) {
      kernel_.out_layout = lower;
    } else {
      return false;
    }
    return true;
  }

  bool take_feature(std::string_view word) {
    if (is_one_of(word, {"bias", "relu", "gelu", "dgelu", "drelu", "bgrad", "aux"})) {
      if (!kernel_.epilogue.empty()) kernel_.epilogue += '_';
      kernel_.epilogue += word;
      return true;
    }
    if (is_one_of(word, {"splitK", "splitk"})) return kernel_.split_k = true;
    return is_one_of(word, {"stages"});
  }

  KernelName& kernel_;
  std::vector<std::string_view> types_;
  bool nvjet_types_ = false;
};

KernelName read_words(std::string_view name, std::string_view library, std::string_view function,
                      const Words& words) {
  KernelName kernel;
  kernel.name = name;
  kernel.library = library;
  kernel.function = function;
  GemmNameReader reader(kernel);
  for (const std::string_view word : words) reader.take(word);
  // xmma spells it with an underscore.
  if (name.find("split_k") != std::string_view::npos) kernel.split_k = true;
  return kernel;
}

}  // namespace

std::string_view dtype_of(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kTypes{
      {{"bf16", "bf16"}, {"__nv_bfloat16", "bf16"}, {"BFloat16", "bf16"}, {"Bf16", "bf16"},
       {"f16", "fp16"},  {"fp16", "fp16"},          {"__half", "fp16"},   {"Half", "fp16"},
       {"Fp16", "fp16"}, {"f32", "fp32"},           {"fp32", "fp32"},     {"float", "fp32"},
       {"Fp32", "fp32"}, {"tf32", "tf32"},          {"f64", "fp64"},      {"double", "fp64"},
       {"e4m3", "e4m3"}, {"e5m2", "e5m2"},          {"s8", "int8"},       {"i8", "int8"}}};
  if (const std::size_t colon = type.rfind("::"); colon != std::string_view::npos) {
    type.remove_prefix(colon + 2);
  }
  return find_text(kTypes, type);
}

std::optional<KernelName> read_gemm_name(std::string_view name) {
  Words words = words_of(name);
  if (words.size() < 3) return std::nullopt;
  const auto without = [&words](std::size_t count) {
    return Words(words.begin() + static_cast<std::ptrdiff_t>(count), words.end());
  };
  if (words[0] == "nvjet") return read_words(name, "cublas", "nvjet", without(1));
  if (words[0] == "cutlass3x") return read_words(name, "cutlass", "gemm", without(1));
  if (words[0] == "cutlass") {
    const bool has_architecture = is_digits(words[1]);
    KernelName kernel = read_words(name, "cutlass", "gemm", without(has_architecture ? 2 : 1));
    if (has_architecture) kernel.architecture = "sm" + std::string(words[1]);
    return kernel;
  }
  const bool of_tensorrt = words[0] == "trt";
  if (of_tensorrt) words.erase(words.begin());
  if (!is_architecture(words[0])) return std::nullopt;
  if (words[1] == "xmma" && words[2] == "gemm") {
    words.erase(words.begin() + 1, words.begin() + 3);
    return read_words(name, "cublas", "xmma", words);
  }
  const auto is_gemm = [](std::string_view word) { return word.ends_with("gemm"); };
  if (std::ranges::none_of(words, is_gemm)) return std::nullopt;
  return read_words(name, of_tensorrt ? "tensorrt" : "cublas", "gemm", words);
}

}  // namespace fusegate::baselines
