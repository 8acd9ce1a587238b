"""Growing of decision trees by a policy, in memory or, in `remote`, by map-reduce."""
