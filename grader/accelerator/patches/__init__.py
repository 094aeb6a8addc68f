"""What replaces functions and classes of PyTorch: each module has an `install(machine)`, which `enabling` calls."""
