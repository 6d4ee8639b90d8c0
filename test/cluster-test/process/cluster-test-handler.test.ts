// The process with the kubeconfigs: which cluster it opens, what progress it reports, and what an order cannot choose.
import { expect, test } from '@jest/globals'
import type { PlannedClusterTest } from '../../../src/checks/install/cluster-test/cluster-test-plan.ts'
import {
  findClusterTarget,
  parseClusterTargets,
  computeClusterIdentityKey,
} from '../../../src/cluster-test/process/cluster-targets.ts'
import {
  handleClusterTestRequest,
  type ClusterTestHandlerContext,
} from '../../../src/cluster-test/process/cluster-test-handler.ts'
import { extractClusterTestEnvVariables } from '../../../src/cluster-test/process/cluster-test-client.ts'
import type {
  ClusterTestWorkerResponse,
  ClusterTestProgress,
  ClusterTestWorkerRequest,
} from '../../../src/cluster-test/process/cluster-test-protocol.ts'
import { createKubeClusterClient } from '../../../src/cluster-test/cluster/open-cluster.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  coreApiKinds,
  olmV0ApiKinds,
  olmV1ApiKinds,
  startFakeApiServer,
  FakeKubernetesApi,
  createKubernetesStatusResponse,
} from '../cluster/fake-kubernetes-api.ts'
import { simulateOlmV0, simulateOlmV1 } from '../cluster/fake-olm.ts'
import { createPlannedClusterTest } from '../planned-cluster-test.ts'

const githubRepository = { owner: 'coast', name: 'catalog' }
const clusterTargetsYaml = `
- github: Coast/Catalog
  installation: 7
  kubeconfig: first
  catalogHost: bot.example
  quota: {pods: 3, memory: 1Gi}
- {github: other/catalog, kubeconfig: second}
- {github: open/catalog, kubeconfig: first, catalogHost: bot.example, network: {open: true}}
- {github: trusted/catalog, kubeconfig: first, catalogHost: bot.example, confined: false}
- {github: wide/catalog, kubeconfig: first, catalogHost: bot.example, network: {reaches: [10.1.0.0/16]}}
`
const plannedClusterTest = createPlannedClusterTest({
  steps: [{ root: 'foo.v1', version: '1.0.0', names: ['foo.v1'] }],
})
const createRequest = (more: object = {}): ClusterTestWorkerRequest => ({
  kind: 'try',
  github: githubRepository,
  installation: 7,
  trial: plannedClusterTest,
  catalogs: { head: 4000 },
  abandoned: [],
  ...more,
})

interface ClusterTestRequestScenario {
  readonly api: FakeKubernetesApi
  readonly opened: string[]
  readonly news: ClusterTestProgress[]
  readonly sendOrder: (
    given: ClusterTestWorkerRequest,
    say?: (news: ClusterTestProgress) => 'go' | 'stop',
  ) => Promise<ClusterTestWorkerResponse>
}

async function withClusterTestRequestScenario(
  use: (scenario: ClusterTestRequestScenario) => Promise<void>,
  kinds = [...coreApiKinds, ...olmV0ApiKinds],
): Promise<void> {
  const server = await startFakeApiServer()
  const folder = mkdtempSync(join(tmpdir(), 'trials-'))
  writeFileSync(join(folder, 'first'), server.kubeconfig)
  const api = new FakeKubernetesApi(kinds)
  server.api = api
  api.put({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default' },
    endpoints: [{ addresses: ['192.0.2.10', '2001:db8::1'] }],
    ports: [{ name: 'https', port: 6443 }],
  })
  const opened: string[] = []
  const news: ClusterTestProgress[] = []
  const workerContext: ClusterTestHandlerContext = {
    targets: parseClusterTargets(clusterTargetsYaml),
    open: async ({ kubeconfig }) => {
      opened.push(kubeconfig)
      return createKubeClusterClient({ file: join(folder, kubeconfig), clock: api.clock })
    },
    clock: api.clock,
  }
  const sendOrder: ClusterTestRequestScenario['sendOrder'] = (given, onNews = () => 'go') =>
    handleClusterTestRequest(given, workerContext, async (one) => {
      news.push(one)
      return Promise.resolve(onNews(one))
    })
  try {
    await use({ api, opened, news, sendOrder })
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

test('runs a test on the cluster configured for the repository, within the configured quota', () =>
  withClusterTestRequestScenario(async ({ api, opened, news, sendOrder }) => {
    simulateOlmV0(api, { plans: [['foo.v1']] })
    const answer = await sendOrder(createRequest())
    expect(answer).toMatchObject({ kind: 'tried', report: { outcome: { verdict: 'installs' } } })
    expect(opened).toEqual(['first'])
    const made = api.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => body as { kind: string; spec?: unknown })
    expect(made.find(({ kind }) => kind === 'ResourceQuota')?.spec).toMatchObject({
      hard: { pods: '3', 'limits.memory': '1Gi' },
    })
    expect(made.find(({ kind }) => kind === 'CatalogSource')?.spec).toMatchObject({
      address: 'bot.example:4000',
    })
    // The id is reported before any object has it in its name.
    expect(news[0]?.id).toBe(answer.kind === 'tried' ? answer.report.id : '')
  }))

test('writes nothing until the API enforces the policies on the account, and fails if it never does', () =>
  withClusterTestRequestScenario(async ({ api, sendOrder }) => {
    simulateOlmV0(api, { plans: [['foo.v1']] })
    const writes = () =>
      api.requests.filter(({ method, query }) => method !== 'GET' && query.get('dryRun') !== 'All')
    const abandoned = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'catalog-bot-foo-deadbeef',
        labels: { 'catalog-bot.io/trial': 'deadbeef', 'catalog-bot.io/expires': '1' },
      },
    }
    api.put(abandoned)
    api.policiesSince = Infinity
    expect(await sendOrder(createRequest({ abandoned: ['deadbeef'] }))).toEqual({
      kind: 'failed',
      why: 'the policies in cluster-rights.yaml do not restrict this account: a dry run to create the Namespace not-of-a-trial was accepted',
    })
    expect(writes()).toEqual([])
    // An error that isn't a policy rejection doesn't prove that the policies apply.
    api.policiesSince = -Infinity
    api.fault = ({ method }) =>
      method === 'POST' ? createKubernetesStatusResponse(503, 'Unavailable', 'restarting') : undefined
    expect(await sendOrder(createRequest())).toMatchObject({ kind: 'failed' })
    api.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('/clusterrolebindings')
        ? createKubernetesStatusResponse(
            403,
            'Forbidden',
            'User "trials" cannot create resource "clusterrolebindings"',
          )
        : undefined
    expect(await sendOrder(createRequest())).toMatchObject({ kind: 'failed' })
    expect(writes()).toEqual([])
    api.fault = () => undefined
    api.policiesSince = api.now + 30_000
    expect(await sendOrder(createRequest())).toMatchObject({
      kind: 'tried',
      report: { outcome: { verdict: 'installs' } },
    })
    const [first] = writes()
    expect(first).toBeDefined()
    expect(api.requests.slice(0, api.requests.indexOf(first!)).at(-1)?.method).toBe('GET')
    expect(await sendOrder(createRequest({ github: { owner: 'trusted', name: 'catalog' } }))).toMatchObject({
      kind: 'tried',
    })
  }))

test('allows egress to the API and configured networks; skips the test if API addresses are unknown', () =>
  withClusterTestRequestScenario(async ({ api, sendOrder }) => {
    simulateOlmV0(api, { plans: [['foo.v1']] })
    const policyFor = async (owner: string) => {
      api.requests.length = 0
      const answer = await sendOrder(createRequest({ github: { owner, name: 'catalog' } }))
      const made = api.requests
        .map(({ body }) => body as { kind?: string; spec?: { egress: unknown } } | undefined)
        .find((body) => body?.kind === 'NetworkPolicy')
      return { answer, egress: made?.spec?.egress }
    }
    const { egress } = await policyFor('wide')
    expect(egress).toEqual([
      { to: [{ namespaceSelector: { matchLabels: { 'catalog-bot.io/trial': expect.any(String) } } }] },
      { to: [{ namespaceSelector: {} }], ports: expect.any(Array) },
      { to: [{ ipBlock: { cidr: '192.0.2.10/32' } }], ports: [{ protocol: 'TCP', port: 6443 }] },
      { to: [{ ipBlock: { cidr: '2001:db8::1/128' } }], ports: [{ protocol: 'TCP', port: 6443 }] },
      { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] },
    ])
    const slice = api.get('EndpointSlice')
    if (slice) api.remove(slice)
    api.controllers = []
    simulateOlmV0(api, { plans: [['foo.v1']] })
    expect((await policyFor('open')).egress).toBeUndefined()
    expect(await policyFor('wide')).toEqual({
      answer: {
        kind: 'not-tried',
        why: 'the addresses of the Kubernetes API are unknown: the kubernetes EndpointSlice in the default namespace has no addresses',
      },
      egress: undefined,
    })
  }))

test('OLM v1 uses the images that the App found, by digest, or the test reports why there are none', () =>
  withClusterTestRequestScenario(
    async ({ api, sendOrder }) => {
      simulateOlmV1(api, { installs: { base: 'foo.v0', head: 'foo.v1' } })
      const head = `registry.example/catalog@sha256:${'1'.repeat(64)}`
      const base = `registry.example/catalog@sha256:${'2'.repeat(64)}`
      const v1 = { ...plannedClusterTest, target: 'OLM v1' as const }
      const upgrade = {
        ...v1,
        isUpgrade: true,
        steps: ['foo.v0', 'foo.v1'].map((root) => ({ root, version: '1.0.0', names: [root] })),
      }
      const given = (installTest: PlannedClusterTest, images?: object) =>
        sendOrder(createRequest({ trial: installTest, ...(images && { images }) }))
      expect(await given(v1, { head })).toMatchObject({
        kind: 'tried',
        report: { outcome: { verdict: 'installs' }, isNetworkClosed: true },
      })
      expect(await given(upgrade, { head, base })).toMatchObject({
        kind: 'tried',
        report: { outcome: { verdict: 'installs' } },
      })
      const images = api.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body }) => body as { kind: string; spec?: { source?: { image?: { ref: string } } } })
        .filter(({ kind }) => kind === 'ClusterCatalog')
        .map(({ spec }) => spec?.source?.image?.ref)
      expect(images).toEqual([head, base, head])
      expect(await given(v1, { why: 'there is no preview' })).toEqual({
        kind: 'not-tried',
        why: 'there is no preview',
      })
      expect(await given(upgrade, { head })).toMatchObject({ kind: 'not-tried' })
      expect(await given(v1)).toMatchObject({ kind: 'not-tried' })
    },
    [...coreApiKinds, ...olmV1ApiKinds],
  ))

test('rejects a repository or installation that the operator did not list, regardless of the order', () =>
  withClusterTestRequestScenario(async ({ api, opened, sendOrder }) => {
    for (const wrong of [
      { installation: 8 },
      { github: { owner: 'coast', name: 'catalog2' } },
      { github: { owner: 'mallory', name: 'catalog' }, kubeconfig: 'first', namespace: 'kube-system' },
    ])
      expect(await sendOrder(createRequest(wrong))).toMatchObject({ kind: 'refused' })
    expect(opened).toEqual([])
    expect(api.requests).toEqual([])
  }))

test('removes what an earlier process left behind, and stops and cleans up a canceled test', () =>
  withClusterTestRequestScenario(async ({ api, sendOrder }) => {
    simulateOlmV0(api, { plans: [['foo.v1']] })
    api.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'catalog-bot-foo-deadbeef',
        labels: { 'catalog-bot.io/trial': 'deadbeef', 'catalog-bot.io/expires': '99999999999' },
      },
    })
    let hasStarted = false
    const answer = await sendOrder(createRequest({ abandoned: ['deadbeef'] }), ({ id }) => {
      if (hasStarted) return 'stop'
      hasStarted = id !== undefined
      return 'go'
    })
    expect(answer).toMatchObject({
      kind: 'tried',
      report: { outcome: { code: 'killed', verdict: 'could not be found out' } },
    })
    expect(api.list('Namespace')).toEqual([])
  }))

test('skips a test that the cluster does not support or that has no catalog, and reports why', async () => {
  await withClusterTestRequestScenario(async ({ sendOrder }) => {
    const v1 = await sendOrder(createRequest({ trial: { ...plannedClusterTest, target: 'OLM v1' } }))
    expect(v1).toEqual({ kind: 'not-tried', why: 'the cluster does not serve the OLM v1 API' })
    const { catalogs: _, ...without } = createRequest() as Extract<ClusterTestWorkerRequest, { kind: 'try' }>
    expect(await sendOrder(without)).toMatchObject({ kind: 'not-tried' })
    expect(await sendOrder({ kind: 'prepare', github: githubRepository, installation: 7 })).toMatchObject({
      kind: 'prepared',
      servesCatalogs: true,
    })
  })
})

test('parses the list strictly, keeps its content out of errors, and gives each cluster one slot', () => {
  expect(() => parseClusterTargets('- {github: a/b, kubeconfig: c, namespace: secret-name}')).toThrow(
    /^CLUSTER_TARGETS: 0: (?!.*secret-name: )/,
  )
  expect(() => parseClusterTargets('- {github: "a/*", kubeconfig: c}')).toThrow('OWNER/REPOSITORY')
  expect(() => parseClusterTargets('{')).toThrow('CLUSTER_TARGETS is not valid YAML')
  const targets = parseClusterTargets(
    '[{github: a/b, kubeconfig: c}, {github: a/d, kubeconfig: c}, {github: a/e, kubeconfig: c, context: x}]',
  )
  const slots = targets.map(computeClusterIdentityKey)
  expect(slots[0]).toBe(slots[1])
  expect(slots[0]).not.toBe(slots[2])
  expect(findClusterTarget(targets, { github: { owner: 'A', name: 'B' }, installation: 1 })).toBe(targets[0])
})

test('takes the path of the list out of the environment, so that only the test process gets it', () => {
  const environment: Record<string, string | undefined> = {
    CLUSTER_TARGETS: '/etc/clusters',
    PRIVATE_KEY: 'x',
    WEBHOOK_SECRET: 'y',
    PUBLISH_CREDENTIALS: 'z',
  }
  expect(extractClusterTestEnvVariables(environment)).toEqual({ CLUSTER_TARGETS: '/etc/clusters' })
  expect(environment['CLUSTER_TARGETS']).toBeUndefined()
})
