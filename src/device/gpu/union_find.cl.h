// Connected components by lock-free union-find. The element labels[i] is the label of the parent, which is never larger
// than i, or i itself for a root. A stale label still leads to the root.

// Links every visited pixel to its parent's parent, which shortens later walks. A concurrent join() that this update
// undoes continues with the label that it replaced.
FUNCTION int find_root(GLOBAL int* labels, int i) {
  int parent = FRESH(int, labels + i);
  while (parent != i) {
    const int above = FRESH(int, labels + parent);
    if (above != parent) FRESH(int, labels + i) = above;
    i = parent;
    parent = above;
  }
  return i;
}

FUNCTION void join(GLOBAL int* labels, int a, int b) {
  for (;;) {
    a = find_root(labels, a);
    b = find_root(labels, b);
    if (a == b) return;
    const int high = max(a, b), low = min(a, b);
    const int before = atomic_min(labels + high, low);
    if (before == high) return;
    a = before;  // `before` is no longer a root, so its former parent must be joined instead
    b = low;
  }
}
