#!/bin/sh
# Runs as root while the package is still there. Debian passes the action, rpm the number of versions that will be installed.
case "$1" in remove | 0) ;; *) exit 0 ;; esac

cat <<'TEXT'
Vivarium keeps the data folder of each user (~/.local/share/vivarium), and its root in the trust stores to which it was
added. "vivarium uninstall" removes it from them and lists what else stays; for that, install this package again.
TEXT
