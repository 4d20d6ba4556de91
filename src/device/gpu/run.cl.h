// Runs of RUN elements of type ELEMENT, which a work-item moves at once where all of them begin at a multiple of their size.
// An instance of a kernel includes it with its own types, hence no guard.
#ifdef __CUDACC__
typedef struct __align__(RUN * sizeof(ELEMENT)) {
#else
typedef struct __attribute__((aligned(RUN * sizeof(ELEMENT)))) {
#endif
  ELEMENT of[RUN];
} Run;

// Whether an array of rows of `count` elements is made of whole runs.
FUNCTION int in_runs(GLOBAL const ELEMENT* elements, long count) {
  return (ulong)elements % (RUN * sizeof(ELEMENT)) == 0 && count % RUN == 0;
}

// The elements from `from` on, of which `count` are there; the others are 0.
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
