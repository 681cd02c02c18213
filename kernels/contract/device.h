// What a kernel runs on: memory, random inputs, and the double-precision arithmetic that checks its
// results. A process opens one device, which has one stream. Errors of the device's own library are
// thrown as DeviceError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/activation.h"
#include "kernels/contract/errors.h"
#include "kernels/contract/fill.h"
#include "kernels/contract/problem.h"
#include "kernels/contract/ranks.h"

namespace fusegate::kernels {

class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Device memory, freed with the object. data() is a device address.
class Memory {
 public:
  Memory() = default;
  Memory(void* data, std::size_t bytes, std::function<void(void*)> release)
      : data_(data, std::move(release)), bytes_(bytes) {}

  void* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, std::function<void(void*)>> data_{nullptr, [](void*) {}};
  std::size_t bytes_ = 0;
};

// A view of elements in device memory, row-major. A shape without axes is one number.
struct Tensor {
  void* data = nullptr;
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::kFp32;

  std::int64_t count() const;
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * dtype_bytes(dtype); }
  // As a matrix: columns are the last axis, rows all the others together.
  std::int64_t cols() const { return shape.empty() ? 1 : shape.back(); }
  std::int64_t rows() const;
};

// A gated unit's backward pass in doubles, as kernels/activations/unit_backward.h has it.
struct ReferenceBackward {
  const double *g, *u, *dh;
  double *dg, *du;
};

// Which elements of a matrix share a scale, their common factor: blocks of so many rows and
// columns, from the first element on, cut off at the matrix' end.
struct ScaleBlocks {
  std::int64_t rows = 1, columns = 1;

  // Of a matrix' scales: as many rows and columns as it has of blocks.
  std::vector<std::int64_t> shape(std::int64_t m, std::int64_t n) const {
    return {(m + rows - 1) / rows, (n + columns - 1) / columns};
  }
};

// Double precision on the device. Pointers are device addresses of row-major doubles.
class ReferenceMath {
 public:
  virtual ~ReferenceMath() = default;
  virtual void widen(const Tensor& in, double* out) = 0;
  virtual void copy(const double* in, double* out, std::int64_t count) = 0;
  // out[m, n] = x[m, k] w[n, k]^T, as a Linear layer stores its weight.
  virtual void matmul(const double* x, const double* w, double* out, std::int64_t m, std::int64_t n,
                      std::int64_t k) = 0;
  virtual void add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) = 0;
  // out = activation(g) * u
  virtual void gate(const Activation& activation, const double* g, const double* u, double* out,
                    std::int64_t count) = 0;
  virtual void gate_backward(const Activation& activation, const ReferenceBackward& unit,
                             std::int64_t count) = 0;
  // out[cols, rows] = in[rows, cols]^T; other memory.
  virtual void transpose(const double* in, double* out, std::int64_t rows, std::int64_t cols) = 0;
  // x[m, n] times its scales, each of a block of so many rows and columns; scales lie row by row of
  // blocks.
  virtual void apply_scales(const ScaleBlocks& blocks, const double* scales, double* x,
                            std::int64_t m, std::int64_t n) = 0;
  // values[i] *= 1 + unit * delta, where delta is random and uniform in [-1, 1).
  virtual void perturb(double* values, std::int64_t count, double unit, std::uint64_t seed) = 0;
  virtual Errors errors(const Tensor& out, const double* reference, const ErrorScale& scale) = 0;
  // The same of doubles instead of an output, one of so many; like: of their shape.
  virtual Errors spread(const double* perturbed, const Tensor& like, const double* reference,
                        std::int64_t repeats) = 0;

  ErrorNorms compare(const Tensor& out, const double* reference) {
    return errors(out, reference, {}).norms();
  }
};

// A stage's name to its choice (Stage::choice in kernel.h).
using StageChoices = std::map<std::string, std::string>;

// What an earlier process chose by measuring: taken again unless another is clearly faster.
// Required: taken without measuring, and an error where it is not among the candidates.
struct PinnedChoices {
  StageChoices choices{};
  bool required = false;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view kind() const = 0;  // "cuda", "cpu"
  // Of this process among those that measure together; one of one unless it joined others.
  Ranks& ranks() const { return *ranks_; }
  const std::shared_ptr<Ranks>& shared_ranks() const { return ranks_; }
  void join(std::shared_ptr<Ranks> ranks) { ranks_ = std::move(ranks); }
  virtual std::string name() const = 0;  // such as "NVIDIA H200"
  // Identifies this device among others of its model; empty where it has none.
  virtual std::string uuid() const = 0;
  // The software that decides its speed, such as {"cublas", "13.1.0"}.
  virtual std::map<std::string, std::string> versions() const = 0;
  virtual std::size_t available_bytes() const = 0;
  // Throws DeviceError where memory is short. Contents are undefined.
  virtual Memory allocate(std::size_t bytes) = 0;
  // The same outside of memory layouts: it may stay in use while others are laid out.
  virtual Memory allocate_lasting(std::size_t bytes) { return allocate(bytes); }
  // Starts the memory layout of that number: the same allocations get the same distances from each
  // other in every process. False, and nothing changes, where the device cannot choose. Throws
  // std::logic_error while memory of the previous layout is in use.
  virtual bool lay_out(std::uint64_t number) = 0;
  // Any fill but Fill::values.
  virtual void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) = 0;
  // Every byte 0xff: NaN in every floating-point dtype, and -1 as a signed integer.
  virtual void poison(const Tensor& tensor) = 0;
  // Enqueued, within the device; the two must not overlap.
  virtual void copy(const void* from, void* to, std::size_t bytes) = 0;
  virtual void copy_to_host(const void* from, std::span<std::byte> to) = 0;
  virtual void copy_to_device(std::span<const std::byte> from, void* to) = 0;
  // A hash of the tensor's bytes and their order.
  virtual std::uint64_t digest(const Tensor& tensor) = 0;
  // For the kernels prepared from now on, where the device chooses by measuring.
  virtual void pin_choices(const PinnedChoices&) {}
  // What work is enqueued on, as the device's own library has it (cudaStream_t); null where it has
  // none.
  virtual void* native_stream() const { return nullptr; }
  // Waits for all enqueued work and throws its errors.
  virtual void synchronize() = 0;
  virtual ReferenceMath& reference_math() = 0;

 private:
  std::shared_ptr<Ranks> ranks_ = std::make_shared<Ranks>();
};

// A tensor in new memory, which is appended to owner. Throws DeviceError where memory is short.
Tensor allocate_tensor(Device& device, std::vector<std::int64_t> shape, Dtype dtype,
                       std::vector<Memory>& owner);

// How a kind of device is opened; registered by the folder that implements it. A kind has one
// registration for each library that it can be opened with.
struct DeviceKind {
  std::string name;
  // Of one kind, or of all for "auto", the one with the highest preference that is present is
  // opened.
  int preference = 0;
  // The one of that number, from 0 on. Null where this machine has no such device at all; throws
  // DeviceError where it has fewer.
  std::function<std::unique_ptr<Device>(int number)> open;
  // How many there are; by default any number.
  std::function<int()> count = [] { return std::numeric_limits<int>::max(); };
};

class DeviceRegistration {
 public:
  explicit DeviceRegistration(DeviceKind kind);
};

// kind: a registered kind's name, or "auto". Throws DeviceError naming the kinds there are, and
// where there are fewer devices.
std::unique_ptr<Device> open_device(std::string_view kind, int number = 0);

// Of those that it would open; 0 where there is none.
int device_count(std::string_view kind);

}  // namespace fusegate::kernels
