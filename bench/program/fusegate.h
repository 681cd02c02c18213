/* fusegate's measuring engine for programs in other languages.
 *
 * A program registers operations and implementations, as kernels in C++ do
 * (kernels/contract/kernel.h says what each field means), and calls fusegate_main() with a command
 * line: that of fusegate_bench. Planning, checking, timing, watching, identifying, tracing and
 * recording are the engine's. The program's functions are called on the thread that called
 * fusegate_main().
 *
 * Every function of the program returns NULL, or a text that says what failed; the engine copies it
 * before it calls the next one. Strings are UTF-8. Arrays and strings that a program hands over
 * need live only as long as the call, unless said otherwise. */
#ifndef FUSEGATE_H
#define FUSEGATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever anything below changes. A program compares it with fusegate_abi() before it calls
 * anything else. */
#define FUSEGATE_ABI 4
int fusegate_abi(void);
/* "1.0.0". */
const char* fusegate_version(void);

typedef const char* fusegate_error; /* NULL where nothing failed */

typedef struct fusegate_axis {
  const char* name;
  int64_t size;     /* 0 where the value is no size, but a fraction, "true", "false" or a name */
  const char* text; /* the value as benchmark names have it: "1024", "0.5", "true", "gelu" */
} fusegate_axis;

typedef struct fusegate_problem {
  const char* dtype; /* "bf16" */
  const fusegate_axis* axes;
  size_t axis_count;
} fusegate_problem;

/* Row-major elements at a device address. A reference gets doubles: dtype "fp64". */
typedef struct fusegate_tensor {
  void* data;
  const int64_t* shape;
  size_t rank;
  const char* dtype;
} fusegate_tensor;

typedef enum fusegate_fill {
  FUSEGATE_UNIFORM,  /* in [first, second) */
  FUSEGATE_NORMAL,   /* mean first, standard deviation second */
  FUSEGATE_INTEGERS, /* uniform in [first, second] */
  FUSEGATE_CONSTANT, /* first */
  FUSEGATE_FILLED    /* by fusegate_operation.fill */
} fusegate_fill;

typedef struct fusegate_tensor_spec {
  const char* name;
  const int64_t* shape;
  size_t rank;
  const char* dtype;  /* NULL: the problem's */
  fusegate_fill fill; /* of an input */
  double first, second;
  double tolerance;        /* of an output, relative to the norm; negative: the dtype's */
  const char* in_place_of; /* of an output: the input that it overwrites, or NULL */
  int is_weight; /* of an input: it stays from call to call, so that preparing a call may pack it */
  int is_exact;  /* of an input: its numbers are used as they are, as scales; no rounding of theirs
                  */
  int split_axis; /* of an operation with the axis "ranks": along which each rank holds its part, in
                     the order of ranks; of an output 0. Negative: each holds the whole. shape is
                     that of the whole, which fill and reference see */
} fusegate_tensor_spec;

typedef struct fusegate_tensor_specs fusegate_tensor_specs;
void fusegate_add_tensor(fusegate_tensor_specs* specs, const fusegate_tensor_spec* spec);

/* What is computed. self is handed to its functions. */
typedef struct fusegate_operation {
  const char* name;
  const char* registered_at; /* "file:line", for messages */
  const char* const* axes;
  size_t axis_count;
  const fusegate_problem*
      problems; /* its own: what a sweep measures that leaves out axes or dtype */
  size_t problem_count;
  int is_control;
  const char* compared_with; /* an implementation, or NULL */
  void* self;
  fusegate_error (*inputs)(void* self, const fusegate_problem* problem,
                           fusegate_tensor_specs* specs);
  fusegate_error (*outputs)(void* self, const fusegate_problem* problem,
                            fusegate_tensor_specs* specs);
  /* Writes an input, alike for the same seed. */
  fusegate_error (*fill)(void* self, const fusegate_problem* problem, size_t input, uint64_t seed,
                         const fusegate_tensor* tensor);
  /* Computes outputs in double precision. */
  fusegate_error (*reference)(void* self, const fusegate_problem* problem,
                              const fusegate_tensor* inputs, size_t input_count,
                              const fusegate_tensor* outputs, size_t output_count);
} fusegate_operation;

/* A call made ready, in one memory layout. */
typedef struct fusegate_call fusegate_call;
/* launch enqueues the stage's work on fusegate_stream(); it is captured into a CUDA graph where
 * that is possible. NULL where another stage's launch does it, and marks it by this name; one stage
 * at least has a launch. */
typedef struct fusegate_stage {
  const char* name;   /* "gate_proj" */
  double flops;       /* 0: unknown */
  double min_bytes;   /* each operand read once, the result written once; 0: unknown */
  const char* choice; /* what was chosen for the problem, such as a tile; recorded with the times.
                         Or NULL */
  fusegate_error (*launch)(void* self);
  void* self;
} fusegate_stage;
void fusegate_add_stage(fusegate_call* call, const fusegate_stage* stage);
/* Where launches leave results in memory of their own: collect copies those of the last launch to
 * the outputs, also after a graph that was captured from it has run. Memory that launches allocate
 * must live as long as the call. */
void fusegate_set_collect(fusegate_call* call, fusegate_error (*collect)(void* self), void* self);
/* Called when the call is needed no more. */
void fusegate_set_release(fusegate_call* call, void (*release)(void* self), void* self);

typedef struct fusegate_implementation {
  const char* operation;
  const char* name;
  const char* device; /* "cuda", "cpu" */
  const char* registered_at;
  const char* const* dtypes;
  size_t dtype_count;
  void* self;
  /* Sets *why to the reason where it cannot compute the problem. May be NULL. */
  fusegate_error (*refuses)(void* self, const fusegate_problem* problem, const char** why);
  /* Makes it ready: adds at least one stage. Not timed. */
  fusegate_error (*prepare)(void* self, const fusegate_problem* problem,
                            const fusegate_tensor* inputs, size_t input_count,
                            const fusegate_tensor* outputs, size_t output_count,
                            fusegate_call* call);
} fusegate_implementation;

/* Before fusegate_main(). self and the functions must outlive it. */
void fusegate_add_operation(const fusegate_operation* operation);
void fusegate_add_implementation(const fusegate_implementation* implementation);

/* Of the process's device: its kind, "cuda" or "cpu", and its stream, a cudaStream_t, or NULL on a
 * CPU. Within the program's functions, but for refuses. */
const char* fusegate_device(void);
void* fusegate_stream(void);

/* Of the processes that compute the problem together, a device each: which one this is, from 0, and
 * how many there are: the problem's axis "ranks", or all that were started. A program alone is 0 of
 * 1. Within the program's functions, but for refuses. */
int fusegate_rank(void);
int fusegate_ranks(void);

/* What each rank gives, for all of them; it waits for them. receive is called once for each, in
 * order. what: for what it is, such as "nccl id"; the same on all ranks. It is for setting up: of
 * hosts, tens of microseconds, and no part of what a CUDA graph captures. Where a rank has ended,
 * failed or is at another point, it says so, and so it does on all ranks; the function that called
 * it fails then, whatever it returns. */
typedef void (*fusegate_receive)(void* self, int rank, const void* data, size_t bytes);
fusegate_error fusegate_gather(const char* what, const void* data, size_t bytes,
                               fusegate_receive receive, void* self);

/* Marks what launch enqueues from here to fusegate_end_stage() on this thread as a stage: profiles,
 * traces and NVTX ranges have it under this name. A stage that fusegate_add_stage declared with the
 * name is that stage. Stages nest, and the innermost counts; what launch leaves open ends with it.
 * Nothing happens outside of a launch or where nobody records it, and little time passes. */
void fusegate_begin_stage(const char* name);
void fusegate_end_stage(void);

typedef struct fusegate_program {
  const char* name;   /* for help and messages */
  const char* suite;  /* JSON of the suite that is measured where --suite names none, or NULL */
  const char* suites; /* the folder of named suites, or NULL */
  int takes_foreign_suites; /* suites are another program's: of what they name, this one measures
                               the operations that it has, with all of its implementations */
  const char* versions; /* JSON object: software that decides speeds, such as {"torch": "2.11.0"},
                           or NULL */
  const char* commit;   /* of the kernels' repository, or NULL */
  int dirty;            /* it has changes that are not committed */
  const char* const*
      restart; /* the path of an executable and its arguments, which start this program again, ended
                  by NULL: after a lost device, the engine replaces the process by a fresh one that
                  measures the other benchmarks; and other ranks are started so */
  /* Called once, when the device and the ranks are known, before any function of an operation. The
   * environment then has RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT where there are
   * several ranks. May be NULL. */
  fusegate_error (*opened)(void* self);
  void* self;
} fusegate_program;

/* Measures, plans, identifies or traces as argv says (fusegate_bench --help). argv[0] is not read.
 * Returns the exit code: 0, or 2 after an error, which was printed to standard error. Call it once
 * a process. */
int fusegate_main(int argc, const char* const* argv, const fusegate_program* program);

#ifdef __cplusplus
}
#endif
#endif
