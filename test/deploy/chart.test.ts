// The Helm chart: which values it accepts, and that its output matches the Kubernetes schemas. Without helm, the tests
// check the recorded output (test/deploy/rendered), and that it was rendered from the current chart.
import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { coerceToSchema } from '../../packages/bundle/src/kubernetes/coerce-to-schema.ts'
import { findSchemaName, type SchemaType } from '../../packages/bundle/src/kubernetes/schemas.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import { findMissingProgram } from '../left-out.ts'
import {
  chartDirectory,
  chartValuesByCase,
  rejectedChartValues,
  renderChart,
  type ChartCase,
} from './chart-cases.ts'
import { parseYamlDocumentTree } from '../../packages/fbc/src/go/yaml/read-yaml.ts'

const projectRoot = join(import.meta.dirname, '../..')
const renderedChartsDirectory = join(import.meta.dirname, 'rendered')
const readTextFile = (...path: readonly string[]) => readFileSync(join(...path), 'utf8')

/** The digest of the chart and its values. If it changes, the recorded output is outdated. */
const chartHash = createHash('sha256')
for (const path of readdirSync(chartDirectory, { recursive: true, encoding: 'utf8' }).sort())
  if (statSync(join(chartDirectory, path)).isFile() && !path.startsWith('README'))
    chartHash.update(`${path}\n${readTextFile(chartDirectory, path)}\n`)
chartHash.update(JSON.stringify([chartValuesByCase, rejectedChartValues]))
const chartDigestComment = `# Made by helm of the chart ${chartHash.digest('hex').slice(0, 16)}: UPDATE=1 npm test -- test/deploy, with helm on the PATH.\n`

/** What helm prints for values that it rejects, one line per problem. */
function formatHelmValueErrors(): string {
  const lines = rejectedChartValues.flatMap(([what, values]) => {
    try {
      renderChart(values)
      return [`${what}: accepted`]
    } catch (error) {
      const { stderr } = error as { readonly stderr: string }
      const problems = stderr.split('\n').filter((line) => /^(?:Error: execution|- )/.test(line))
      return problems.map((line) => `${what}: ${line}`)
    }
  })
  return `${lines.join('\n')}\n`
}

/** As the setup page stores them, or a Secret contains them. */
const appCredentials = {
  APP_ID: '12',
  PRIVATE_KEY: generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
  WEBHOOK_SECRET: 'sixteen or more characters',
  CLIENT_ID: 'Iv1.1',
  CLIENT_SECRET: 'x'.repeat(20),
}

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
        jobLabel: ':string',
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
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  /** Combines values as helm does: objects are merged, everything else is replaced. */
  const withDefaults = (given: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(defaults), ...Object.keys(given)])].map((key) => {
        const [before, after] = [defaults[key], given[key]]
        return [key, isMap(before) && isMap(after) ? { ...before, ...after } : (after ?? before)]
      }),
    )

  test.each(Object.entries(chartValuesByCase))('of the case %s are valid', (_name, given) => {
    expect({ ok: isValid(withDefaults(given)), errors: isValid.errors }).toEqual({ ok: true, errors: null })
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

  test('are each set by a case', () => {
    const listPaths = (value: unknown, path: string): string[] =>
      isMap(value) && Object.keys(value).length > 0
        ? Object.entries(value).flatMap(([name, one]) =>
            listPaths(one, path === '' ? name : `${path}.${name}`),
          )
        : [path]
    const given = Object.values(chartValuesByCase).flatMap((values) => listPaths(values, ''))
    const isGiven = (path: string) => given.some((one) => one === path || one.startsWith(`${path}.`))
    expect(listPaths(defaults, '').filter((path) => !isGiven(path))).toEqual([])
  })

  test('the schema lists the documented settings, and Chart.yaml contains the icon', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', 'scripts/chart.ts', '--check'], {
      cwd: projectRoot,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('the chart has the version of the project', () => {
    const { version } = JSON.parse(readTextFile(projectRoot, 'package.json')) as { version: string }
    expect(parse(readTextFile(chartDirectory, 'Chart.yaml'))).toMatchObject({ version, appVersion: version })
    expect(readTextFile(projectRoot, 'docs', 'how-to', 'kubernetes.md')).toContain(
      `/catalog-bot:${version} .`,
    )
  })
})

const chartCaseNames = Object.keys(chartValuesByCase) as ChartCase[]
const resourcesByChartCase = new Map<ChartCase, readonly KubernetesResource[]>()
/** The recorded output, which is current if helm is here. */
function readRecordedHelmOutput(fileName: string, render: () => string): string {
  const file = join(renderedChartsDirectory, fileName)
  if (findMissingProgram('helm') !== undefined) return existsSync(file) ? readTextFile(file) : ''
  const current = `${chartDigestComment}${render()}`
  if (process.env['UPDATE'] === '1') writeFileSync(file, current)
  expect(readTextFile(file)).toBe(current)
  return current
}
for (const name of chartCaseNames) {
  const recorded = readRecordedHelmOutput(`${name}.yaml`, () => renderChart(chartValuesByCase[name]))
  resourcesByChartCase.set(
    name,
    parseAllDocuments(recorded).map((document) => document.toJS() as KubernetesResource),
  )
}
const helmValueErrors = readRecordedHelmOutput('rejected.txt', formatHelmValueErrors)

test.each(rejectedChartValues)(
  'values with %s are rejected, and the message names the value',
  (what, _values, named) => {
    expect(helmValueErrors.startsWith(chartDigestComment)).toBe(true)
    const messages = helmValueErrors.split('\n').filter((line) => line.startsWith(`${what}: `))
    expect(messages).not.toContain(`${what}: accepted`)
    expect(messages.join('\n')).toContain(named)
  },
)

describe.each(chartCaseNames)('the rendered chart of the case %s', (name) => {
  const all = () => resourcesByChartCase.get(name) ?? []
  const one = (kind: string) => all().find((resource) => resource.kind === kind)

  test('was rendered from the current chart', () => {
    expect(readTextFile(renderedChartsDirectory, `${name}.yaml`).startsWith(chartDigestComment)).toBe(true)
  })

  test('matches the Kubernetes schemas', () => {
    expect(all().length).toBeGreaterThan(2)
    for (const resource of all()) {
      const { apiVersion, kind } = resource
      const type = kind === 'ServiceMonitor' ? serviceMonitorSchema : findSchemaName(apiVersion, kind)
      const tree = parseYamlDocumentTree(Buffer.from(JSON.stringify(resource)))
      if (type === undefined || tree === undefined) throw new Error(`${apiVersion} ${kind} has no schema`)
      expect({ kind, misfits: coerceToSchema(type, tree.value).mismatches }).toEqual({ kind, misfits: [] })
    }
  })

  test('runs as non-root, with a read-only root file system, and without a service account token', () => {
    const set = one('StatefulSet')
    if (set === undefined) throw new Error('there is no StatefulSet')
    const { spec } = (set.spec as unknown as { template: { spec: RenderedPodSpec } }).template
    const [container] = spec.containers
    const testPod = one('Pod')?.spec as unknown as RenderedPodSpec
    for (const pod of [spec, testPod])
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      })
    expect(container).toMatchObject({
      livenessProbe: { httpGet: { path: '/livez' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
    })
    const secret =
      container?.env.filter(({ name: variable }) => /SECRET|KEY|PASSWORD|DATABASE_URL/.test(variable)) ?? []
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

  test('sets an environment that catalog-bot accepts, also after a restart with stored credentials', () => {
    const secrets: Readonly<Record<string, string>> = {
      ...appCredentials,
      DATABASE_URL: 'postgres://bot@database/bot',
    }
    const given = Object.entries(getContainerEnvironment(name)).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : secrets[key],
    ])
    const environment = Object.fromEntries(given) as Record<string, string | undefined>
    const settings = readSettings(environment)
    expect(settings).toMatchObject({ port: 3000, metricsPort: 9090, dataDirectory: '/data' })
    expect(settings.credentials === undefined).toBe(environment['SETUP'] === '1')
    expect(settings.setupHost).toBe(environment['SETUP'] === '1' ? '0.0.0.0' : '127.0.0.1')
    expect(readSettings({ ...appCredentials, ...environment }).credentials?.appId).toBe(12)
  })

  test('sets each variable once', () => {
    const names = Object.keys(getContainerEnvironment(name))
    expect(names).toEqual([...new Set(names)])
    expect(getContainer(name).env).toHaveLength(names.length)
  })

  test('exposes metrics on no port that the ingress and the Service for pages use', () => {
    const services = all().filter(({ kind }) => kind === 'Service')
    const ports = services.map(({ spec }) => spec as unknown as RenderedServiceSpec)
    const withMetrics = ports.filter((spec) => spec.ports.some(({ targetPort }) => targetPort === 'metrics'))
    expect(withMetrics).toEqual([expect.objectContaining({ clusterIP: 'None' })])
    expect(getContainerEnvironment(name)).toMatchObject({ PORT: '3000', METRICS_PORT: '9090' })
    expect(JSON.stringify(one('Ingress') ?? {})).not.toMatch(/metrics|9090|-pods/)
  })
})

interface RenderedContainer {
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
  readonly envFrom?: readonly object[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

interface RenderedPodSpec {
  readonly containers: readonly RenderedContainer[]
  readonly volumes?: readonly { readonly name: string }[]
  readonly terminationGracePeriodSeconds: number
}

interface RenderedServiceSpec {
  readonly clusterIP?: string
  readonly ports: readonly { readonly targetPort: string }[]
}

function getContainer(name: ChartCase): RenderedContainer {
  const set = resourcesByChartCase.get(name)?.find(({ kind }) => kind === 'StatefulSet')?.spec
  const [container] = (set as unknown as { template: { spec: RenderedPodSpec } }).template.spec.containers
  if (container === undefined) throw new Error('there is no container')
  return container
}

const getContainerEnvironment = (name: ChartCase): Record<string, unknown> =>
  Object.fromEntries(
    getContainer(name).env.map(({ name: key, value, valueFrom }) => [key, value ?? valueFrom]),
  )

describe('the rendered charts', () => {
  const kinds = (name: ChartCase) => (resourcesByChartCase.get(name) ?? []).map(({ kind }) => kind).sort()
  const specOf = (name: ChartCase, wanted: string) =>
    resourcesByChartCase.get(name)?.find(({ kind }) => kind === wanted)?.spec

  test('contain exactly the enabled resources', () => {
    expect(kinds('setup')).toEqual(['Pod', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'])
    expect(kinds('least')).toEqual(['Pod', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'])
    expect(kinds('memory')).toEqual(['Pod', 'Service', 'Service', 'StatefulSet'])
    expect(kinds('full')).toEqual(
      ['Ingress', 'NetworkPolicy', 'Pod', 'PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount', 'ServiceMonitor', 'StatefulSet'], // prettier-ignore
    )
  })

  test('start with the setup page only without credentials, and keep what it stores', () => {
    const setup = getContainerEnvironment('setup')
    expect(setup).toMatchObject({ SETUP: '1', DATA_DIR: '/data' })
    expect(Object.keys(setup)).not.toContain('APP_ID')
    expect(specOf('setup', 'StatefulSet')).toMatchObject({
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    })
    expect(getContainerEnvironment('least')).not.toHaveProperty('SETUP')
  })

  test('read the credentials from the Secret, and do not require those of sign-in and of a rotation', () => {
    const fromSecret = (key: string, optional?: boolean) => ({
      secretKeyRef: { name: 'app', key, ...(optional === true && { optional }) },
    })
    expect(getContainerEnvironment('least')).toMatchObject({
      APP_ID: fromSecret('APP_ID'),
      PRIVATE_KEY: fromSecret('PRIVATE_KEY'),
      WEBHOOK_SECRET: fromSecret('WEBHOOK_SECRET'),
      WEBHOOK_SECRET_PREVIOUS: fromSecret('WEBHOOK_SECRET_PREVIOUS', true),
      CLIENT_ID: fromSecret('CLIENT_ID', true),
      CLIENT_SECRET: fromSecret('CLIENT_SECRET', true),
    })
  })

  test('expose the pages in the ingress, or the exact webhook path', () => {
    expect(JSON.stringify(specOf('full', 'Ingress'))).toContain('"path":"/","pathType":"Prefix"')
    expect(JSON.stringify(specOf('webhooks', 'Ingress'))).toContain(
      '"path":"/api/github/webhooks","pathType":"Exact"',
    )
  })

  test('derive the public URL from the ingress', () => {
    expect(getContainerEnvironment('full')['PUBLIC_URL']).toBe('https://bot.example')
    expect(getContainerEnvironment('externalTls')['PUBLIC_URL']).toBe('https://bot.example')
    expect(getContainerEnvironment('plainHttp')['PUBLIC_URL']).toBe('http://bot.example')
    expect(getContainerEnvironment('webhooks')['PUBLIC_URL']).toBe('https://pages.example')
    expect(getContainerEnvironment('least')).not.toHaveProperty('PUBLIC_URL')
  })

  test('let only the listed peers read metrics', () => {
    const { ingress } = specOf('full', 'NetworkPolicy') as unknown as {
      readonly ingress: readonly {
        readonly ports: readonly { readonly port: unknown }[]
        readonly from?: unknown
      }[]
    }
    const rules = ingress.filter(({ ports }) => ports.some(({ port }) => port === 'metrics' || port === 9090))
    expect(rules).toEqual([
      {
        ports: [{ protocol: 'TCP', port: 'metrics' }],
        from: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      },
    ])
    expect(specOf('full', 'ServiceMonitor')).toMatchObject({
      jobLabel: 'app.kubernetes.io/name',
      endpoints: [{ port: 'metrics', path: '/metrics' }],
    })
  })

  test('mount the targets of publishing and of cluster tests where the variables point', () => {
    const { PUBLISH_TARGETS: publishing, CLUSTER_TARGETS: clusters } = getContainerEnvironment('full')
    const paths = getContainer('full').volumeMounts.map(({ mountPath }) => `${mountPath}/targets.yaml`)
    expect(paths).toEqual(expect.arrayContaining([publishing, clusters]))
    expect(getContainer('full').envFrom).toEqual([{ secretRef: { name: 'proxy' } }])
  })
})
