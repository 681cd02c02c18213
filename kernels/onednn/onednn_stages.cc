#include "kernels/onednn/onednn_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "kernels/activations/activations.h"
#include "kernels/contract/number_format.h"
#ifdef FUSEGATE_SLOW_KERNEL
#include "kernels/onednn/planted_repeats.h"
#endif

namespace fusegate::kernels {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

memory::data_type data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp16:
      return memory::data_type::f16;
    case Dtype::kBf16:
      return memory::data_type::bf16;
    case Dtype::kFp32:
      return memory::data_type::f32;
    default:
      throw DeviceError("oneDNN stages do not support " + std::string(dtype_name(dtype)));
  }
}

memory row_major(OnednnDevice& device, const Tensor& t) {
  return {
      {{t.rows(), t.cols()}, data_type(t.dtype), memory::format_tag::ab}, device.engine(), t.data};
}

// The same memory as the matrix [cols, rows].
memory transposed(OnednnDevice& device, const Tensor& t) {
  return {
      {{t.cols(), t.rows()}, data_type(t.dtype), memory::format_tag::ba}, device.engine(), t.data};
}

// Either. stride: from a row of t to the next.
memory operand(OnednnDevice& device, const Tensor& t, bool is_transposed, std::int64_t stride) {
  const memory::dims sizes =
      is_transposed ? memory::dims{t.cols(), t.rows()} : memory::dims{t.rows(), t.cols()};
  const memory::dims strides = is_transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  return {{sizes, data_type(t.dtype), strides}, device.engine(), t.data};
}

struct Eltwise {
  std::string_view activation;
  algorithm how = algorithm::undef;
  float alpha = 0;
};

constexpr std::array kEltwise{
    Eltwise{"gelu_tanh", algorithm::eltwise_gelu_tanh},
    Eltwise{"silu", algorithm::eltwise_swish, 1},
    Eltwise{"gelu", algorithm::eltwise_gelu_erf},
    Eltwise{"relu", algorithm::eltwise_relu},
};

const Eltwise* find_eltwise(const Activation& activation) {
  const auto found = std::ranges::find(kEltwise, activation.name, &Eltwise::activation);
  return found == kEltwise.end() ? nullptr : &*found;
}

Eltwise eltwise_of(const Activation& activation) {
  if (const Eltwise* const found = find_eltwise(activation)) return *found;
  throw DeviceError(fmt::format("oneDNN does not support activation {}", activation.name));
}

void append_activation(dnnl::post_ops& ops, const Activation& activation) {
  const Eltwise eltwise = eltwise_of(activation);
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(eltwise.how, eltwise.alpha, 0);
#else
  ops.append_eltwise(1, eltwise.how, eltwise.alpha, 0);
#endif
}

void append_mul(dnnl::post_ops& ops, const memory& multiplier, Arguments& arguments) {
  ops.append_binary(algorithm::binary_mul, multiplier.get_desc());
  arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len() - 1) | DNNL_ARG_SRC_1, multiplier);
}

dnnl::primitive make_matmul(OnednnDevice& device, const Arguments& arguments,
                            const dnnl::post_ops& ops) {
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
  const auto desc = [&](int argument) {
    const auto found = arguments.find(argument);
    return found == arguments.end() ? memory::desc() : found->second.get_desc();
  };
  const auto x = desc(DNNL_ARG_SRC), w = desc(DNNL_ARG_WEIGHTS), bias = desc(DNNL_ARG_BIAS);
  const auto out = desc(DNNL_ARG_DST);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul(dnnl::matmul::primitive_desc(device.engine(), x, w, bias, out, attr));
#else
  return dnnl::matmul(
      dnnl::matmul::primitive_desc(dnnl::matmul::desc(x, w, bias, out), attr, device.engine()));
#endif
}

dnnl::primitive make_activation(OnednnDevice& device, const Activation& activation,
                                const memory::desc& desc) {
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  const Eltwise eltwise = eltwise_of(activation);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(
      device.engine(), kInference, eltwise.how, desc, desc, eltwise.alpha, 0));
#else
  const dnnl::eltwise_forward::desc forward(kInference, eltwise.how, desc, eltwise.alpha, 0);
  return dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(forward, device.engine()));
#endif
}

dnnl::primitive make_binary(OnednnDevice& device, algorithm how, const memory::desc& a,
                            const memory::desc& b, const memory::desc& out,
                            const dnnl::post_ops& ops) {
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::binary(dnnl::binary::primitive_desc(device.engine(), how, a, b, out, attr));
#else
  return dnnl::binary(
      dnnl::binary::primitive_desc(dnnl::binary::desc(how, a, b, out), attr, device.engine()));
#endif
}

std::function<void()> launcher(OnednnDevice& device, dnnl::primitive primitive,
                               Arguments arguments) {
  return [&stream = device.stream(), primitive = device.store(std::move(primitive)),
          arguments = std::move(arguments)] { primitive.execute(stream, arguments); };
}

std::function<void()> binary(OnednnDevice& device, algorithm how, const Tensor& a, const Tensor& b,
                             const Tensor& out) {
  const memory a_view = row_major(device, a), b_view = row_major(device, b);
  const memory out_view = row_major(device, out);
  return launcher(
      device,
      make_binary(device, how, a_view.get_desc(), b_view.get_desc(), out_view.get_desc(), {}),
      {{DNNL_ARG_SRC_0, a_view}, {DNNL_ARG_SRC_1, b_view}, {DNNL_ARG_DST, out_view}});
}

Arguments matmul_arguments(OnednnDevice& device, const Tensor& x, const Tensor& w,
                           const Tensor& out) {
  return {{DNNL_ARG_SRC, row_major(device, x)},
          {DNNL_ARG_WEIGHTS, transposed(device, w)},
          {DNNL_ARG_DST, row_major(device, out)}};
}

// For what oneDNN has no primitive for: calls f with each index from 0 to below count.
template <typename F>
void for_each_index(std::int64_t count, F f) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) f(i);
}

template <typename Functor>
void unit_backward(const UnitBackward& unit) {
  const Dtype dtype = unit.g.dtype;
  const auto load = [dtype](const Tensor& from, std::int64_t i) {
    return static_cast<float>(load_element(from.data, dtype, i));
  };
  const std::int64_t cols = unit.g.cols();
  const std::int64_t in = std::max(unit.in_stride, cols), out = std::max(unit.out_stride, cols);
  for_each_index(unit.g.count(), [&](std::int64_t i) {
    const std::int64_t from = i / cols * in + i % cols, to = i / cols * out + i % cols;
    const float g = load(unit.g, from), u = load(unit.u, from), dh = load(unit.dh, i);
    store_element(unit.dg.data, dtype, to, Functor::slope(g) * u * dh);
    store_element(unit.du.data, dtype, to, Functor::of(g) * dh);
    if (unit.h) store_element(unit.h->data, dtype, i, Functor::of(g) * u);
  });
}

template <typename Functor>
void packed_unit(const Tensor& gu, const Tensor& out) {
  const std::int64_t cols = out.cols();
  for_each_index(out.count(), [&](std::int64_t i) {
    const std::int64_t at = i / cols * 2 * cols + i % cols;
    const auto g = static_cast<float>(load_element(gu.data, gu.dtype, at));
    store_element(out.data, out.dtype, i,
                  Functor::of(g) * static_cast<float>(load_element(gu.data, gu.dtype, at + cols)));
  });
}

template <typename Functor>
void activation_backward(const Tensor& g, const Tensor& d, const Tensor& out) {
  for_each_index(g.count(), [&](std::int64_t i) {
    const auto x = static_cast<float>(load_element(g.data, g.dtype, i));
    store_element(out.data, g.dtype, i,
                  Functor::slope(x) * static_cast<float>(load_element(d.data, g.dtype, i)));
  });
}

}  // namespace

std::vector<Activation> onednn_activations() {
  std::vector<Activation> found;
  std::ranges::copy_if(kActivations, std::back_inserter(found), find_eltwise);
  return found;
}

std::string refuses_on_cpu(const Device& device, const Problem& problem) {
  if (problem.dtype != Dtype::kBf16 || __builtin_cpu_supports("avx512bf16")) return "";
  return fmt::format("{} cannot compute in bf16", device.name());
}

Stage OnednnStages::matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
                           const Tensor& out) {
  Stage stage = matmul_work(std::move(name), x, w, out, bias);
  Arguments arguments = matmul_arguments(device_, x, w, out);
  if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, row_major(device_, *bias));
  dnnl::primitive primitive = make_matmul(device_, arguments, {});
  stage.launch = launcher(device_, std::move(primitive), std::move(arguments));
  return stage;
}

Stage OnednnStages::matmul_gated(const Activation& activation, const Tensor& x, const Tensor& w,
                                 const Tensor& multiplier, const Tensor& out) {
  Stage stage = matmul_work("gate_proj_" + activation.gated_stage(), x, w, out);
  stage.flops += (activation.flops + 1) * static_cast<double>(out.count());
  stage.min_bytes += static_cast<double>(multiplier.bytes());
  Arguments arguments = matmul_arguments(device_, x, w, out);
  dnnl::post_ops ops;
  append_activation(ops, activation);
  append_mul(ops, row_major(device_, multiplier), arguments);
  dnnl::primitive primitive = make_matmul(device_, arguments, ops);
  stage.launch = launcher(device_, std::move(primitive), std::move(arguments));
  return stage;
}

Stage OnednnStages::bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) {
  Stage stage = pointwise_work("bias_add", 1, {&x, &bias}, out);
  stage.launch = binary(device_, algorithm::binary_add, x, bias, out);
  return stage;
}

Stage OnednnStages::activate(const Activation& activation, const Tensor& x, const Tensor& out) {
  Stage stage = pointwise_work(std::string(activation.stage), activation.flops, {&x}, out);
  const memory x_view = row_major(device_, x);
  stage.launch = launcher(device_, make_activation(device_, activation, x_view.get_desc()),
                          {{DNNL_ARG_SRC, x_view}, {DNNL_ARG_DST, row_major(device_, out)}});
  return stage;
}

Stage OnednnStages::mul(const Tensor& a, const Tensor& b, const Tensor& out) {
  Stage stage = pointwise_work("mul", 1, {&a, &b}, out);
  stage.launch = binary(device_, algorithm::binary_mul, a, b, out);
  return stage;
}

Stage OnednnStages::gate(const Activation& activation, const Tensor& g, const Tensor& u,
                         const Tensor& out) {
  Stage stage = gated_work(activation, {&g, &u}, out);
  // An eltwise primitive with a product as its post-op falls back to oneDNN's reference loop
  // (version 2.6: 2.6 ms instead of 13 us). A binary primitive's post-ops are compiled, and
  // max(g, g) is g.
  const memory g_view = row_major(device_, g), out_view = row_major(device_, out);
  Arguments arguments{{DNNL_ARG_SRC_0, g_view}, {DNNL_ARG_SRC_1, g_view}, {DNNL_ARG_DST, out_view}};
  dnnl::post_ops ops;
  append_activation(ops, activation);
  append_mul(ops, row_major(device_, u), arguments);
  stage.launch = launcher(device_,
                          make_binary(device_, algorithm::binary_max, g_view.get_desc(),
                                      g_view.get_desc(), out_view.get_desc(), ops),
                          std::move(arguments));
#ifdef FUSEGATE_SLOW_KERNEL
  stage = planted::slowed(std::move(stage));
#endif
  return stage;
}

Stage OnednnStages::product(std::string name, const Product& product) {
  Stage stage = product_work(std::move(name), product);
  const auto& [a, b, out, a_transposed, b_transposed, adds, a_stride] = product;
  Arguments arguments{
      {DNNL_ARG_SRC, operand(device_, a, a_transposed, std::max(a_stride, a.cols()))},
      {DNNL_ARG_WEIGHTS, operand(device_, b, b_transposed, b.cols())},
      {DNNL_ARG_DST, row_major(device_, out)}};
  dnnl::post_ops ops;
  if (adds) ops.append_sum();
  dnnl::primitive primitive = make_matmul(device_, arguments, ops);
  stage.launch = launcher(device_, std::move(primitive), std::move(arguments));
  return stage;
}

Stage OnednnStages::packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out) {
  Stage stage = gated_work(activation, {&gu}, out);
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    stage.launch = [=] { packed_unit<Functor>(gu, out); };
  });
  return stage;
}

Stage OnednnStages::activate_backward(const Activation& activation, const Tensor& g,
                                      const Tensor& d, const Tensor& out) {
  Stage stage = activate_backward_work(activation, g, d, out);
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    stage.launch = [=] { activation_backward<Functor>(g, d, out); };
  });
  return stage;
}

Stage OnednnStages::gate_backward(const Activation& activation, const UnitBackward& unit) {
  Stage stage = gated_backward_work(activation, unit);
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    stage.launch = [=] { unit_backward<Functor>(unit); };
  });
  return stage;
}

}  // namespace fusegate::kernels
