"""`sisyphus doctor --live`: the installed client is run once, and must call every hook."""
