"""An incremental engine: inputs, memoised queries over them, and no more work after an edit than the edit calls for."""
