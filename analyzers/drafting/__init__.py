"""What rules draft findings with: places in the user's code, words for what happened there, and edits."""
