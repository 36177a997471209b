"""Random programs: what the analyzer says of them, against what torch does with them."""
