// Values for the Helm chart. Together, the cases set every documented value.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export const chartDirectory = join(import.meta.dirname, '../../deploy/chart')

const chartImageValues = { repository: 'registry.example/catalog-bot' }
const chartCredentialsValues = { existingSecret: 'app' }

/** The setup page, the minimum with credentials, every part of the chart, and values without persistent storage. */
export const chartValuesByCase = {
  setup: { image: chartImageValues },
  least: { image: chartImageValues, credentials: chartCredentialsValues },
  full: {
    image: { ...chartImageValues, tag: 'v1', pullPolicy: 'Always' },
    credentials: chartCredentialsValues,
    database: { existingSecret: 'postgres', key: 'url' },
    replicas: 2,
    settings: {
      SWEEP_SECONDS: 60,
      GITHUB_URL: 'https://github.company.example',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    },
    secretSettings: { existingSecret: 'proxy' },
    pullSecrets: ['quay'],
    imagePullSecrets: [{ name: 'registry' }],
    certificates: { existingConfigMap: 'company', key: 'root.pem' },
    publishing: { existingSecret: 'targets' },
    clusterTests: { existingSecret: 'clusters' },
    persistence: { storageClass: 'fast', size: '50Gi', accessModes: ['ReadWriteOncePod'] },
    service: { type: 'LoadBalancer', port: 8080, annotations: { 'example.com/pool': 'internal' } },
    ingress: {
      enabled: true,
      host: 'bot.example',
      className: 'nginx',
      tlsSecret: 'bot-tls',
      annotations: { 'cert-manager.io/cluster-issuer': 'company' },
    },
    podDisruptionBudget: { enabled: true, maxUnavailable: '50%' },
    networkPolicy: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      ingress: [{ ports: [{ port: 50051, protocol: 'TCP' }] }],
      egress: [
        {
          to: [{ podSelector: { matchLabels: { app: 'postgres' } } }],
          ports: [{ port: 5432, protocol: 'TCP' }],
        },
      ],
    },
    serviceMonitor: { enabled: true, interval: '1m', labels: { release: 'prometheus' } },
    serviceAccount: { annotations: { 'example.com/role': 'none' } },
    resources: { requests: { cpu: '1', memory: '2Gi' }, limits: { memory: '8Gi' } },
    stopSeconds: 50,
    extraVolumes: [{ name: 'registries', configMap: { name: 'registries' } }],
    extraVolumeMounts: [{ name: 'registries', mountPath: '/run/registries', readOnly: true }],
    podAnnotations: { 'example.com/team': 'catalogs' },
    podLabels: { team: 'catalogs' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'catalog-bot' } },
            },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'catalog-bot' } },
      },
    ],
    priorityClassName: 'high',
  },
  memory: {
    image: chartImageValues,
    credentials: chartCredentialsValues,
    persistence: { enabled: false },
    serviceAccount: { existing: 'mine' },
  },
  webhooks: {
    image: chartImageValues,
    publicUrl: 'https://pages.example',
    ingress: { enabled: true, host: 'bot.example', webhooksOnly: true },
  },
  plainHttp: { image: chartImageValues, ingress: { enabled: true, host: 'bot.example' } },
  externalTls: {
    image: chartImageValues,
    ingress: { enabled: true, host: 'bot.example', externalTls: true },
  },
} as const
export type ChartCase = keyof typeof chartValuesByCase

/** Values that helm must reject, with what its message must name. */
const rejectedChartCases: readonly (readonly [what: string, values: object, named: string])[] = [
  ['no image', { image: undefined }, 'image.repository'],
  ['a misspelled value', { replicaCount: 2 }, 'replicaCount'],
  ['a misspelled nested value', { ingress: { enable: true } }, "'/ingress': additional properties 'enable'"],
  [
    'two replicas without credentials',
    { replicas: 2, database: { existingSecret: 'postgres' } },
    'replicas: 2 requires credentials.existingSecret',
  ],
  [
    'two replicas without a database',
    { replicas: 2, credentials: chartCredentialsValues },
    'replicas: 2 requires database.existingSecret',
  ],
  [
    'no volume for the credentials',
    { persistence: { enabled: false } },
    'persistence.enabled: false requires credentials.existingSecret',
  ],
  ['an ingress without a host', { ingress: { enabled: true } }, 'requires ingress.host'],
  ['a public URL with a path', { publicUrl: 'https://bot.example/bot' }, 'publicUrl'],
  ['a misspelled setting', { settings: { SWEEP_SECOND: 60 } }, "properties 'SWEEP_SECOND' not allowed"],
  ['a setting out of range', { settings: { CONCURRENCY: 100 } }, "'/settings/CONCURRENCY'"],
  ['a setting of the wrong type', { settings: { SWEEP_SECONDS: '1m' } }, "'/settings/SWEEP_SECONDS'"],
  ['a setting that YAML reads as a boolean', { settings: { PAGES: false } }, "'/settings/PAGES'"],
  ['a secret in the settings', { settings: { WEBHOOK_SECRET: 'in the clear' } }, 'WEBHOOK_SECRET'],
  ['a sign-in secret in the settings', { settings: { CLIENT_SECRET: 'in the clear' } }, 'CLIENT_SECRET'],
  ['a setting that the chart controls', { settings: { DATA_DIR: '/elsewhere' } }, 'DATA_DIR'],
  ['an address that no probe reaches', { settings: { HOST: '127.0.0.1' } }, "properties 'HOST'"],
  [
    'a volume that several pods share',
    { persistence: { accessModes: ['ReadWriteMany'] } },
    "'/persistence/accessModes/0'",
  ],
]
export const rejectedChartValues = rejectedChartCases.map(
  ([what, values, named]) => [what, { image: chartImageValues, ...values }, named] as const,
)

/** Throws helm's message if it rejects the values. */
export function renderChart(values: object): string {
  return execFileSync(
    'helm',
    ['template', 'coast', chartDirectory, '--kube-version', '1.36.0', '--namespace', 'bots', '--values', '-'],
    { input: JSON.stringify(values), encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] },
  )
}
