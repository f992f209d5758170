"""Text embeddings, and hundreds of clusters in 384 dimensions; see docs/studies/embeddings.md."""
