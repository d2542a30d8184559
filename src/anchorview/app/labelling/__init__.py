"""The labelling page: a journal of labels, a model that follows them, and a server for one browser or several."""
