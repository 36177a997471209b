"""What a hover says, asked of the analyzer in this process."""
