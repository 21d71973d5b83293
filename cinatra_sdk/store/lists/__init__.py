"""What is read of many runs at once, beside the pages of `store/runs/lists.py`.

list_filters.py what lists are filtered by, and in which order runs come
feed.py         one feed of what happens to all runs and gates
"""
