"""One file per method: ours, peers, limits. A leading underscore marks what several share."""
