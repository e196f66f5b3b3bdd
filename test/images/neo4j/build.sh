#!/usr/bin/env bash
# shellcheck disable=SC2154 # cache, scratch, here, root and neo4j are set by ../build.sh
# Part of ../build.sh, which reads it: Neo4j community from Maven Central on a Java runtime cut down by jlink.

# runtime: $cache/jre, about 60 MB, with its class-data archive.
runtime() {
  [ -d "$cache/jre" ] && return
  local jdk modules=java.se,jdk.unsupported,jdk.crypto.ec,jdk.management,jdk.naming.dns,jdk.zipfs,jdk.net,jdk.httpserver
  jdk=$(dirname "$(dirname "$(readlink -f "$(command -v jlink)")")")
  jlink --module-path "$jdk/jmods" --add-modules "$modules,jdk.jfr,jdk.security.auth,jdk.nio.mapmode,jdk.charsets" \
    --strip-java-debug-attributes --no-header-files --no-man-pages --compress=1 --output "$scratch/jre"
  rm -f "$scratch"/jre/lib/lib{awt_xawt,splashscreen,jawt,fontmanager,freetype,jsound}.so
  "$scratch/jre/bin/java" -Xshare:dump >/dev/null 2>&1
  mv "$scratch/jre" "$cache/jre"
}

# base: an image that starts Neo4j in about six seconds.
base() {
  mvn -B -ntp -q -Dstyle.color=never -f "$here/neo4j/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$scratch/lib"
  say "neo4j: jars"
  runtime; say "neo4j: runtime"
  root; mkdir -p "$root"/{opt,logs,var/lib/neo4j/conf}
  mv "$scratch/lib" "$root/var/lib/neo4j/lib"
  cp -a "$cache/jre" "$root/opt/java"
  local objects; mapfile -t objects < <(find "$root/opt/java" -name '*.so')
  LD_LIBRARY_PATH=$root/opt/java/lib:$root/opt/java/lib/server libraries "$root/opt/java/bin/java" "${objects[@]}"
  cp "$here/neo4j/neo4j.conf" "$root/var/lib/neo4j/conf/neo4j.conf.dist"
  cp "$here/neo4j/docker-entrypoint.sh" "$root/"
  image tombstone-test/neo4j:base <<'D'
ENV PATH=/opt/java/bin:/bin LANG=C.UTF-8 JAVA_HOME=/opt/java \
    NEO4J_JAVA_OPTS="-Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=/var/lib/neo4j/neo4j.jsa"
WORKDIR /var/lib/neo4j
VOLUME /data /logs
EXPOSE 7474 7687
ENTRYPOINT ["/docker-entrypoint.sh"]
D
}

# train: a run whose classes become an archive; with it each later start takes about three seconds.
train() {
  local options="-Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit=/var/lib/neo4j/neo4j.jsa"
  local query='{"statements":[{"statement":"UNWIND range(1,10) AS i MERGE (n:T {i:i}) WITH n MATCH (m:T) WHERE m.i<n.i MERGE (m)-[:R]->(n) RETURN count(*)"}]}'
  local id; id=$(docker run -d -e NEO4J_AUTH=none -e NEO4J_JAVA_OPTS="$options" tombstone-test/neo4j:base)
  inside() { docker exec "$id" wget -q -O /dev/null "$@"; }
  for _ in $(seq 120); do inside http://127.0.0.1:7474/ 2>/dev/null && break; sleep 0.5; done
  inside --header 'Content-Type: application/json' --post-data "$query" http://127.0.0.1:7474/db/neo4j/tx/commit ||
    { docker logs --tail 50 "$id"; docker rm -fv "$id"; return 1; }
  docker stop -t 120 "$id" >/dev/null
  mkdir -p "$scratch/trained"; docker cp "$id:/var/lib/neo4j/neo4j.jsa" "$scratch/trained/"
  docker rm -fv "$id" >/dev/null
  printf 'FROM tombstone-test/neo4j:base\nCOPY neo4j.jsa /var/lib/neo4j/\n' > "$scratch/trained/Dockerfile"
  docker build -q -t "$neo4j" "$scratch/trained" >/dev/null 2>&1
}

base
train
