// The Helm chart: which values it accepts, and that its output matches the Kubernetes schemas. Without helm, the tests
// check the recorded output (test/deploy/rendered), and that it was rendered from the current chart.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { coerceToSchema } from '../../packages/bundle/src/kubernetes/coerce-to-schema.ts'
import { findSchemaName, type SchemaType } from '../../packages/bundle/src/kubernetes/schemas.ts'
import { parseDocumentTree } from '../../packages/fbc/src/go/yaml/read-yaml.ts'
import { findMissingProgram } from '../left-out.ts'

const projectRoot = join(import.meta.dirname, '../..')
const chartDirectory = join(projectRoot, 'deploy', 'chart')
const renderedDirectory = join(import.meta.dirname, 'rendered')
const readTextFile = (...path: readonly string[]) => readFileSync(join(...path), 'utf8')

/** Values that enable every part of the chart, the minimum, and values without persistent storage. */
const chartValues = {
  least: { credentials: { existingSecret: 'app' } },
  full: {
    credentials: { existingSecret: 'app' },
    database: { existingSecret: 'postgres' },
    replicas: 2,
    settings: { SWEEP_SECONDS: 60, GITHUB_URL: 'https://github.company.example' },
    pullSecrets: ['quay'],
    imagePullSecrets: [{ name: 'registry' }],
    certificates: { existingConfigMap: 'company' },
    publishing: { existingSecret: 'targets' },
    persistence: { storageClass: 'fast' },
    ingress: { enabled: true, host: 'bot.example', className: 'nginx', tlsSecret: 'bot-tls' },
    networkPolicy: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      egress: [
        {
          to: [{ podSelector: { matchLabels: { app: 'postgres' } } }],
          ports: [{ port: 5432, protocol: 'TCP' }],
        },
      ],
    },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    priorityClassName: 'high',
  },
  memory: {
    credentials: { existingSecret: 'app' },
    persistence: { enabled: false },
    serviceAccount: { existing: 'mine' },
  },
} as const
type ChartTestCase = keyof typeof chartValues

/** The digest of the chart and its values. If it changes, the recorded output is outdated. */
const chartHash = createHash('sha256')
for (const path of readdirSync(chartDirectory, { recursive: true, encoding: 'utf8' }).sort())
  if (statSync(join(chartDirectory, path)).isFile())
    chartHash.update(`${path}\n${readTextFile(chartDirectory, path)}\n`)
chartHash.update(JSON.stringify(chartValues))
const chartDigestComment = `# Made by helm of the chart ${chartHash.digest('hex').slice(0, 16)}: UPDATE=1 npm test -- test/deploy, with helm on the PATH.\n`

const renderChart = (name: ChartTestCase): string =>
  execFileSync(
    'helm',
    ['template', 'coast', chartDirectory, '--kube-version', '1.35.0', '--namespace', 'bots', '--values', '-'],
    {
      input: JSON.stringify(chartValues[name]),
      encoding: 'utf8',
    },
  )

interface KubernetesResource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec?: Readonly<Record<string, unknown>>
}

/** https://prometheus-operator.dev/docs/api-reference/api/: the fields that the chart uses. */
const serviceMonitorSchema: SchemaType = {
  fields: {
    'apiVersion*': ':string',
    'kind*': ':string',
    'metadata*': 'meta.v1.ObjectMeta',
    'spec*': {
      fields: {
        'selector*': 'meta.v1.LabelSelector',
        'endpoints*': [{ fields: { port: ':string', path: ':string', interval: ':string' } }],
      },
    },
  },
}

describe('the values', () => {
  const ajv = new Ajv({ allErrors: true, strict: false })
  const isValid = ajv.compile(JSON.parse(readTextFile(chartDirectory, 'values.schema.json')) as object)
  const defaults = parse(readTextFile(chartDirectory, 'values.yaml')) as Record<
    string,
    Record<string, unknown>
  >
  /** Combines values as helm does: objects are merged, everything else is replaced. */
  const withDefaults = (given: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(defaults), ...Object.keys(given)])].map((key) => {
        const [before, after] = [defaults[key], given[key]]
        const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
        return [key, isMap(before) && isMap(after) ? { ...before, ...(after as object) } : (after ?? before)]
      }),
    )

  test.each(Object.entries(chartValues))('of the case %s are valid', (_name, given) => {
    expect({ ok: isValid(withDefaults(given)), errors: isValid.errors }).toEqual({ ok: true, errors: null })
  })

  const credentials = { existingSecret: 'app' }
  test.each([
    ['no credentials', {}],
    ['a misspelled value', { credentials, replicaCount: 2 }],
    ['a misspelled nested value', { credentials, ingress: { enable: true } }],
    ['two replicas without a database', { credentials, replicas: 2 }],
    ['an ingress without a host', { credentials, ingress: { enabled: true } }],
    ['a secret in the settings', { credentials, settings: { WEBHOOK_SECRET: 'in the clear' } }],
    ['a setting that the chart controls', { credentials, settings: { DATA_DIR: '/elsewhere' } }],
    ['a volume that several pods share', { credentials, persistence: { accessModes: ['ReadWriteMany'] } }],
  ])('with %s are rejected', (_what, given) => {
    expect(isValid(withDefaults(given))).toBe(false)
  })

  test('are exactly the properties of the schema', () => {
    const { properties } = JSON.parse(readTextFile(chartDirectory, 'values.schema.json')) as {
      properties: object
    }
    expect(
      Object.keys(properties)
        .filter((name) => name !== 'global')
        .sort(),
    ).toEqual(Object.keys(defaults).sort())
  })

  test('the chart has the version of the project', () => {
    const { version } = JSON.parse(readTextFile(projectRoot, 'package.json')) as { version: string }
    expect(parse(readTextFile(chartDirectory, 'Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })
})

const chartCaseNames = Object.keys(chartValues) as ChartTestCase[]
const resourcesByCase = new Map<ChartTestCase, readonly KubernetesResource[]>()
beforeAll(() => {
  const isHere = findMissingProgram('helm') === undefined
  for (const name of chartCaseNames) {
    const file = join(renderedDirectory, `${name}.yaml`)
    if (isHere && process.env['UPDATE'] === '1')
      writeFileSync(file, `${chartDigestComment}${renderChart(name)}`)
    const recorded = existsSync(file) ? readTextFile(file) : ''
    if (isHere) expect(`${chartDigestComment}${renderChart(name)}`).toBe(recorded)
    resourcesByCase.set(
      name,
      parseAllDocuments(recorded).map((document) => document.toJS() as KubernetesResource),
    )
  }
}, 60_000)

describe.each(chartCaseNames)('the rendered chart of the case %s', (name) => {
  const all = () => resourcesByCase.get(name) ?? []
  const one = (kind: string) => all().find((resource) => resource.kind === kind)

  test('was rendered from the current chart', () => {
    expect(readTextFile(renderedDirectory, `${name}.yaml`).startsWith(chartDigestComment)).toBe(true)
  })

  test('matches the Kubernetes schemas', () => {
    expect(all().length).toBeGreaterThan(2)
    for (const resource of all()) {
      const { apiVersion, kind } = resource
      const type = kind === 'ServiceMonitor' ? serviceMonitorSchema : findSchemaName(apiVersion, kind)
      const tree = parseDocumentTree(Buffer.from(JSON.stringify(resource)))
      if (type === undefined || tree === undefined) throw new Error(`${apiVersion} ${kind} has no schema`)
      expect({ kind, misfits: coerceToSchema(type, tree.value).mismatches }).toEqual({ kind, misfits: [] })
    }
  })

  test('runs as non-root, with a read-only root file system, and without a service account token', () => {
    const set = one('StatefulSet')
    if (set === undefined) throw new Error('there is no StatefulSet')
    const { spec } = (set.spec as unknown as { template: { spec: RenderedPodSpec } }).template
    const [container] = spec.containers
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      livenessProbe: { httpGet: { path: '/livez' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
    })
    const secret =
      container?.env.filter(({ name: variable }) => /SECRET|KEY|DATABASE_URL/.test(variable)) ?? []
    expect(
      secret.filter(
        ({ valueFrom, name: variable }) => valueFrom === undefined && variable !== 'PULL_SECRETS',
      ),
    ).toEqual([])
    const volumes = new Set([...(spec.volumes ?? []).map((volume) => volume.name), 'data'])
    expect(container?.volumeMounts.filter((mount) => !volumes.has(mount.name))).toEqual([])
    const stop = Number(container?.env.find(({ name: variable }) => variable === 'STOP_SECONDS')?.value)
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(stop)
  })
})

interface RenderedPodSpec {
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
    readonly volumeMounts: readonly { readonly name: string }[]
  }[]
  readonly volumes?: readonly { readonly name: string }[]
  readonly terminationGracePeriodSeconds: number
}

describe('the rendered charts', () => {
  const kinds = (name: ChartTestCase) => (resourcesByCase.get(name) ?? []).map(({ kind }) => kind).sort()

  test('contain exactly the enabled resources', () => {
    expect(kinds('least')).toEqual(['Service', 'Service', 'ServiceAccount', 'StatefulSet'])
    expect(kinds('memory')).toEqual(['Service', 'Service', 'StatefulSet'])
    expect(kinds('full')).toEqual(
      ['Ingress', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount', 'ServiceMonitor', 'StatefulSet'], // prettier-ignore
    )
  })

  test('expose the exact webhook path in the ingress', () => {
    const ingress = resourcesByCase.get('full')?.find(({ kind }) => kind === 'Ingress')?.spec
    expect(JSON.stringify(ingress)).toContain('"path":"/api/github/webhooks","pathType":"Exact"')
  })
})

test('the compose file runs catalog-bot read-only without capabilities, and contains no secret', () => {
  const compose = parse(readTextFile(projectRoot, 'deploy', 'compose.yaml')) as {
    services: { bot: { environment: Record<string, string>; stop_grace_period: string } }
  }
  const { bot } = compose.services
  expect(bot).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' })
  for (const [name, value] of Object.entries(bot.environment))
    if (name !== 'STOP_SECONDS') expect(value).toMatch(/\$\{[A-Z_]+:\?\}/)
  expect(parseInt(bot.stop_grace_period, 10)).toBeGreaterThan(Number(bot.environment['STOP_SECONDS']))
})
