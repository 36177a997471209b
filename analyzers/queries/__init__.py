"""An incremental engine: inputs, memoised queries over them, and after an edit only the work that it requires."""
