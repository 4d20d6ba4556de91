// Loads and stores runs of RUN elements of type ELEMENT. A work-item loads or stores a run with one instruction if
// every run is aligned to its size. There is no include guard, because every instance of a kernel includes this file
// with its own types.
#ifdef __CUDACC__
typedef struct __align__(RUN * sizeof(ELEMENT)) {
#else
typedef struct __attribute__((aligned(RUN * sizeof(ELEMENT)))) {
#endif
  ELEMENT of[RUN];
} Run;

// Returns whether rows of `count` elements consist of whole, aligned runs.
FUNCTION int in_runs(GLOBAL const ELEMENT* elements, long count) {
  return (ulong)elements % (RUN * sizeof(ELEMENT)) == 0 && count % RUN == 0;
}

// Loads a run from `from`; elements after the first `count` are 0.
FUNCTION Run load_run(GLOBAL const ELEMENT* from, int count, int whole) {
  if (whole) return *(GLOBAL const Run*)from;
  Run run;
  for (int i = 0; i < RUN; ++i) run.of[i] = i < count ? from[i] : (ELEMENT)0;
  return run;
}

FUNCTION void store_run(GLOBAL ELEMENT* to, Run run, int count, int whole) {
  if (whole)
    *(GLOBAL Run*)to = run;
  else
    for (int i = 0; i < min(count, RUN); ++i) to[i] = run.of[i];
}
