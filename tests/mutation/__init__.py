"""Mutants of the library: does a test notice when a formula is changed?"""
