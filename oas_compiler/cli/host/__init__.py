"""What this process lends to the runs of a command: options, platform, models, packages.

resources.py         flows, platforms and the store, as the options name them; `--components
                     FILE`, `--unblock-component`; choosing for a context slot
options.py           the options that several commands share; `--host MODULE:FACTORY`; )
run_resources.py     ) and what this call lacks (
run_requirements.py  ), with a complete command (; continues a run: tells what it uses (
local_services.py    `--model NAME`; `--packages DIR`; what a simulation makes up, and what it
                     lets run; `--context FILE`
"""
