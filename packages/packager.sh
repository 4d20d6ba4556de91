#!/bin/sh
# Prints who makes a package, as Debian's tools do: DEBFULLNAME and DEBEMAIL, or else the identity of Git, or else this user.
# The packages name that person as their maintainer.
name=${DEBFULLNAME:-$(git config user.name 2>/dev/null)} email=${DEBEMAIL:-$(git config user.email 2>/dev/null)}
user=$(id -un)
echo "${name:-$user} <${email:-$user@$(hostname -f 2>/dev/null || echo localhost)}>"
