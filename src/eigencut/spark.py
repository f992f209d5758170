"""Spark data frames: the name under which ``eigencut.integrations.spark`` is imported."""

from eigencut.integrations.spark import SparkRows, fit, label_batches, predict

__all__ = ["SparkRows", "fit", "label_batches", "predict"]
