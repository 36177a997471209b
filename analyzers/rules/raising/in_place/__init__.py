"""What torch refuses to write in place, or to go backward through once it is written."""
