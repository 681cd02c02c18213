// For tests: a driver by which the second of two GPUs has a context of this process, as turn.cc
// asks for it. Preloaded, it is the libcuda.so.1 of the process.
extern "C" {

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == 1 ? 1 : 0;
  return 0;
}

}  // extern "C"
