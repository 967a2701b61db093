"""Scores of continuous and mixed tables: functions of one covariance matrix."""
