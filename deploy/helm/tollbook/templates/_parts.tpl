{{- define "tollbook.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "tollbook.selector" -}}
app.kubernetes.io/name: tollbook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tollbook.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "tollbook.selector" . }}
{{- end -}}

{{/* Of a dict with root and image: a digest wins over a tag. */}}
{{- define "tollbook.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "tollbook.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {{- toYaml .root.Values.seccompProfile | nindent 2 }}
{{- end -}}

{{- define "tollbook.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Settings that are not secret; an empty one counts as not given. */}}
{{- define "tollbook.settings" -}}
{{- range $name, $value := .Values.settings }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of one entry of `secrets`: NAME_FILE for each key. */}}
{{- define "tollbook.secretSettings" -}}
{{- range $name, $key := .keys }}
- name: {{ $name }}_FILE
  value: /run/secrets/tollbook/{{ $key }}
{{- end }}
{{- end -}}

{{- define "tollbook.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .name }}
    defaultMode: 0440
    items:
      {{- range $name, $key := .keys }}
      - { key: {{ $key }}, path: {{ $key }} }
      {{- end }}
      {{- with .keypairKey }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end -}}

{{- define "tollbook.secretMount" -}}
- { name: secrets, mountPath: /run/secrets/tollbook, readOnly: true }
{{- end -}}

{{/* Files of mutual TLS with the signer. */}}
{{- define "tollbook.signerTlsSettings" -}}
- { name: SIGNER_TLS_CERT, value: /run/secrets/signer-tls/tls.crt }
- { name: SIGNER_TLS_KEY, value: /run/secrets/signer-tls/tls.key }
- { name: SIGNER_TLS_CA, value: /run/secrets/signer-tls/ca.crt }
{{- end -}}

{{- define "tollbook.signerTlsVolume" -}}
- name: signer-tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
      - { key: tls.crt, path: tls.crt }
      - { key: tls.key, path: tls.key }
      - { key: ca.crt, path: ca.crt }
{{- end -}}

{{- define "tollbook.signerTlsMount" -}}
- { name: signer-tls, mountPath: /run/secrets/signer-tls, readOnly: true }
{{- end -}}

{{- define "tollbook.placement" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
