"""Formulas as PMML 4.4: a chain of trees and transformations."""
