// Connected components by union-find, without locks: labels[i] is the label of a parent, which is never larger, or i
// itself for a root. Labels that are read late are old ones, and those still lead to the root.

// On the way every pixel is hung to its parent's parent, which shortens the way of those that come later. Where that
// undoes a join() that ran at the same time, that one goes on with what the pixel hung from.
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
    a = before;  // it was no root any more: what it hung from is still to be joined
    b = low;
  }
}
