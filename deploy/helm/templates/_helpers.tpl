{{/* The names. */}}
{{- define "tombstone.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "tombstone.fullname" -}}
{{- $name := include "tombstone.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "tombstone.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (ternary (include "tombstone.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "tombstone.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* How the listeners are spoken to. */}}
{{- define "tombstone.scheme" -}}
{{ ternary "https" "http" (ne .Values.tls.secret "") }}
{{- end }}

{{/* Labels; a component is dependency or asset. Arguments: (dict "root" $ "component" …). */}}
{{- define "tombstone.selector" -}}
app.kubernetes.io/name: {{ include "tombstone.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tombstone.labels" -}}
app.kubernetes.io/name: {{ include "tombstone.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The secrets of a component that are mounted as files: {SETTING: {secret, key}}, in YAML. */}}
{{- define "tombstone.files" -}}
{{- $v := .root.Values -}}
{{- $user := index $v.broker .component -}}
{{- $files := dict "TOMBSTONE_NATS_URL_FILE" $user.url "TOMBSTONE_NATS_CREDS" $user.credentials
  "TOMBSTONE_MESSAGE_KEY_FILE" $v.messageKey "TOMBSTONE_CA" $v.authority
  "TOMBSTONE_TLS_CERT" (dict "secret" $v.tls.secret "key" $v.tls.cert) "TOMBSTONE_TLS_KEY" (dict "secret" $v.tls.secret "key" $v.tls.key) -}}
{{- if eq .component "dependency" -}}
{{- $_ := set $files "TOMBSTONE_GRAPH_PASSWORD_FILE" $v.graph.password -}}
{{- $_ := set $files "TOMBSTONE_RECEIPT_KEY_FILE" $v.receiptKey -}}
{{- else -}}
{{- $_ := set $files "TOMBSTONE_DOCUMENTS_URI_FILE" $v.documents.uriFrom -}}
{{- end -}}
{{- $files = merge (dict) (index $v .component).secretFiles $v.secretFiles $files -}}
{{- range $name, $from := $files }}
{{- if $from.secret }}
{{ $name }}: {{ pick $from "secret" "key" | toJson }}
{{- end }}
{{- end }}
{{- end }}

{{/* The settings of a component, without those of its files: {SETTING: value}, in YAML. */}}
{{- define "tombstone.settings" -}}
{{- $v := .root.Values -}}
{{- $all := dict
  "TOMBSTONE_LISTEN" "0.0.0.0:8080"
  "TOMBSTONE_POLICY" (printf "/etc/tombstone/policy/%s" (ternary $v.existingPolicy.key "policy.yaml" (ne $v.existingPolicy.configMap "")))
  "TOMBSTONE_AUTH" (ternary "tokens:/etc/tombstone/tokens/tokens.yaml" (printf "oidc:%s" $v.auth.oidc.issuer) (ne $v.auth.tokens.secret ""))
  "TOMBSTONE_AUTH_AUDIENCE" $v.auth.oidc.audience
  "TOMBSTONE_AUTH_OWNER_CLAIM" $v.auth.oidc.ownerClaim
  "TOMBSTONE_AUTH_ROLES_CLAIM" $v.auth.oidc.rolesClaim
  "TOMBSTONE_AUTH_OPERATOR_ROLE" $v.auth.oidc.operatorRole
  "TOMBSTONE_NATS_URL" (ternary $v.broker.url "" (eq (index $v.broker .component).url.secret ""))
  "TOMBSTONE_STREAM_REPLICAS" $v.broker.streamReplicas -}}
{{- if eq .component "dependency" -}}
{{- $_ := set $all "TOMBSTONE_GRAPH_URI" $v.graph.uri -}}
{{- $_ := set $all "TOMBSTONE_GRAPH_USER" $v.graph.user -}}
{{- $_ := set $all "TOMBSTONE_GRAPH_DATABASE" $v.graph.database -}}
{{- $_ := set $all "TOMBSTONE_START_PAUSED" (ternary "true" "" $v.startPaused) -}}
{{- else -}}
{{- $_ := set $all "TOMBSTONE_DOCUMENTS_URI" (ternary $v.documents.uri "" (eq $v.documents.uriFrom.secret "")) -}}
{{- $_ := set $all "TOMBSTONE_BLOBS_ENDPOINT" $v.blobs.endpoint -}}
{{- $_ := set $all "TOMBSTONE_BLOBS_REGION" $v.blobs.region -}}
{{- end -}}
{{- $all = merge (dict) (index $v .component).settings $v.settings $all -}}
{{- range $name, $value := $all }}
{{- if ne (toString $value) "" }}
{{ $name }}: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- end }}
