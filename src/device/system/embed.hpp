// Puts a file into the program, as bytes between two symbols.
#pragma once

// The assembler's directives of each format of object files: Mach-O, COFF and ELF.
#if defined(__APPLE__)
#define STEREOPSIS_BYTES_SECTION ".section __TEXT,__const\n"
#define STEREOPSIS_BYTES_LABEL(name) ".private_extern _" #name "\n.globl _" #name "\n_" #name ":\n"
#define STEREOPSIS_BYTES_END ".text\n"
#elif defined(_WIN32)
#define STEREOPSIS_BYTES_SECTION ".section .rdata,\"dr\"\n"
#define STEREOPSIS_BYTES_LABEL(name) ".globl " #name "\n" #name ":\n"
#define STEREOPSIS_BYTES_END ".text\n"
#else
#define STEREOPSIS_BYTES_SECTION ".pushsection .rodata\n"
#define STEREOPSIS_BYTES_LABEL(name) ".hidden " #name "\n.globl " #name "\n" #name ":\n"
#define STEREOPSIS_BYTES_END ".popsection\n"
#endif

// Defines name[] and name_end[] outside of functions and namespaces; `file` is a string literal.
#define STEREOPSIS_EMBED(name, file)                                                                         \
  asm(STEREOPSIS_BYTES_SECTION STEREOPSIS_BYTES_LABEL(name) ".incbin \"" file "\"\n" STEREOPSIS_BYTES_LABEL( \
      name##_end) STEREOPSIS_BYTES_END);                                                                     \
  extern "C" const unsigned char name[], name##_end[];
