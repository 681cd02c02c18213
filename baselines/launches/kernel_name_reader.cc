#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>

#include "baselines/launches/gemm_name.h"
#include "baselines/launches/kernel_name.h"

namespace fusegate::baselines {
namespace {

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

// "void a::b<c, d<e>>(f)" in parts: path "a::b", arguments {"c", "d<e>"}.
struct TemplateName {
  std::string path;
  std::vector<std::string> arguments;
};

// The position of the first of `wanted` outside of brackets.
std::size_t find_outside(std::string_view text, std::string_view wanted) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && wanted.find(text[i]) != std::string_view::npos) return i;
    if (std::string_view("<({[").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(">)}]").find(text[i]) != std::string_view::npos) --depth;
  }
  return std::string_view::npos;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

std::vector<std::string> arguments_of(std::string_view list) {
  std::vector<std::string> arguments;
  while (!list.empty()) {
    const std::size_t comma = std::min(find_outside(list, ","), list.size());
    arguments.push_back(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return arguments;
}

TemplateName template_name(std::string text) {
  for (const std::string_view unnamed :
       {"(anonymous namespace)::", "<unnamed>::", "(int)", "(bool)", "(unsigned int)"}) {
    for (std::size_t at = 0; (at = text.find(unnamed, at)) != text.npos;) {
      text.erase(at, unnamed.size());  // Nsight writes "<(int)4>" where others write "<4>"
    }
  }
  std::string_view rest = text;
  rest = rest.substr(0, find_outside(rest, "("));
  for (std::size_t space; (space = find_outside(rest, " ")) != std::string_view::npos;) {
    rest.remove_prefix(space + 1);  // the type that it returns
  }
  const std::size_t open = find_outside(rest, "<");
  TemplateName name{std::string(rest.substr(0, open)), {}};
  if (open != std::string_view::npos && rest.ends_with('>')) {
    name.arguments = arguments_of(rest.substr(open + 1, rest.size() - open - 2));
  }
  return name;
}

std::string last_part(std::string_view path) {
  const std::size_t colon = path.rfind("::");
  return std::string(colon == std::string_view::npos ? path : path.substr(colon + 2));
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string_view> identifiers_of(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) found.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return found;
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view first_dtype(std::string_view text) {
  for (const std::string_view word : identifiers_of(text)) {
    if (const std::string_view dtype = dtype_of(word); !dtype.empty()) return dtype;
  }
  return {};
}

std::optional<KernelName> read_triton(const std::string& name) {
  static constexpr std::string_view kPrefix = "triton_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::string_view rest = std::string_view(name).substr(kPrefix.size());
  const std::size_t kind_end = std::min(rest.find('_'), rest.size());
  KernelName kernel;
  kernel.library = "triton";
  kernel.function = rest.substr(0, kind_end);  // poi, red, per, tem, for, mm
  rest.remove_prefix(std::min(kind_end + 1, rest.size()));
  const std::size_t last = rest.rfind('_');
  const std::string_view number = last == std::string_view::npos ? rest : rest.substr(last + 1);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (!number.empty() && std::ranges::all_of(number, is_digit)) {
    kernel.number = number;
    rest = rest.substr(0, last == std::string_view::npos ? 0 : last);
  }
  // Operations are joined by what their own names hold too ("_to_copy_add"), so they stay together.
  if (rest.starts_with("fused")) rest.remove_prefix(std::min<std::size_t>(rest.size(), 6));
  kernel.operations = rest;
  return kernel;
}

// Of "vectorized_elementwise_kernel<4, BinaryFunctor<..., MulFunctor<float>>, ...>" the MulFunctor.
std::string functor_of(std::string_view arguments) {
  static constexpr std::array<std::string_view, 4> kWrappers{"BinaryFunctor", "AUnaryFunctor",
                                                             "BUnaryFunctor", "UnaryFunctor"};
  std::string wrapper;
  for (const std::string_view word : identifiers_of(arguments)) {
    const bool is_operation = word.find("Functor") != std::string_view::npos ||
                              word.ends_with("KernelImpl") || word.ends_with("_kernel_cuda") ||
                              word.ends_with("_kernel_impl");
    if (!is_operation) continue;
    if (std::ranges::find(kWrappers, word) == kWrappers.end()) return std::string(word);
    if (wrapper.empty()) wrapper = word;
  }
  return wrapper;
}

KernelName read_pytorch(const TemplateName& parts) {
  KernelName kernel;
  kernel.library = "pytorch";
  kernel.function = last_part(parts.path);
  const std::string arguments = joined(parts.arguments);
  kernel.operations = functor_of(arguments);
  kernel.dtype = first_dtype(arguments);
  return kernel;
}

std::optional<KernelName> read_cublas(const TemplateName& parts) {
  static constexpr std::array<std::string_view, 9> kKnown{
      "splitKreduce_kernel", "gemv2T_kernel_val", "gemv2N_kernel",
      "gemvNSP_kernel",      "gemmSN_TN_kernel",  "gemmSN_NN_kernel",
      "gemmk1_kernel",       "dot_kernel",        "reduce_1Block_kernel"};
  KernelName kernel;
  kernel.library = "cublas";
  kernel.function = last_part(parts.path);
  if (parts.path.ends_with("gemvx::kernel")) {
    kernel.function = "gemvx";
  } else if (std::ranges::find(kKnown, kernel.function) == kKnown.end() &&
             !parts.path.starts_with("cublasLt::")) {
    return std::nullopt;
  }
  std::vector<std::string> values;
  for (const std::string& argument : parts.arguments) {
    if (argument.find("cublasGemv") != std::string::npos) continue;  // repeats the types
    values.push_back(dtype_of(argument).empty() ? argument : std::string(dtype_of(argument)));
  }
  kernel.dtype = first_dtype(joined(parts.arguments));
  kernel.arguments = joined(values);
  kernel.split_k = kernel.function == "splitKreduce_kernel";
  return kernel;
}

// "TileShape<Bf16, 96>" of "a::b::TileShape<a::Bf16, 96>".
std::string without_namespaces(std::string_view text) {
  std::string result;
  std::size_t word = 0;  // where the last one begins in the result
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("::")) {
      result.resize(word);
      ++i;
      continue;
    }
    if (is_word(text[i]) && (i == 0 || !is_word(text[i - 1]))) word = result.size();
    result += text[i];
  }
  return result;
}

// Any other C++ function in a namespace, which names the library.
std::optional<KernelName> read_cpp(const TemplateName& parts) {
  const auto is_of_a_path = [](char c) { return is_word(c) || c == ':'; };
  const std::vector<std::string_view> path = identifiers_of(parts.path);
  if (path.size() < 2 || !std::ranges::all_of(parts.path, is_of_a_path)) return std::nullopt;
  KernelName kernel;
  kernel.is_any_cpp = true;
  kernel.library = path.front();
  kernel.function = path.back();
  for (const std::string_view space : path) {
    if (space.starts_with("sm") && space.size() > 2 && std::isdigit(space[2])) {
      kernel.architecture = space;
    }
  }
  kernel.dtype = first_dtype(joined(parts.arguments));
  kernel.arguments = without_namespaces(joined(parts.arguments));
  return kernel;
}

// CUTLASS 2 names its kernel by the template's argument: cutlass::Kernel2<cutlass_80_...>.
std::optional<KernelName> read_cutlass(const TemplateName& parts) {
  if (!parts.path.starts_with("cutlass::")) return std::nullopt;
  if (!parts.arguments.empty()) {
    if (auto kernel = read_gemm_name(last_part(parts.arguments[0]))) return kernel;
  }
  KernelName kernel;
  kernel.library = "cutlass";
  kernel.function = last_part(parts.path);
  kernel.arguments = joined(parts.arguments);
  kernel.dtype = first_dtype(kernel.arguments);
  return kernel;
}

KernelName read_parts(const std::string& name) {
  if (auto kernel = read_gemm_name(name)) return *kernel;
  if (auto kernel = read_triton(name)) return *kernel;
  const TemplateName parts = template_name(name);
  if (parts.path.starts_with("at::native::")) return read_pytorch(parts);
  if (auto kernel = read_cutlass(parts)) return *kernel;
  if (auto kernel = read_cublas(parts)) return *kernel;
  return read_cpp(parts).value_or(KernelName());
}

}  // namespace

KernelName read_kernel_name(std::string_view name) {
  // CUTLASS's longest have some 20 kB. Taking a name apart costs the square of its length.
  constexpr std::size_t kLongest = 64 << 10;
  const std::string whole = name.size() > kLongest ? std::string(name) : demangled(name);
  KernelName kernel;
  if (whole.size() <= kLongest) kernel = read_parts(whole);
  kernel.name = whole;
  return kernel;
}

}  // namespace fusegate::baselines
