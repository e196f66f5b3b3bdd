#!/bin/sh
# Does of the upstream entrypoint what tests and compose files use: NEO4J_AUTH, and NEO4J_a_b__c=v for the setting a.b_c.
set -eu
home=/var/lib/neo4j
conf=$home/conf/neo4j.conf
cp "$conf.dist" "$conf" # afresh at every start: a key given twice is an error

# setting KEY VALUE: replaces or adds it.
setting() {
  sed -i "/^$(printf %s "$1" | sed 's/\./\\./g')=/d" "$conf"
  printf '%s=%s\n' "$1" "$2" >> "$conf"
}

for name in $(env | sed -n 's/^\(NEO4J_[A-Za-z0-9_]*\)=.*/\1/p'); do
  case $name in NEO4J_AUTH|NEO4J_EDITION|NEO4J_ACCEPT_LICENSE_AGREEMENT|NEO4J_JAVA_OPTS) continue ;; esac
  # shellcheck disable=SC2034 # eval uses it
  key=$(printf %s "${name#NEO4J_}" | sed -e 's/__/%/g' -e 's/_/./g' -e 's/%/_/g')
  eval "setting \"\$key\" \"\$$name\""
done

export NEO4J_HOME=$home NEO4J_CONF=$home/conf # after the loop above: these are no settings
case ${NEO4J_AUTH-} in
  none) setting dbms.security.auth_enabled false ;;
  neo4j/*)
    [ -d /data/databases/system ] || java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$home/lib/*" \
      org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}"
    ;;
esac

# shellcheck disable=SC2086 # several options
exec java ${NEO4J_JAVA_OPTS-} \
  --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
  -cp "$home/lib/*" org.neo4j.server.CommunityEntryPoint --home-dir="$home" --config-dir="$home/conf" --console-mode
