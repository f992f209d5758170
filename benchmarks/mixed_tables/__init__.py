"""Tables of numbers and words: how words should count, and the default beside its peers."""
