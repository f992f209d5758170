"""Clusters of text embeddings and of many clusters in hundreds of dimensions; see docs/embeddings.md."""
