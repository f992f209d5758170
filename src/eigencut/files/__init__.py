"""What a model file is: its format, a reader that trusts nothing, writing that is all or nothing.

It imports exceptions only; ``models`` alone imports the classes that it loads.
"""
