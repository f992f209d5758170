"""Text embeddings, and hundreds of clusters in 384 dimensions; studies/embeddings.md."""
