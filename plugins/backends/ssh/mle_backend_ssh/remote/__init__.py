"""The program that runs on a host: it answers one request of the controller, by the host's own backend vm.

``bundle`` sends it, together with the modules of mlecore that it imports. It runs on Python 3.9 with nothing installed.
"""
