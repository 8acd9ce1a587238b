"""Every way of dealing rows to folds: as a user says it (`cv=`), or by what is in the rows."""
