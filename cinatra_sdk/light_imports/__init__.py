"""What keeps importing our packages cheap: nothing is loaded or compiled before somebody uses it.

public_names.py  names of a package that are imported on first use
records.py       `dataclass`, which compiles the methods of a class when they are needed
"""
