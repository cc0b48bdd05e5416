"""What runs on a host that is reached over SSH: one request of the controller each time, answered by its backend vm.

It is sent there by mlecore/vm/ssh/bundle.py, together with the modules of mlecore that it imports, and runs on
Python 3.9 without anything installed.
"""
