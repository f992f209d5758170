"""Which rule for the bandwidth? The study behind benchmarks/studies/bandwidth.md."""
