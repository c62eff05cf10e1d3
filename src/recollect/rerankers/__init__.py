"""Models that read a query and a text together and say how well the one answers the other."""
