"""Reading other tools' reports. Files are read as data: nothing in them is executed or followed."""
