"""What runs after what, who decides, and what a gate stands before.

approval.py   the approval policy of a flow, and the walk over a flow and its subflows
steering.py   which node may set which fields
risk.py       classes of risk
slots.py      context slots: declared, selected, used
"""
