"""Spark data frames: the name under which ``eigencut.integrations.spark`` is imported."""

from eigencut.integrations.spark import SparkRows, fit, predict

__all__ = ["SparkRows", "fit", "predict"]
