#!/bin/sh
# Runs as root once the package is unpacked; electron-builder fills in the braces. Its own script tests user namespaces as
# root, which may always use them, and does not test the effect of the AppArmor profile. Undone by after-remove.sh.
app='/opt/${sanitizedProductName}'
program="$app/${executable}"
profile='/etc/apparmor.d/${executable}'

update-alternatives --install '/usr/bin/${executable}' '${executable}' "$program" 100

# Ubuntu from 23.10 on allows user namespaces to programs with a profile only. AppArmor before 4 cannot read ours, and
# needs none. Nothing can be loaded where a disk image is built; the next start of that system loads it.
if apparmor_parser --skip-kernel-load "$app/resources/apparmor-profile" >/dev/null 2>&1; then
  cp -f "$app/resources/apparmor-profile" "$profile"
  apparmor_parser --replace --write-cache --skip-read-cache "$profile" >/dev/null 2>&1
fi

# Tests whether Chromium's sandbox works in this program for an ordinary user. If not, Electron ends itself with SIGTRAP (or
# SIGILL or SIGABRT), and its helper becomes set-user-ID root, as Chrome's is. Other failures say nothing about the sandbox.
chmod 0755 "$app/chrome-sandbox"
ulimit -c 0
timeout 30 setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent \
  "$program" --ozone-platform=headless --disable-gpu --command-line -- --version >/dev/null 2>&1
case $? in 132 | 133 | 134) chmod 4755 "$app/chrome-sandbox" ;; esac

update-desktop-database /usr/share/applications >/dev/null 2>&1
exit 0
