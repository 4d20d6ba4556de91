/* The shortest way from two pictures to a disparity map in C: match LEFT.pgm RIGHT.pgm OUT.pfm (binary PGM, 8 bits). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stereopsis.h"

static void check(sp_status status) {
  if (status == SP_OK) return;
  fprintf(stderr, "match: %s\n", sp_last_error());
  exit(1);
}

static sp_image read_pgm(const char* name) {
  sp_image image = {.struct_size = sizeof image, .channels = 1, .type = SP_U8};
  FILE* file = fopen(name, "rb");
  if (file == NULL || fscanf(file, "P5 %d %d 255%*c", &image.width, &image.height) != 2) {
    fprintf(stderr, "match: %s is no binary PGM of 8 bits\n", name);
    exit(1);
  }
  const size_t pixels = (size_t)image.width * (size_t)image.height;
  image.data = malloc(pixels);
  if (image.data == NULL || fread(image.data, 1, pixels, file) != pixels) {
    fprintf(stderr, "match: %s ends too early\n", name);
    exit(1);
  }
  fclose(file);
  return image;
}

/* Rows from the bottom up; infinite where there is no disparity. */
static void write_pfm(const char* name, const sp_image* image) {
  FILE* file = fopen(name, "wb");
  if (file == NULL) {
    perror(name);
    exit(1);
  }
  fprintf(file, "Pf\n%d %d\n-1.0\n", image->width, image->height);
  for (int y = image->height - 1; y >= 0; --y) {
    float* row = (float*)image->data + (size_t)y * (size_t)image->width;
    for (int x = 0; x < image->width; ++x)
      if (isnan(row[x])) row[x] = INFINITY;
    fwrite(row, sizeof(float), (size_t)image->width, file);
  }
  if (fclose(file) != 0) {
    perror(name);
    exit(1);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "match LEFT.pgm RIGHT.pgm OUT.pfm\n");
    return 2;
  }
  const sp_image left = read_pgm(argv[1]), right = read_pgm(argv[2]);

  sp_pipeline* pipeline;
  check(sp_pipeline_create("sgm", &pipeline));
  check(sp_pipeline_set(pipeline, "sgm.paths", "8"));

  sp_problem problem = {.struct_size = sizeof problem, .width = left.width, .height = left.height, .channels = 1};
  check(sp_estimate_range(&left, &right, &problem.min_disparity, &problem.disparities));
  sp_matcher* matcher;
  check(sp_matcher_create(pipeline, &problem, &matcher));

  sp_image disparity = {.struct_size = sizeof disparity, .width = left.width, .height = left.height, .channels = 1,
                        .type = SP_F32};
  disparity.data = malloc(sizeof(float) * (size_t)left.width * (size_t)left.height);
  if (disparity.data == NULL) return 1;
  const sp_pair pair = {.struct_size = sizeof pair, .left = &left, .right = &right};
  const sp_result result = {.struct_size = sizeof result, .disparity = &disparity};
  check(sp_matcher_match(matcher, &pair, &result)); /* repeat this call for each pair of a sequence */

  write_pfm(argv[3], &disparity);
  check(sp_matcher_destroy(matcher));
  check(sp_pipeline_destroy(pipeline));
  free(disparity.data);
  free(left.data);
  free(right.data);
  return 0;
}
