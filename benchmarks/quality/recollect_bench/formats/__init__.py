"""One module for each form in which judged questions come: a path in, data sets out."""
