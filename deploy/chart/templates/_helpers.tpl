{{- define "catalog-bot.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "catalog-bot.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Another name than the selector's, so that no Service sends requests to the test's pod. */}}
{{- define "catalog-bot.testSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "catalog-bot.commonLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "catalog-bot.labels" -}}
{{ include "catalog-bot.selector" . }}
{{ include "catalog-bot.commonLabels" . }}
{{- end -}}

{{- define "catalog-bot.serviceAccount" -}}
{{- .Values.serviceAccount.existing | default (include "catalog-bot.fullname" .) -}}
{{- end -}}

{{- define "catalog-bot.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "Set image.repository to the image that you built from the Dockerfile and pushed, without its tag, such as registry.example.com/catalog-bot." -}}
{{- end -}}
{{- .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* Empty if no ingress exposes the pages. */}}
{{- define "catalog-bot.publicUrl" -}}
{{- with .Values.ingress -}}
{{- if $.Values.publicUrl -}}
{{- $.Values.publicUrl -}}
{{- else if and .enabled (not .webhooksOnly) (not (contains "*" .host)) -}}
{{- ternary "https" "http" (or (ne .tlsSecret "") .externalTls) }}://{{ .host -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Rules that involve several values, because Helm's messages about them in the schema are hard to read. */}}
{{- define "catalog-bot.validate" -}}
{{- if not .Values.credentials.existingSecret -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- fail (printf "replicas: %d requires credentials.existingSecret, because the setup page stores the credentials on the volume of one replica only." (int .Values.replicas)) -}}
{{- else if not .Values.persistence.enabled -}}
{{- fail "persistence.enabled: false requires credentials.existingSecret, because the credentials that the setup page stores would be lost." -}}
{{- end -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.existingSecret) -}}
{{- fail (printf "replicas: %d requires database.existingSecret, because only one replica can use the embedded database." (int .Values.replicas)) -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled: true requires ingress.host." -}}
{{- end -}}
{{- end -}}

{{- define "catalog-bot.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "catalog-bot.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
