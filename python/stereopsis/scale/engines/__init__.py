"""Who runs the units: a module each, with `run(job, todo, options, told)`. `todo` is in an order in which units may be made."""
