"""The command line: thin commands, one place where errors become exit codes."""
