// Takes the place of libjbig in wheels. Debian's libtiff requires that library, which is under the GPL. Files with JBIG
// compression, which facsimile machines write, cannot be decoded.
enum { failed = 1 };

void jbg_dec_init(void* state) { (void)state; }
void jbg_dec_free(void* state) { (void)state; }
int jbg_dec_in(void* state, unsigned char* data, unsigned long size, unsigned long* used) {
  (void)state, (void)data, (void)size, (void)used;
  return failed;
}
unsigned char* jbg_dec_getimage(const void* state, int plane) {
  (void)state, (void)plane;
  return 0;
}
unsigned long jbg_dec_getsize(const void* state) {
  (void)state;
  return 0;
}
void jbg_newlen(unsigned char* data, unsigned long size) { (void)data, (void)size; }
const char* jbg_strerror(int error) {
  (void)error;
  return "Stereopsis wheels do not decode JBIG";
}
// libtiff calls these functions only to write files with JBIG compression. Stereopsis writes none.
void jbg_enc_init(void* state) { (void)state; }
void jbg_enc_out(void* state) { (void)state; }
void jbg_enc_free(void* state) { (void)state; }
