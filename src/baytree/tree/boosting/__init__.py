"""C5.0: boosted trees and rule sets that vote, rule extraction, winnowing and soft thresholds."""
