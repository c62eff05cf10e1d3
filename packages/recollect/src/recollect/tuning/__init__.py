"""Tuning: logged answers and what became of them in, better numbers out."""
