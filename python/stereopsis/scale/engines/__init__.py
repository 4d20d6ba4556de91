"""The engines that run the units of a job. Each engine is a module with a function `run(job, todo, options, on_unit_done)`, where
`todo` lists the units in an order in which they may run.
"""
