#include "command/command.hpp"

int main(int argc, char** argv) { return stereopsis::command::run(argc, argv); }
