"""The engines that run the units: a module each, with `run(job, todo, options, on_unit_done)`. `todo` is in an order in
which units may be made."""
