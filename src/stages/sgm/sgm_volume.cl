// Semi-global matching from a cost volume: sgm.hpp.
//
// A group of 32 work-items processes one or more adjacent lines of an image, LANES work-items per line. It follows each
// line forwards and then backwards, so that it computes two opposite directions. All lines of a pair of directions have
// the same number of pixels: a diagonal line that leaves the image at its left or right border continues in the next row
// at the other border, where a new path starts. One launch processes all pairs of directions.
//
// A work-item has CELLS adjacent disparities, in pairs of 16-bit lanes. A quad of four disparities d … d + 3 has its
// even disparities (d, d + 2) in one word and its odd disparities (d + 1, d + 3) in another, so that the neighbours of
// one word are mostly the other word. The work-item keeps the path costs at the previous pixel, minus their minimum.
// The kernel stores L_r − C, which is at most P2. The two directions of a pair are added in a slot of the cell, of
// SLOT_BYTES. The kernel `sum` adds the slots and the costs. The costs and slots of AHEAD pixels are
// loaded while the AHEAD pixels before them are processed.
//
// Traffic per cell with 8-bit costs and slots: 5 bytes for each pair of directions, and 3 + number of pairs for the
// sum, or 27 bytes for 8 paths and 15 bytes for 4 paths. Operations: about 20 per direction and quad.
//
// instance u8_64: COST=uchar COST_BYTES=1 SLOT_BYTES=1 LANES=4 CELLS=16 AHEAD=4
// instance u8_128: COST=uchar COST_BYTES=1 SLOT_BYTES=1 LANES=8 CELLS=16 AHEAD=4
// instance u8_256: COST=uchar COST_BYTES=1 SLOT_BYTES=1 LANES=16 CELLS=16 AHEAD=4
// instance u8_512: COST=uchar COST_BYTES=1 SLOT_BYTES=1 LANES=32 CELLS=16 AHEAD=4
// instance u8_1024: COST=uchar COST_BYTES=1 SLOT_BYTES=1 LANES=32 CELLS=32 AHEAD=2
// instance u8_u16_64: COST=uchar COST_BYTES=1 SLOT_BYTES=2 LANES=4 CELLS=16 AHEAD=2
// instance u8_u16_128: COST=uchar COST_BYTES=1 SLOT_BYTES=2 LANES=8 CELLS=16 AHEAD=2
// instance u8_u16_256: COST=uchar COST_BYTES=1 SLOT_BYTES=2 LANES=16 CELLS=16 AHEAD=2
// instance u8_u16_512: COST=uchar COST_BYTES=1 SLOT_BYTES=2 LANES=32 CELLS=16 AHEAD=2
// instance u8_u16_1024: COST=uchar COST_BYTES=1 SLOT_BYTES=2 LANES=32 CELLS=32 AHEAD=1
// instance u16_64: COST=ushort COST_BYTES=2 SLOT_BYTES=2 LANES=4 CELLS=16 AHEAD=2
// instance u16_128: COST=ushort COST_BYTES=2 SLOT_BYTES=2 LANES=8 CELLS=16 AHEAD=2
// instance u16_256: COST=ushort COST_BYTES=2 SLOT_BYTES=2 LANES=16 CELLS=16 AHEAD=2
// instance u16_512: COST=ushort COST_BYTES=2 SLOT_BYTES=2 LANES=32 CELLS=16 AHEAD=2
// instance u16_1024: COST=ushort COST_BYTES=2 SLOT_BYTES=2 LANES=32 CELLS=32 AHEAD=1
#include "device/gpu/vocabulary.h"
#include "device/gpu/pairs.cl.h"
#include "stages/sgm/sgm_volume.cl.h"

#undef QUADS
#undef COST_WORDS
#undef SLOT_WORDS
#undef LINES
#define QUADS (CELLS / 4)
#define COST_WORDS (QUADS * COST_BYTES)  // words of a work-item's costs at a pixel
#define SLOT_WORDS (QUADS * SLOT_BYTES)  // words of a work-item's slots at a pixel
#define LINES (32 / LANES)

// The number of words of all slots of a pixel.
FUNCTION long slot_pitch(int disparities) { return (long)((disparities + CELLS - 1) / CELLS) * SLOT_WORDS; }

// Loads `count` words, a multiple of four, from an aligned address.
#define LOAD_WORDS(to, from, count)                              \
  for (int load = 0; load < (count) / 4; ++load) {               \
    const uint4 four = ((GLOBAL const uint4*)(from))[load];      \
    (to)[4 * load] = four.x;                                     \
    (to)[4 * load + 1] = four.y;                                 \
    (to)[4 * load + 2] = four.z;                                 \
    (to)[4 * load + 3] = four.w;                                 \
  }
// Loads the costs of a work-item, of which `count` exist. `unit` is the number of costs that a load may read at once.
#define LOAD_COSTS(to, from, count, unit)                                                                    \
  if ((unit) == CELLS) {                                                                                     \
    LOAD_WORDS(to, from, COST_WORDS)                                                                         \
  } else {                                                                                                   \
    for (int i = 0; i < COST_WORDS; ++i) (to)[i] = 0;                                                  \
    if ((unit) == 4) {                                                                                       \
      for (int i = 0; i < COST_WORDS; ++i)                                                            \
        if (i * 4 / COST_BYTES < (count)) (to)[i] = ((GLOBAL const uint*)(from))[i];                         \
    } else {                                                                                                 \
      for (int i = 0; i < CELLS; ++i)                                                                 \
        if (i < (count)) (to)[i * COST_BYTES / 4] |= (uint)(from)[i] << 8 * (i * COST_BYTES % 4);            \
    }                                                                                                        \
  }
// Returns the number of costs that a load may read at once, with `pitch` costs per pixel.
FUNCTION int load_unit(GLOBAL const COST* costs, int pitch) {
  const ulong address = (ulong)costs;
  if (pitch % CELLS == 0 && address % 16 == 0) return CELLS;
  return pitch % 4 == 0 && address % (4 * COST_BYTES) == 0 ? 4 : 1;
}

// Split a quad of 8-bit or 16-bit values into words of even and of odd elements.
#define EVEN8(words, quad) ((words)[quad] & 0x00FF00FFu)
#define ODD8(words, quad) ((words)[quad] >> 8 & 0x00FF00FFu)
#define EVEN16(words, quad) (((words)[2 * (quad)] & 0xFFFFu) | (words)[2 * (quad) + 1] << 16)
#define ODD16(words, quad) ((words)[2 * (quad)] >> 16 | ((words)[2 * (quad) + 1] & 0xFFFF0000u))
#undef EVEN_COSTS
#undef ODD_COSTS
#undef EVEN_SLOTS
#undef CLAMPED
#undef ODD_SLOTS
#if COST_BYTES == 1
#define EVEN_COSTS EVEN8
#define ODD_COSTS ODD8
#define CLAMPED(costs, most) min_of_pairs(costs, most)
#else
#define EVEN_COSTS EVEN16
#define ODD_COSTS ODD16
// 16-bit costs may exceed the values that min_of_pairs compares.
#define CLAMPED(costs, most) (min((costs) & 0xFFFFu, (most) & 0xFFFFu) | min((costs) & 0xFFFF0000u, (most) & 0xFFFF0000u))
#endif
#if SLOT_BYTES == 1
#define EVEN_SLOTS EVEN8
#define ODD_SLOTS ODD8
#else
#define EVEN_SLOTS EVEN16
#define ODD_SLOTS ODD16
#endif

// The position of a work-item on its line, and the step to the next pixel.
typedef struct {
  int x, y, step_x, step_y;
} Walk;

// Returns the walk along a line that starts at pixel `line` of the first row or column, or the walk back from its end.
FUNCTION Walk walk_of(int line, int dx, int dy, int back, int width, int height) {
  Walk walk;
  walk.x = dy ? line : 0;
  walk.y = dy ? 0 : line;
  walk.step_x = back ? -dx : dx;
  walk.step_y = back ? -dy : dy;
  if (back) {
    walk.x = (walk.x + dx * ((dy ? height : width) - 1)) % width;
    if (walk.x < 0) walk.x += width;
    if (dy) walk.y = height - 1;
  }
  return walk;
}

// Moves to the next pixel. Returns whether the line left the image at its left or right border, so that a path starts.
FUNCTION int advance(Walk* walk, int width) {
  walk->x += walk->step_x;
  walk->y += walk->step_y;
  const int leaves = walk->x == width || walk->x < 0;
  if (walk->x == width) walk->x = 0;
  if (walk->x < 0) walk->x = width - 1;
  return leaves;
}

// The places of a work-item's costs and slots in memory.
typedef struct {
  GLOBAL const COST* costs;  // costs of the first pixel
  GLOBAL uint* slots;        // slots of the first pixel
  long pitch;                // number of words of all slots of a pixel
  int cost_pitch;            // number of costs of a pixel
  int unit;                  // number of costs that a load may read at once
  int count;                 // number of disparities from the first one of the work-item on
  int width;                 // width of the image
} Memory;

// The costs and slots of a work-item at a pixel, and the grey value of the pixel.
typedef struct {
  uint costs[COST_WORDS], slots[SLOT_WORDS];
  int grey;
} Pixel;

// Loads a pixel. The slots are loaded on the way back. A work-item that is not active loads only the grey value.
FUNCTION void load_pixel(Pixel* pixel, const Memory* memory, const Walk* walk, IMAGE(const uchar, guide), int back,
                         int active) {
  const long at = (long)walk->y * memory->width + walk->x;
  if (active) {
    GLOBAL const COST* from = memory->costs + at * memory->cost_pitch;
    LOAD_COSTS(pixel->costs, from, memory->count, memory->unit)
    if (back) {
      LOAD_WORDS(pixel->slots, memory->slots + at * memory->pitch, SLOT_WORDS)
    }
  }
  pixel->grey = GIVEN(guide) ? PIXEL(guide, walk->x, walk->y) : 0;
}

FUNCTION void store_slots(const Pixel* pixel, const Memory* memory, const Walk* walk) {
  GLOBAL uint4* out = (GLOBAL uint4*)(memory->slots + ((long)walk->y * memory->width + walk->x) * memory->pitch);
#pragma unroll
  for (int i = 0; i < SLOT_WORDS / 4; ++i) {
    uint4 four;
    four.x = pixel->slots[4 * i];
    four.y = pixel->slots[4 * i + 1];
    four.z = pixel->slots[4 * i + 2];
    four.w = pixel->slots[4 * i + 3];
    out[i] = four;
  }
}

// The path costs of a work-item at the previous pixel, minus their minimum over all disparities.
typedef struct {
  uint even[QUADS], odd[QUADS];
  uint before, after;                      // costs before the first disparity (upper half), after the last one (lower)
  uint keep_even[QUADS], keep_odd[QUADS];  // masks of the disparities that exist
} Path;

FUNCTION void set_masks(Path* path, int count) {
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    const int left = count - 4 * q;
    path->keep_even[q] = (left > 0 ? 0xFFFFu : 0) | (left > 2 ? 0xFFFF0000u : 0);
    path->keep_odd[q] = (left > 1 ? 0xFFFFu : 0) | (left > 3 ? 0xFFFF0000u : 0);
  }
}

// Sets the path costs before the first pixel of a line: those of a boundary state, `entering`, or 0 if it is null.
FUNCTION void begin_path(Path* path, GLOBAL const ushort* entering, int lane, int disparities) {
  const int first = lane * CELLS;
  path->before = BEYOND << 16;
  path->after = BEYOND;
#pragma unroll
  for (int q = 0; q < QUADS; ++q) path->even[q] = path->odd[q] = 0;
  if (entering == 0) return;
#pragma unroll
  for (int i = 0; i < CELLS; ++i) {
    const uint value = first + i < disparities ? (uint)entering[first + i] : BEYOND;
    if (i % 2 == 0)
      path->even[i / 4] |= value << 8 * (i % 4);
    else
      path->odd[i / 4] |= value << 8 * (i % 4 - 1);
  }
  if (lane > 0 && first <= disparities) path->before = (uint)entering[first - 1] << 16;
  if (lane < LANES - 1 && first + CELLS < disparities) path->after = (uint)entering[first + CELLS];
}

// Computes the path costs at a pixel, and adds L_r − C to the slots of the pixel. Returns the minima of both halves of
// the path costs.
FUNCTION uint follow(Path* path, Pixel* pixel, uint step_penalty, uint jump, uint most) {
  uint lowest = BOTH(BEYOND), previous = path->before;
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    const uint e = path->even[q], o = path->odd[q];
    const uint below_even = o << 16 | previous >> 16;
    const uint above_odd = e >> 16 | (q + 1 < QUADS ? path->even[q + 1] : path->after) << 16;
    const uint rest_even = min_of_pairs(min_of_pairs(e, min_of_pairs(o, below_even) + step_penalty), jump);
    const uint rest_odd = min_of_pairs(min_of_pairs(o, min_of_pairs(e, above_odd) + step_penalty), jump);
    path->even[q] = rest_even + ((CLAMPED(EVEN_COSTS(pixel->costs, q), most) & path->keep_even[q]) |
                                 (BOTH(BEYOND) & ~path->keep_even[q]));
    path->odd[q] = rest_odd + ((CLAMPED(ODD_COSTS(pixel->costs, q), most) & path->keep_odd[q]) |
                               (BOTH(BEYOND) & ~path->keep_odd[q]));
    lowest = min_of_pairs(lowest, min_of_pairs(path->even[q], path->odd[q]));
#if SLOT_BYTES == 1
    pixel->slots[q] += rest_even | rest_odd << 8;
#else
    pixel->slots[2 * q] += (rest_even & 0xFFFFu) | rest_odd << 16;
    pixel->slots[2 * q + 1] += rest_even >> 16 | (rest_odd & 0xFFFF0000u);
#endif
    previous = o;
  }
  return lowest;
}

FUNCTION void subtract_minimum(Path* path, uint lowest, int lane) {
  const uint base = BOTH(lowest);
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    path->even[q] -= base;
    path->odd[q] -= base;
  }
  path->before = lane == 0 ? BEYOND << 16 : path->before - base;
  path->after = lane == LANES - 1 ? BEYOND : path->after - base;
}

// `above` and `below` are the boundary states of a stripe (EdgesOf in sgm.hpp). Group y of the grid processes pair y of
// the directions. `cost_pitch` is the number of costs per pixel in memory.
KERNEL(pairs)(ARRAY(const COST, costs), int cost_pitch, IMAGE(const uchar, guide), IMAGE(const ushort, above),
              IMAGE(const ushort, below), ARRAY(uint, slots), int width, int height, int disparities, int max_cost,
              int p1, int p2, int p2_min, int gradient) {
  LOCAL ushort jumps[256];
  LANE_EXCHANGE;
  const int pair = group_id(1), dx = pair == 3 ? -1 : pair != 1, dy = pair != 0;
  const int lines = dy ? width : height, steps = dy ? height : width;
  if (group_id(0) * LINES >= lines) return;
  const int item = local_id(0), lane = item % LANES, first = lane * CELLS;
  const int wanted = group_id(0) * LINES + item / LANES, line = min(wanted, lines - 1);
  const int active = wanted < lines && first < disparities;
  Memory memory;
  memory.costs = ELEMENTS(costs) + first;
  memory.pitch = slot_pitch(disparities);
  memory.slots = ELEMENTS(slots) + pair * memory.pitch * width * height + lane * SLOT_WORDS;
  memory.cost_pitch = cost_pitch;
  memory.unit = load_unit(ELEMENTS(costs), cost_pitch);
  memory.count = disparities - first;
  memory.width = width;
  if (GIVEN(guide)) {
    for (int i = item; i < 256; i += 32) jumps[i] = (ushort)penalty(i, p2, p2_min, gradient);
    BARRIER();
  }
  Path path;
  set_masks(&path, memory.count);

  for (int back = 0; back < 2; ++back) {
    BARRIER();  // exchanges of the way forwards have ended
    Walk here = walk_of(line, dx, dy, back, width, height), ahead = here;
    const int before_x = here.x - here.step_x;
    GLOBAL const ushort* entering =
        !dy    ? 0
        : back ? costs_before(below, below_layout, before_x, width, disparities, here.step_x)
               : costs_before(above, above_layout, before_x, width, disparities, here.step_x);
    begin_path(&path, entering, lane, disparities);
    int starts = entering == 0;
    int grey = entering != 0 && GIVEN(guide) ? PIXEL(guide, before_x, here.y - here.step_y) : 0;

    Pixel next[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
#pragma unroll
      for (int i = 0; i < COST_WORDS; ++i) next[k].costs[i] = 0;
#pragma unroll
      for (int i = 0; i < SLOT_WORDS; ++i) next[k].slots[i] = 0;
      next[k].grey = 0;
      if (k >= steps) continue;
      load_pixel(&next[k], &memory, &ahead, guide, guide_layout, back, active);
      advance(&ahead, width);
    }
    for (int n = 0; n < steps; n += AHEAD) {
      Pixel now[AHEAD];
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) now[k] = next[k];
#pragma unroll
      for (int k = 0; k < AHEAD; ++k)
        if (n + AHEAD + k < steps) {
          load_pixel(&next[k], &memory, &ahead, guide, guide_layout, back, active);
          advance(&ahead, width);
        }
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
        if (n + k >= steps) break;
        // A path starts with L = C. A penalty of 0 has this effect, as all path costs are at least 0.
        const uint jump = starts ? 0 : BOTH(GIVEN(guide) ? (uint)jumps[(int)abs(now[k].grey - grey)] : (uint)p2);
        grey = now[k].grey;
        uint lowest = follow(&path, &now[k], BOTH(p1), jump, BOTH(max_cost));
        if (active) store_slots(&now[k], &memory, &here);
        lowest = min(lowest & 0xFFFFu, lowest >> 16);
        EXCHANGE(lowest, path.before, path.after, path.odd[QUADS - 1], path.even[0], (n + k) % 2)
        subtract_minimum(&path, lowest, lane);
        starts = advance(&here, width);
      }
    }
  }
}

// The sums of all paths: S = paths · C + Σ (L_r − C). A work-item has CELLS disparities of a pixel.
KERNEL(sum)(ARRAY(const COST, costs), int cost_pitch, ARRAY(const uint, slots), ARRAY(ushort, sums), int width,
            int height, int disparities, int max_cost, int paths) {
  const long pitch = slot_pitch(disparities);
  const int items = (int)(pitch / SLOT_WORDS), x = global_id(0) / items, lane = global_id(0) % items, y = group_id(1);
  if (x >= width || y >= height) return;
  const int first = lane * CELLS, left = disparities - first;
  const long pixel = (long)y * width + x;
  const int unit = load_unit(ELEMENTS(costs), cost_pitch);
  GLOBAL const COST* cost = ELEMENTS(costs) + pixel * cost_pitch + first;
  uint costs_here[COST_WORDS], even[QUADS], odd[QUADS];
  LOAD_COSTS(costs_here, cost, left, unit)
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    even[q] = paths * CLAMPED(EVEN_COSTS(costs_here, q), BOTH(max_cost));
    odd[q] = paths * CLAMPED(ODD_COSTS(costs_here, q), BOTH(max_cost));
  }
  for (int pair = 0; pair < paths / 2; ++pair) {
    uint slots_here[SLOT_WORDS];
    GLOBAL const uint* slot = ELEMENTS(slots) + (pair * (long)width * height + pixel) * pitch + lane * SLOT_WORDS;
    LOAD_WORDS(slots_here, slot, SLOT_WORDS)
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
      even[q] += EVEN_SLOTS(slots_here, q);
      odd[q] += ODD_SLOTS(slots_here, q);
    }
  }
  GLOBAL ushort* out = ELEMENTS(sums) + pixel * disparities + first;
  if (disparities % CELLS == 0 && (ulong)ELEMENTS(sums) % 16 == 0) {
#pragma unroll
    for (int q = 0; q < QUADS; q += 2) {
      uint4 four;
      four.x = (even[q] & 0xFFFFu) | odd[q] << 16;
      four.y = even[q] >> 16 | (odd[q] & 0xFFFF0000u);
      four.z = (even[q + 1] & 0xFFFFu) | odd[q + 1] << 16;
      four.w = even[q + 1] >> 16 | (odd[q + 1] & 0xFFFF0000u);
      ((GLOBAL uint4*)out)[q / 2] = four;
    }
  } else {
#pragma unroll
    for (int i = 0; i < CELLS; ++i)
      if (i < left) out[i] = (ushort)((i % 2 ? odd[i / 4] : even[i / 4]) >> 16 * (i / 2 % 2));
  }
}
