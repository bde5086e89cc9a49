#!/bin/sh
# Runs as root once the package's files are gone; electron-builder fills in the braces. rpm runs it after the installation
# of a newer version, too, whose profile must stay: electron-builder's own script would remove that.
case "$1" in remove | purge | 0) ;; *) exit 0 ;; esac
profile='/etc/apparmor.d/${executable}'

update-alternatives --remove '${executable}' '/opt/${sanitizedProductName}/${executable}'

if [ -f "$profile" ]; then
  apparmor_parser --remove "$profile" >/dev/null 2>&1
  rm -f "$profile"
fi
exit 0
