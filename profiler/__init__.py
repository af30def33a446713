"""Running and measuring: compile, launch, verify, time; on a GPU, or by model without one."""
