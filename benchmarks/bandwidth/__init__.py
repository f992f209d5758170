"""Which rule for the bandwidth? The study behind docs/bandwidth.md."""
