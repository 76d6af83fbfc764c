"""All four levels of a run, compiled: tables filled on demand, one loop over integers."""
