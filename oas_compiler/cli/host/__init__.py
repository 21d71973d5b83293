"""What this process lends to the runs of a command: options, platform, models, packages.

options.py           the options that several commands share, as records; commands as next steps
resources.py         the flow, the host, the platform and the store that the options name
local_services.py    `--model`, `--packages`, `--context`; what a simulation makes up
run_requirements.py  everything that a run needs and this command lacks
run_resources.py     everything of this process that a continued run uses, as lines on stderr
"""
