// Install tests on a simulated cluster: every path, every class of failure, every cleanup. The tests control the clock,
// so minutes pass instantly.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, jest, test } from '@jest/globals'
import { defaultClusterTestDeadlines } from '../../../src/checks/install/cluster-test/cluster-test-state.ts'
import {
  expirationLabelKey,
  clusterTestLabelKey,
  type ClusterTestPlan,
  type PlannedClusterTest,
} from '../../../src/checks/install/cluster-test/cluster-test-plan.ts'
import type { ClusterTestReport } from '../../../src/checks/install/cluster-test/cluster-test-report.ts'
import type { KubeClusterClient } from '../../../src/cluster-test/cluster/cluster.ts'
import {
  buildClusterTestPlan,
  sweepExpiredClusterTests,
  runClusterTest,
  type ClusterTestOptions,
  runClusterTests,
} from '../../../src/cluster-test/cluster/run-cluster-tests.ts'
import { createKubeClusterClient } from '../../../src/cluster-test/cluster/open-cluster.ts'
import { describeClusterTests } from '../../../src/report/cluster-test-check.ts'
import {
  coreApiKinds,
  olmV0ApiKinds,
  olmV1ApiKinds,
  startFakeApiServer,
  getRukPakApiKinds,
  FakeKubernetesApi,
  createKubernetesStatusResponse,
  type FakeApiRequest,
  type StoredKubernetesObject,
} from './fake-kubernetes-api.ts'
import { simulateOlmV0, simulateOlmV1, simulateRukPak, type FakeOlmV0Script } from './fake-olm.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'
import { createPlannedClusterTest } from '../planned-cluster-test.ts'

const temporaryDirectory = createSelfRemovingDirectory('trial')
let fakeApi: FakeKubernetesApi
let clusterClient: KubeClusterClient

const fakeApiServer = await startFakeApiServer()
writeFileSync(join(temporaryDirectory, 'kubeconfig'), fakeApiServer.kubeconfig)
afterAll(() => fakeApiServer.close())
beforeEach(() => resetFakeCluster())

/** A cluster that serves these APIs in addition to those of every cluster. */
async function resetFakeCluster(kinds = olmV0ApiKinds): Promise<void> {
  await clusterClient?.close()
  fakeApi = new FakeKubernetesApi([...coreApiKinds, ...kinds])
  fakeApiServer.api = fakeApi
  clusterClient = await createKubeClusterClient({
    file: join(temporaryDirectory, 'kubeconfig'),
    clock: fakeApi.clock,
  })
}

const catalogServerAddresses = { catalog: { address: 'head:50051' }, base: { address: 'base:50051' } }
const catalogImages = {
  catalog: { image: 'registry.test/head@sha256:1' },
  base: { image: 'registry.test/base@sha256:2' },
}
const createClusterTestStep = (root: string, ...others: string[]) => ({
  root,
  version: '1.0.0',
  names: [root, ...others],
  image: `registry.test/${root}@sha256:${root}`,
})

const createClusterTestPlan = (more?: Partial<PlannedClusterTest>) =>
  createPlannedClusterTest({ steps: [createClusterTestStep('foo.v1')], crds: ['reds.foo.test'], ...more })
const upgradeTestPlan: Partial<PlannedClusterTest> = {
  steps: [createClusterTestStep('foo.v1'), createClusterTestStep('foo.v2')],
  isUpgrade: true,
}

const inconclusive = { verdict: 'could not be found out' }

const createCompletedClusterTestPlan = (
  more?: Partial<PlannedClusterTest>,
  catalogSource: Parameters<typeof buildClusterTestPlan>[1] = catalogServerAddresses,
): ClusterTestPlan =>
  buildClusterTestPlan(
    createClusterTestPlan(more),
    catalogSource,
    defaultClusterTestDeadlines,
    fakeApi.clock.now(),
  )
/** Polls rarely, because each poll sends a dozen requests. */
const createClusterTestOptions = (): ClusterTestOptions => ({
  cluster: clusterClient,
  clock: fakeApi.clock,
  every: 10_000,
})
const runTestPlan = (
  more?: Partial<PlannedClusterTest>,
  catalogSource?: Parameters<typeof buildClusterTestPlan>[1],
): Promise<ClusterTestReport> =>
  runClusterTest(createCompletedClusterTestPlan(more, catalogSource), createClusterTestOptions())

/** The kind and name of every object on the cluster. */
const listClusterObjects = (): string[] =>
  [...fakeApi.objects.values()].map(({ kind, metadata }) => `${kind} ${metadata.name}`)
const listKubernetesWriteRequests = (): string[] =>
  fakeApi.requests
    .filter(({ method }) => method !== 'GET')
    .map(
      ({ method, path }) =>
        `${method} ${path
          .split('/')
          .filter((part) => !part.startsWith('catalog-bot-'))
          .slice(-2)
          .join('/')}`,
    )

test('OLM v0: the Operator is installed by the simulated plan, and nothing is left behind', async () => {
  simulateOlmV0(fakeApi, { plans: [['foo.v1', 'dependency.v1']], crds: ['reds.foo.test'] })
  const report = await runTestPlan({ steps: [createClusterTestStep('foo.v1', 'dependency.v1')] })
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(report.cluster).toEqual([
    'Kubernetes v1.36.2',
    'operators.coreos.com/v1alpha1',
    'operators.coreos.com/v1',
  ])
  expect(report.events.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^namespace catalog-bot-foo-[a-z0-9]{8} exists$/),
    'the catalog is ready at head:50051',
    'OLM and the simulation both chose foo.v1, dependency.v1',
    'InstallPlan install-1 is approved',
    'InstallPlan install-1 is complete',
    'it installs',
  ])
  expect(report.leftovers).toEqual([])
  expect(listClusterObjects()).toEqual([])
  const made = fakeApi.requests
    .filter(({ method }) => method === 'POST')
    .map(
      ({ body }) =>
        body as { kind: string; metadata: { labels?: Record<string, string>; ownerReferences?: object[] } },
    )
  expect(made.map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ResourceQuota',
    'LimitRange',
    'OperatorGroup',
    'CatalogSource',
    'Subscription',
  ])
  for (const { kind, metadata } of made) {
    expect(metadata.labels?.[clusterTestLabelKey]).toBe(report.id)
    expect(Number(metadata.labels?.[expirationLabelKey]) * 1000).toBeGreaterThan(fakeApi.now)
    if (kind !== 'Namespace')
      expect(metadata.ownerReferences).toEqual([
        expect.objectContaining({ kind: 'Namespace', name: report.namespace, uid: expect.any(String) }),
      ])
  }
  // Objects that OLM needs to clean up an Operator are deleted after that Operator.
  const order = listKubernetesWriteRequests()
    .filter((one) => one.startsWith('DELETE'))
    .map((one) => one.split(' ')[1]?.split('/')[0])
  expect([...new Set(order)]).toEqual([
    'subscriptions',
    'clusterserviceversions',
    'installplans',
    'catalogsources',
    'operatorgroups',
    'customresourcedefinitions',
    // The namespace of the install test; listWriteRequests omits its name.
    'v1',
  ])
})

test('OLM v0: an upgrade switches the catalog by address or image, and leaves nothing behind', async () => {
  for (const catalogSource of [catalogServerAddresses, catalogImages]) {
    await resetFakeCluster()
    simulateOlmV0(fakeApi, { plans: [['foo.v1'], ['foo.v2']] })
    const report = await runTestPlan(upgradeTestPlan, catalogSource)
    expect(report.outcome).toEqual({ verdict: 'installs' })
    expect(report.events.map(({ says }) => says)).toContain(
      'foo.v1 is running; switching to the changed catalog',
    )
    expect(listClusterObjects()).toEqual([])
  }
})

test('OLM v0: each install mode gets its OperatorGroup', async () => {
  const groups: unknown[] = []
  for (const mode of ['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const) {
    await resetFakeCluster()
    simulateOlmV0(fakeApi, { plans: [['foo.v1']] })
    const report = await runTestPlan({ mode })
    expect(report.outcome.verdict).toBe('installs')
    expect(listClusterObjects()).toEqual([])
    const group = fakeApi.requests.find(
      ({ method, path }) => method === 'POST' && path.endsWith('/operatorgroups'),
    )
    groups.push(
      (group?.body as { spec?: { targetNamespaces?: string[] } } | undefined)?.spec?.targetNamespaces?.map(
        (one) => one.replace(report.namespace, 'own'),
      ),
    )
  }
  expect(groups).toEqual([undefined, ['own'], ['own-target'], ['own', 'own-target']])
})

const createPod = (name: string, labels: Record<string, string>, container: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  status: {
    containerStatuses: [{ name: 'main', image: 'registry.test/x:1', restartCount: 0, ...container }],
  },
})
const createCrd = (name: string, metadata: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name, ...metadata },
})
const createNamespace = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...metadata },
})
const waiting = (reason: string, message = '') => ({ state: { waiting: { reason, message } } })
const crashing = (restartCount: number, terminated: object) => ({
  ...waiting('CrashLoopBackOff'),
  restartCount,
  lastState: { terminated },
})
const running = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }
const createFailedCsvStatus = (reason: string, message = 'because') => ({ phase: 'Failed', reason, message })
const unavailableDeploymentStatus = {
  observedGeneration: 1,
  updatedReplicas: 0,
  conditions: [{ type: 'Available', status: 'False' }],
}

/** Lets each request that matches fail with this status. */
const failRequests = (
  isMatch: (request: FakeApiRequest) => boolean,
  ...response: Parameters<typeof createKubernetesStatusResponse>
): void => {
  fakeApi.fault = (request) => (isMatch(request) ? createKubernetesStatusResponse(...response) : undefined)
}
const failCreations = (...response: Parameters<typeof createKubernetesStatusResponse>): void =>
  failRequests(({ method }) => method === 'POST', ...response)
const rejectBundlePatches = (message = 'bundle.spec is immutable'): void =>
  failRequests(({ query }) => query.get('dryRun') === 'All', 403, 'Forbidden', message)

interface ClusterTestFailure {
  readonly script?: Partial<FakeOlmV0Script>
  readonly plan?: Partial<PlannedClusterTest>
  readonly pods?: readonly ReturnType<typeof createPod>[]
  readonly prepare?: () => void
}

const createOperatorPods = (container: object) => [createPod('foo-1', { app: 'foo.v1' }, container)]
const createUnpackPods = (container: object) => [
  createPod('unpack-1', { 'operatorframework.io/bundle-unpack-ref': 'x' }, container),
]
const failCatalog = (container?: object): ClusterTestFailure => ({
  script: { catalog: () => ({ connectionState: { lastObservedState: 'TRANSIENT_FAILURE' } }) },
  pods: container ? [createPod('catalog-1', { 'olm.catalogSource': 'catalog' }, container)] : [],
})
const failResolution = (reason: string, message: string): ClusterTestFailure => ({
  script: { resolve: () => [{ type: 'ResolutionFailed', status: 'True', reason, message }] },
})
const chooseBundles = (...plans: string[][]): ClusterTestFailure => ({ script: { plans } })
const neverUnpack = (container?: object): ClusterTestFailure => ({
  script: { resolve: () => [{ type: 'BundleUnpacking', status: 'True', reason: 'UnpackingInProgress' }] },
  pods: container ? createUnpackPods(container) : [],
})
const failUnpack = (message: string, container?: object): ClusterTestFailure => ({
  script: {
    resolve: () => [{ type: 'BundleUnpackFailed', status: 'True', reason: 'BundleUnpackFailed', message }],
  },
  pods: container ? createUnpackPods(container) : [],
})
const failInstallPlan = (message: string, more: object = {}): ClusterTestFailure => ({
  script: {
    plan: () => ({
      phase: 'Failed',
      conditions: [{ type: 'Installed', status: 'False', reason: 'InstallComponentFailed', message }],
      ...more,
    }),
  },
})
const failCsv = (reason: string, message?: string): ClusterTestFailure => ({
  script: { csv: () => createFailedCsvStatus(reason, message) },
})
const lackRequirement = (requirement: object): ClusterTestFailure => ({
  script: {
    csv: () => ({
      phase: 'Pending',
      reason: 'RequirementsNotMet',
      message: 'x',
      requirementStatus: [requirement],
    }),
  },
})
const failOperator = (
  container?: object,
  csv?: ReturnType<NonNullable<FakeOlmV0Script['csv']>>,
): ClusterTestFailure => ({
  script: { deployment: () => unavailableDeploymentStatus, ...(csv && { csv: () => csv }) },
  pods: container ? createOperatorPods(container) : [],
})
const installTimeout = createFailedCsvStatus('InstallCheckFailed', 'install timeout')

const clusterTestFailureCases: readonly (readonly [says: string, code: string, ClusterTestFailure])[] = [
  [
    'a catalog image that does not exist',
    'catalog-image-missing',
    failCatalog(waiting('ErrImagePull', 'manifest unknown')),
  ],
  [
    'a catalog image that is private',
    'image-unauthorized',
    failCatalog(waiting('ImagePullBackOff', 'unauthorized: authentication required')),
  ],
  [
    'a catalog image that the registry rate-limits',
    'registry-failing',
    failCatalog(waiting('ErrImagePull', 'toomanyrequests: slow down')),
  ],
  ['a catalog that crashes', 'catalog-crash', failCatalog(crashing(3, { reason: 'Error', exitCode: 1 }))],
  [
    'a catalog for another processor',
    'arch-mismatch',
    failCatalog(crashing(3, { reason: 'Error', exitCode: 1, message: 'exec format error' })),
  ],
  ['a catalog that does not accept connections', 'catalog-not-connected', failCatalog()],
  ['a cluster whose OLM does nothing', 'olm-silent', { script: { catalog: () => ({}) } }],
  [
    'a pod that a policy refuses',
    'policy',
    { script: { catalog: () => ({ message: 'pods "x" is forbidden: violates PodSecurity' }) } },
  ],
  [
    'constraints that cannot be met',
    'resolution-unsatisfiable',
    failResolution('ConstraintsNotSatisfiable', 'no operators found'),
  ],
  [
    'a resolution that an error prevents',
    'catalog-not-connected',
    failResolution('ErrorPreventedResolution', 'failed to list bundles'),
  ],
  ['another choice than the simulated one', 'resolver-mismatch', chooseBundles(['foo.v0'])],
  [
    'a plan with more than the simulation has',
    'resolver-mismatch',
    chooseBundles(['foo.v1', 'unrelated.v1']),
  ],
  [
    'a further plan after the last',
    'resolver-mismatch',
    {
      script: { plans: [['foo.v1'], ['foo.v9']], state: 'UpgradePending' },
      prepare: simulateUnrequestedUpgrade,
    },
  ],
  ['no way from the old head', 'no-upgrade-edge', { ...chooseBundles(['foo.v1']), plan: upgradeTestPlan }],
  [
    'a bundle image that does not exist',
    'bundle-image-missing',
    neverUnpack(waiting('ErrImagePull', 'not found')),
  ],
  ['a bundle that is too large', 'unpack-too-large', failUnpack('exceeds the data limit')],
  ['a bundle that is not readable', 'unpack-invalid', failUnpack('error unpacking: no csv')],
  [
    'an unpacking that fails again and again',
    'unpack-failed',
    failUnpack('Job failed: BackoffLimitExceeded'),
  ],
  ['an unpacking that takes too long', 'too-slow', neverUnpack()],
  [
    'a kind that OLM does not take',
    'unsupported-kind',
    failInstallPlan('x', {
      plan: [{ status: 'UnsupportedResource', resource: { kind: 'PodMonitor', name: 'x' } }],
    }),
  ],
  [
    'an API that the cluster lacks',
    'api-missing-for-bundle',
    failInstallPlan('api-server resource not found installing ServiceMonitor'),
  ],
  ['a CRD that loses data', 'crd-incompatible', failInstallPlan('risk of data loss updating "reds"')],
  ['a plan that a webhook refuses', 'policy', failInstallPlan('admission webhook "x" denied the request')],
  ['a plan that fails otherwise', 'plan-failed', failInstallPlan('something else')],
  [
    'a plan that fails for an API that is busy',
    'api-unreachable',
    failInstallPlan('error creating clusterrole x: the server is currently unable to handle the request'),
  ],
  [
    'a plan that is still being attempted',
    'too-slow',
    { script: { plan: () => ({ phase: 'Installing', message: 'something else' }) } },
  ],
  [
    'an unpacking that fails for an API that does not answer',
    'too-slow',
    failUnpack('Job failed: BackoffLimitExceeded', {
      state: { terminated: { exitCode: 1, reason: 'Error', message: 'dial tcp: connection refused' } },
    }),
  ],
  [
    'requirements that OLM has not checked',
    'olm-silent',
    { script: { csv: () => ({ phase: 'Pending', reason: 'RequirementsUnknown', message: 'x' }) } },
  ],
  ['a plan that stays where it is', 'olm-silent', { script: { plan: () => ({ phase: 'Installing' }) } }],
  [
    'requirements that nothing meets',
    'requirements-not-met',
    lackRequirement({
      kind: 'CustomResourceDefinition',
      name: 'blues',
      status: 'NotPresent',
      message: 'CRD is not present',
    }),
  ],
  [
    'a cluster that is too old',
    'kube-version',
    lackRequirement({
      kind: 'ClusterServiceVersion',
      name: 'foo.v1',
      status: 'PresentNotSatisfied',
      message: 'minKubeVersion 9.0.0 is not met by version 1.36.2',
    }),
  ],
  ['an install mode that is not supported', 'unsupported-install-mode', failCsv('UnsupportedOperatorGroup')],
  ['a webhook that is not valid', 'webhook-invalid', failCsv('InvalidWebhookDescription')],
  ['APIs that another Operator owns', 'occupied', failCsv('InterOperatorGroupOwnerConflict')],
  [
    'a CSV that stays failed',
    'csv-failed',
    failCsv('InstallComponentFailed', 'Deployment.apps "x" is invalid'),
  ],
  [
    'a CSV that fails for an API that is busy',
    'too-slow',
    failCsv('InstallComponentFailed', 'etcdserver: request timed out'),
  ],
  [
    'an install timeout of pods that the cluster does not start',
    'too-slow',
    failOperator(waiting('ContainerCreating'), installTimeout),
  ],
  [
    'an install timeout of an Operator that runs and never gets ready',
    'deployment-not-available',
    failOperator(running, installTimeout),
  ],
  [
    'an Operator that crashes without a network',
    'api-unreachable',
    failOperator(
      crashing(4, { reason: 'Error', exitCode: 1, message: 'dial tcp 10.0.0.1:443: i/o timeout' }),
    ),
  ],
  [
    'an Operator that the cluster evicts',
    'unschedulable',
    {
      ...failOperator(),
      pods: [
        {
          ...createOperatorPods({})[0]!,
          status: { phase: 'Failed', reason: 'Evicted', message: 'disk' } as never,
        },
      ],
    },
  ],
  [
    'an Operator that crashes',
    'crash-loop',
    failOperator(crashing(4, { reason: 'OOMKilled', exitCode: 137 }), {
      phase: 'Installing',
      reason: 'InstallWaiting',
      message: 'x',
    }),
  ],
  [
    'an image of the Operator that does not exist',
    'operator-image-missing',
    failOperator(waiting('ErrImagePull', 'manifest unknown')),
  ],
  [
    'a Deployment without room',
    'quota',
    {
      script: {
        deployment: () => ({
          ...unavailableDeploymentStatus,
          conditions: [
            {
              type: 'ReplicaFailure',
              status: 'True',
              reason: 'FailedCreate',
              message: 'exceeded quota: trial',
            },
          ],
        }),
      },
    },
  ],
  ['a Deployment that never runs', 'deployment-not-available', failOperator(running)],
  ['a Deployment without pods', 'too-slow', failOperator()],
  [
    'a CRD that is there already',
    'crd-preexists',
    { prepare: () => void fakeApi.put(createCrd('reds.foo.test')) },
  ],
  [
    'an account that may not make namespaces',
    'forbidden',
    { prepare: () => failCreations(403, 'Forbidden', 'namespaces is forbidden') },
  ],
  [
    'an account that may not look',
    'forbidden',
    { prepare: () => failRequests(({ path }) => path.includes('customresource'), 403, 'Forbidden', 'no') },
  ],
  [
    'a webhook that refuses our own objects',
    'policy',
    { prepare: () => failCreations(400, 'BadRequest', 'admission webhook "x" denied the request: no') },
  ],
  [
    'objects that the API takes for invalid',
    'internal',
    { prepare: () => failCreations(422, 'Invalid', 'spec.x: Invalid value') },
  ],
  [
    'an API that goes away',
    'api-unreachable',
    {
      prepare: () =>
        failRequests(
          ({ path }) => path.includes('/namespaces'),
          500,
          'InternalError',
          'etcdserver: leader changed',
        ),
    },
  ],
]

function simulateUnrequestedUpgrade(): void {
  fakeApi.controllers.push(() => {
    const subscription = fakeApi.get('Subscription')
    if (subscription?.status?.installedCSV === 'foo.v1' && !fakeApi.get('InstallPlan', 'install-9')) {
      fakeApi.put({
        apiVersion: 'operators.coreos.com/v1alpha1',
        kind: 'InstallPlan',
        metadata: { name: 'install-9', namespace: subscription.metadata.namespace ?? '' },
        spec: { clusterServiceVersionNames: ['foo.v9'] },
        status: { phase: 'RequiresApproval' },
      })
      subscription.status.installPlanRef = { name: 'install-9' }
    }
  })
}

const contentFailureCodes = new Set([
  'catalog-image-missing',
  'catalog-crash',
  'resolution-unsatisfiable',
  'resolver-mismatch',
  'no-upgrade-edge',
  'bundle-image-missing',
  'unpack-too-large',
  'unpack-invalid',
  'unpack-failed',
  'unsupported-kind',
  'crd-incompatible',
  'plan-failed',
  'requirements-not-met',
  'unsupported-install-mode',
  'webhook-invalid',
  'csv-failed',
  'crash-loop',
  'operator-image-missing',
  'deployment-not-available',
])

test.each(clusterTestFailureCases)(
  'OLM v0: %s is %s',
  async (_says, code, { script = {}, plan, pods = [], prepare }) => {
    prepare?.()
    const before = listClusterObjects()
    simulateOlmV0(fakeApi, { plans: [['foo.v1']], crds: ['reds.foo.test'], ...script })
    fakeApi.controllers.push(() => {
      const namespace = fakeApi.get('Namespace')
      if (!namespace || namespace.metadata.deletionTimestamp !== undefined) return
      for (const one of pods)
        if (!fakeApi.get('Pod', one.metadata.name))
          fakeApi.put({ ...one, metadata: { ...one.metadata, namespace: namespace.metadata.name } })
    })
    const report = await runTestPlan(plan)
    expect(report.outcome).toMatchObject({
      code,
      verdict: contentFailureCodes.has(code) ? 'does not install' : 'could not be found out',
    })
    expect(report.leftovers.filter((one) => !one.includes('could not be listed'))).toEqual([])
    expect(listClusterObjects()).toEqual(before)
    expect(fakeApi.now - report.started).toBeLessThan(
      defaultClusterTestDeadlines.whole +
        defaultClusterTestDeadlines.cleanUp +
        defaultClusterTestDeadlines.namespace,
    )
  },
)

test('a failure report contains conditions, warnings, and logs, but no likely secret', async () => {
  simulateOlmV0(fakeApi, { plans: [['foo.v1']], deployment: () => unavailableDeploymentStatus })
  fakeApi.logs.set('foo-1 previous', 'starting\npanic: no such flag\nusing token=abcdefghijkl\n')
  fakeApi.controllers.push(() => {
    const namespace = fakeApi.get('Deployment')?.metadata.namespace
    if (namespace === undefined || fakeApi.get('Pod')) return
    fakeApi.put({
      ...createOperatorPods(crashing(3, { reason: 'Error', exitCode: 2 }))[0]!,
      metadata: { name: 'foo-1', namespace, labels: { app: 'foo.v1' } },
    })
    fakeApi.put({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace },
      type: 'Warning',
      reason: 'BackOff',
      message: 'restarting @everyone',
      involvedObject: { kind: 'Pod', name: 'foo-1' },
      lastTimestamp: fakeApi.time(),
    })
  })
  const report = await runTestPlan()
  const description = describeClusterTests([report])
  expect(description).toContain(
    'foo, channel stable, OLM v0: install of foo.v1: does not install (crash-loop;',
  )
  expect(description).toContain('the Operator pod foo-1 restarted 3 times: Error, exit code 2')
  expect(description).toContain('BackOff Pod/foo-1: restarting @everyone')
  expect(description).toContain('panic: no such flag')
  expect(description).not.toContain('abcdefghijkl')
  expect(JSON.stringify(report)).not.toContain('token-of-the-cluster')
})

test('transient failures are ignored: a CSV that recovers, a busy API, a restarting API', async () => {
  let observationCount = 0
  simulateOlmV0(fakeApi, {
    plans: [['foo.v1']],
    csv: () => (++observationCount < 4 ? createFailedCsvStatus('InstallCheckFailed') : undefined),
  })
  let requestCount = 0
  fakeApi.fault = ({ method }) => {
    requestCount += 1
    if (method === 'POST' && requestCount % 3 === 0)
      return createKubernetesStatusResponse(429, 'TooManyRequests', 'later', { 'retry-after': '2' })
    if (requestCount % 17 === 0)
      return createKubernetesStatusResponse(503, 'ServiceUnavailable', 'restarting')
    return undefined
  }
  expect((await runTestPlan()).outcome).toEqual({ verdict: 'installs' })
  expect(listClusterObjects()).toEqual([])
})

test('a conflict between reading and writing is resolved by the next poll', async () => {
  simulateOlmV0(fakeApi, { plans: [['foo.v1']] })
  let conflicts = 0
  failRequests(
    ({ method, path }) => method === 'PATCH' && path.includes('installplans') && ++conflicts < 3,
    409,
    'Conflict',
    'the object has been modified',
  )
  expect((await runTestPlan()).outcome).toEqual({ verdict: 'installs' })
})

test('lists are read to the last page, and restarted if they expire', async () => {
  fakeApi.pageSize = 1
  simulateOlmV0(fakeApi, { plans: [['foo.v1', 'dependency.v1']] })
  let expired = 0
  fakeApi.fault = ({ query }) =>
    query.get('continue') !== null && ++expired < 3
      ? createKubernetesStatusResponse(410, 'Expired', 'too old resource version')
      : undefined
  expect((await runTestPlan({ steps: [createClusterTestStep('foo.v1', 'dependency.v1')] })).outcome).toEqual({
    verdict: 'installs',
  })
})

test('responses that never arrive time out and do not fail the test', async () => {
  // The time is over as soon as the server leaves a request open, and not before, however busy the machine is.
  const timers: AbortController[] = []
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const timer = new AbortController()
    timers.push(timer)
    return timer.signal
  })
  let silent = 0
  fakeApi.fault = ({ path }) => {
    if (!path.includes('catalogsources') || ++silent >= 3) return undefined
    for (const timer of timers) timer.abort(new DOMException('The operation timed out', 'TimeoutError'))
    return { status: 0, body: '', isSilent: true }
  }
  simulateOlmV0(fakeApi, { plans: [['foo.v1']] })
  expect((await runTestPlan()).outcome).toEqual({ verdict: 'installs' })
  expect(timeout).toHaveBeenCalledWith(15_000)
  expect(silent).toBeGreaterThanOrEqual(3)
  timeout.mockRestore()
})

test('a cluster without the required API is inconclusive, and nothing is created on it', async () => {
  await resetFakeCluster([])
  for (const target of ['OLM v0', 'OLM v1', 'RukPak helm'] as const)
    expect((await runTestPlan({ target })).outcome).toMatchObject({ ...inconclusive, code: 'api-absent' })
  expect(listKubernetesWriteRequests()).toEqual([])
})

test('a failure of the environment is retried twice, and a failure of the change is not', async () => {
  simulateOlmV0(fakeApi, {
    plans: [['foo.v1']],
    catalog: () => ({ connectionState: { lastObservedState: 'CONNECTING' } }),
  })
  const attempts: number[] = []
  const runOnePlan = () =>
    runClusterTests([createClusterTestPlan()], {
      ...createClusterTestOptions(),
      environment: catalogServerAddresses,
      onAttempt: (_, attempt) => attempts.push(attempt),
    })
  const [report] = await runOnePlan()
  expect(report?.outcome).toMatchObject({ code: 'catalog-not-connected' })
  expect(attempts).toEqual([1, 2, 3])
  await resetFakeCluster()
  simulateOlmV0(fakeApi, { plans: [['foo.v0']] })
  attempts.length = 0
  await runOnePlan()
  expect(attempts).toEqual([1])
})

test('OLM v1: installs, upgrades by another selector, and leaves nothing behind', async () => {
  for (const more of [{}, upgradeTestPlan]) {
    await resetFakeCluster(olmV1ApiKinds)
    const steps = 'steps' in more ? more.steps : [createClusterTestStep('foo.v2')]
    simulateOlmV1(fakeApi, { installs: { base: 'foo.v1', head: 'foo.v2' } })
    const report = await runTestPlan({ target: 'OLM v1', ...more, ...(steps && { steps }) }, catalogImages)
    expect(report.outcome).toEqual({ verdict: 'installs' })
    expect(listClusterObjects()).toEqual([])
  }
})

test('OLM v1: an installer is created if the API requires it, and gets the configured role', async () => {
  await resetFakeCluster(olmV1ApiKinds)
  fakeApi.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusterextensions.olm.operatorframework.io' },
    spec: {
      versions: [
        {
          schema: {
            openAPIV3Schema: { properties: { spec: { required: ['namespace', 'serviceAccount'] } } },
          },
        },
      ],
    },
  })
  simulateOlmV1(fakeApi, { installs: { base: '', head: 'foo.v1' } })
  const report = await runTestPlan(
    { target: 'OLM v1' },
    { catalog: catalogImages.catalog, installerRole: 'trial-installer' },
  )
  expect(report.outcome).toEqual({ verdict: 'installs' })
  const binding = fakeApi.requests.find(
    ({ method, path }) => method === 'POST' && path.endsWith('/clusterrolebindings'),
  )
  expect(binding?.body).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'trial-installer' },
    subjects: [{ kind: 'ServiceAccount', name: 'installer', namespace: report.namespace }],
  })
  expect(listClusterObjects()).toEqual([
    'CustomResourceDefinition clusterextensions.olm.operatorframework.io',
  ])
})

const createRetryingStatusConditions = (message: string) => [
  { type: 'Progressing', status: 'True', reason: 'Retrying', message },
]
test.each([
  ['no bundles found for package "foo"', 'resolution-unsatisfiable'],
  ['unsupported bundle: apiServiceDefintions are not supported', 'refused-by-olm-v1'],
  ['bundle has webhooks and no certificate provider', 'certificate-provider-absent'],
  ['pre-authorization failed: missing rules', 'forbidden'],
  ['invalid ownership metadata; label validation error', 'occupied'],
  ['CRD upgrade safety: scope changed', 'crd-incompatible'],
  ['Get "https://registry.test/v2/": dial tcp: i/o timeout', 'registry-failing'],
  ['something unknown', 'too-slow'],
])('OLM v1: "%s" is %s', async (message, code) => {
  await resetFakeCluster(olmV1ApiKinds)
  simulateOlmV1(fakeApi, {
    installs: { base: '', head: 'foo.v1' },
    extension: () => createRetryingStatusConditions(message),
  })
  expect((await runTestPlan({ target: 'OLM v1' }, catalogImages)).outcome).toMatchObject({ code })
  expect(listClusterObjects()).toEqual([])
})

test('OLM v1: reports rejected and unprocessed catalogs, another bundle, and missing pods', async () => {
  const outcomeOf = async (script: Parameters<typeof simulateOlmV1>[1]) => {
    await resetFakeCluster(olmV1ApiKinds)
    simulateOlmV1(fakeApi, script)
    const { outcome } = await runTestPlan({ target: 'OLM v1' }, catalogImages)
    expect(listClusterObjects()).toEqual([])
    return outcome
  }
  const installs = { base: 'foo.v1', head: 'foo.v1' }
  const blocked = () => [
    {
      type: 'Progressing',
      status: 'False',
      reason: 'Blocked',
      message: 'the label index.configs is not there',
    },
  ]
  expect(await outcomeOf({ installs, catalog: blocked })).toMatchObject({
    code: 'catalog-invalid',
    verdict: 'does not install',
  })
  expect(await outcomeOf({ installs, catalog: () => [] })).toMatchObject({ code: 'olm-silent' })
  expect(await outcomeOf({ installs: { base: 'foo.v7', head: 'foo.v7' } })).toMatchObject({
    code: 'resolver-mismatch',
  })
  // The cluster created no pod, so this is not a failure of the bundle.
  expect(await outcomeOf({ installs, deployment: unavailableDeploymentStatus })).toMatchObject({
    code: 'too-slow',
  })
})

test('a resolution that fails at first and a crash that recovers do not fail the test', async () => {
  const began = fakeApi.now
  simulateOlmV0(fakeApi, {
    plans: [['foo.v1']],
    resolve: () =>
      fakeApi.now - began < 60_000
        ? [
            {
              type: 'ResolutionFailed',
              status: 'True',
              reason: 'ConstraintsNotSatisfiable',
              message: 'no operators found from catalog catalog',
            },
          ]
        : undefined,
    deployment: () => (fakeApi.now - began < 240_000 ? unavailableDeploymentStatus : undefined),
    csv: () =>
      fakeApi.now - began < 240_000 ? { phase: 'Installing', reason: 'InstallWaiting' } : undefined,
  })
  fakeApi.controllers.push(() => {
    const namespace = fakeApi.get('Deployment')?.metadata.namespace
    const [pod] = createOperatorPods({ ...waiting('CrashLoopBackOff'), restartCount: 4 })
    if (pod && namespace !== undefined && !fakeApi.get('Pod'))
      fakeApi.put({ ...pod, metadata: { ...pod.metadata, namespace } })
  })
  expect((await runTestPlan()).outcome).toEqual({ verdict: 'installs' })
})

test('OLM v1: an intermittent rejection is inconclusive, and a persistent one is a failure', async () => {
  const outcomeOf = async (extension: (minute: number) => readonly object[] | undefined) => {
    await resetFakeCluster(olmV1ApiKinds)
    const began = fakeApi.now
    simulateOlmV1(fakeApi, {
      installs: { base: '', head: 'foo.v1' },
      extension: () => extension((fakeApi.now - began) / 60_000),
    })
    return (await runTestPlan({ target: 'OLM v1' }, catalogImages)).outcome
  }
  const none = 'no bundles found for package "foo"'
  expect(
    await outcomeOf((minute) => (minute < 2 ? createRetryingStatusConditions(none) : undefined)),
  ).toEqual({ verdict: 'installs' })
  expect(
    await outcomeOf((minute) => createRetryingStatusConditions(minute % 2 < 1 ? none : 'unexpected EOF')),
  ).toMatchObject(inconclusive)
  expect(
    await outcomeOf((minute) => createRetryingStatusConditions(`${none}, attempt ${minute}`)),
  ).toMatchObject({ code: 'resolution-unsatisfiable' })
  const blocked = [
    { type: 'Progressing', status: 'False', reason: 'Blocked', message: 'unexpected status code 503' },
  ]
  expect(await outcomeOf(() => blocked)).toMatchObject(inconclusive)
})

test.each(['RukPak plain', 'RukPak helm'] as const)(
  '%s: a failure that RukPak recovers from is not final, and the clock restarts when it returns',
  async (target) => {
    const outcomeOf = async (fails: (minute: number) => string | undefined) => {
      await resetFakeCluster(getRukPakApiKinds('v1alpha1'))
      rejectBundlePatches()
      const began = fakeApi.now
      simulateRukPak(fakeApi, {
        deployment: ({ metadata }) => {
          const message = fails((fakeApi.now - began) / 60_000)
          if (message === undefined) return undefined
          const reason = message.startsWith('template') ? 'InstallFailed' : 'BundleLoadFailed'
          return {
            observedGeneration: metadata.generation,
            conditions: [
              message === 'pending'
                ? { type: 'HasValidBundle', status: 'Unknown', reason: 'UnpackPending', message: '' }
                : { type: 'HasValidBundle', status: 'False', reason, message },
            ],
          }
        },
      })
      return (await runTestPlan({ target })).outcome
    }
    expect(await outcomeOf((minute) => (minute < 5 ? 'EOF' : undefined))).toEqual({ verdict: 'installs' })
    expect(await outcomeOf(() => 'EOF')).toMatchObject({ code: 'api-unreachable', ...inconclusive })
    const bad = 'template: bad'
    expect(await outcomeOf((minute) => (minute < 2 ? bad : undefined))).toEqual({ verdict: 'installs' })
    expect(await outcomeOf((minute) => (Math.floor(minute) % 2 ? 'pending' : bad))).toMatchObject({
      code: 'too-slow',
    })
    expect(await outcomeOf(() => bad)).toMatchObject({ code: 'refused-by-rukpak' })
  },
)

test.each(['v1alpha1', 'v1alpha2'] as const)(
  'RukPak %s: installs with each provisioner, and pivots to the next bundle',
  async (version) => {
    for (const target of ['RukPak plain', 'RukPak registry', 'RukPak helm'] as const) {
      await resetFakeCluster(getRukPakApiKinds(version))
      simulateRukPak(fakeApi)
      rejectBundlePatches()
      expect((await runTestPlan({ target, ...upgradeTestPlan })).outcome).toEqual({ verdict: 'installs' })
      expect(listClusterObjects()).toEqual([])
    }
  },
)

test('RukPak: reports a mutable Bundle, an old Bundle that remains, and rejected bundles', async () => {
  const outcomeOf = async (script: Parameters<typeof simulateRukPak>[1], isImmutable = true) => {
    await resetFakeCluster(getRukPakApiKinds('v1alpha1'))
    simulateRukPak(fakeApi, script)
    if (isImmutable) rejectBundlePatches()
    const report = await runTestPlan({ target: 'RukPak plain', ...upgradeTestPlan })
    expect(report.leftovers).toEqual([])
    return report.outcome
  }
  const condition = (type: string, reason: string, message: string) => ({
    deployment: ({ metadata }: { metadata: { generation?: number } }) => ({
      observedGeneration: metadata.generation,
      conditions: [{ type, status: 'False', reason, message }],
    }),
  })
  expect(await outcomeOf({}, false)).toMatchObject({ code: 'not-immutable', ...inconclusive })
  expect(await outcomeOf({ keepsOld: true })).toMatchObject({ code: 'no-pivot', ...inconclusive })
  expect(await outcomeOf(condition('HasValidBundle', 'UnpackFailed', 'manifest unknown'))).toMatchObject({
    code: 'bundle-image-missing',
  })
  const disk = 'persist bundle content: open /var/cache/bundles/x.tgz: no space left on device'
  expect(await outcomeOf(condition('HasValidBundle', 'UnpackFailed', disk))).toMatchObject({
    code: 'internal',
    ...inconclusive,
  })
  expect(await outcomeOf(condition('Installed', 'InstallFailed', 'no matches for kind "X"'))).toMatchObject({
    code: 'api-missing-for-bundle',
  })
  expect(await outcomeOf(condition('Installed', 'InstallFailed', 'template: bad'))).toMatchObject({
    code: 'refused-by-rukpak',
  })
})

test('RukPak: waits until objects in other namespaces are gone, and never deletes them itself', async () => {
  await resetFakeCluster(getRukPakApiKinds('v1alpha2'))
  simulateRukPak(fakeApi)
  let goneAt = 0
  fakeApi.controllers.push((now) => {
    const deployment = fakeApi.get('BundleDeployment')
    const installed = fakeApi.get('Namespace', 'foo-system')
    if (deployment && deployment.metadata.deletionTimestamp === undefined)
      return void (
        installed ??
        fakeApi.put(
          createNamespace('foo-system', {
            labels: { 'core.rukpak.io/owner-name': deployment.metadata.name },
          }),
        )
      )
    // The garbage collector takes 20 seconds.
    goneAt ||= now + 20_000
    if (installed && now >= goneAt) fakeApi.remove(installed)
  })
  const { outcome, leftovers, ended } = await runTestPlan({
    target: 'RukPak plain',
    steps: upgradeTestPlan.steps?.slice(0, 1) ?? [],
  })
  expect([outcome, leftovers]).toEqual([{ verdict: 'installs' }, []])
  expect(ended).toBeGreaterThanOrEqual(goneAt)
  expect(
    fakeApi.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith('/foo-system')),
  ).toEqual([])
})

test('RukPak: missing permission to patch a Bundle does not prove that Bundles are immutable', async () => {
  await resetFakeCluster(getRukPakApiKinds('v1alpha1'))
  simulateRukPak(fakeApi)
  rejectBundlePatches('bundles "x" is forbidden: User "trials" cannot patch resource "bundles"')
  const { outcome } = await runTestPlan({ target: 'RukPak plain', ...upgradeTestPlan })
  expect(outcome).toMatchObject({ code: 'forbidden', ...inconclusive })
})

test('RukPak: failing pods are found in any namespace, and the unpack pod is found by its name', async () => {
  const outcomeOf = async (
    placePod: (deployment: StoredKubernetesObject) => Parameters<FakeKubernetesApi['put']>[0][],
  ) => {
    await resetFakeCluster(getRukPakApiKinds('v1alpha1'))
    simulateRukPak(fakeApi, {
      deployment: ({ metadata }) => ({ observedGeneration: metadata.generation, conditions: [] }),
    })
    fakeApi.controllers.push(() => {
      const deployment = fakeApi.get('BundleDeployment')
      if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return
      const { apiVersion, kind, metadata } = deployment
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }]
      for (const object of placePod(deployment))
        if (!fakeApi.get(object.kind, object.metadata.name))
          fakeApi.put({ ...object, metadata: { ...object.metadata, ownerReferences } })
    })
    return (await runTestPlan({ target: 'RukPak plain', ...upgradeTestPlan })).outcome
  }
  const cannotPull = (name: string) => ({
    phase: 'Pending',
    containerStatuses: [
      { name, image: 'x', state: { waiting: { reason: 'ErrImagePull', message: 'x: not found' } } },
    ],
  })
  const operator = await outcomeOf(({ metadata }) => [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'operator',
        namespace: 'foo-system',
        labels: { 'core.rukpak.io/owner-name': metadata.name },
      },
      spec: { replicas: 1, selector: { matchLabels: { app: 'operator' } } },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'operator-1', namespace: 'foo-system', labels: { app: 'operator' } },
      status: cannotPull('operator'),
    },
  ])
  expect(operator).toMatchObject({ code: 'operator-image-missing' })
  const createUnpackPod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'rukpak-system', labels: { 'core.rukpak.io/owner-kind': 'Bundle' } },
    status: cannotPull('bundle'),
  })
  expect(await outcomeOf(() => [createUnpackPod('somebodys')])).toMatchObject({ code: 'olm-silent' })
  const own = outcomeOf(() => fakeApi.list('Bundle').map(({ metadata }) => createUnpackPod(metadata.name)))
  expect(await own).toMatchObject({ code: 'bundle-image-missing' })
})

test('the janitor removes a test that was killed at any point, but not before its expiration', async () => {
  // Counts the actions of a complete upgrade.
  simulateOlmV0(fakeApi, { plans: [['foo.v1'], ['foo.v2']], crds: ['reds.foo.test'] })
  await runTestPlan(upgradeTestPlan)
  const acts = listKubernetesWriteRequests().length
  expect(acts).toBeGreaterThan(12)
  for (let killed = 1; killed < acts; killed++) {
    await resetFakeCluster()
    simulateOlmV0(fakeApi, { plans: [['foo.v1'], ['foo.v2']], crds: ['reds.foo.test'] })
    fakeApi.put(createCrd('others.foo.test'))
    const dying = createCrashingClusterClient(killed)
    await expect(
      runClusterTest(createCompletedClusterTestPlan(upgradeTestPlan), {
        ...createClusterTestOptions(),
        cluster: dying,
      }),
    ).rejects.toThrow('killed')
    expect(await sweepExpiredClusterTests(createClusterTestOptions())).toEqual([])
    fakeApi.now += 3600_000
    const swept = await sweepExpiredClusterTests(createClusterTestOptions())
    expect(swept.flatMap(({ leftovers }) => leftovers)).toEqual([])
    expect(listClusterObjects()).toEqual(['CustomResourceDefinition others.foo.test'])
  }
})

/** Performs this many actions, and fails after the last. */
function createCrashingClusterClient(count: number): KubeClusterClient {
  let actionsLeft = count
  return {
    ...clusterClient,
    perform: async (action) => {
      if (actionsLeft-- <= 0) throw new Error('killed')
      return clusterClient.perform(action)
    },
  }
}

test('the janitor deletes only what an expired test of catalog-bot left behind', async () => {
  const old = String(Math.floor(fakeApi.now / 1000) - 60)
  const others = [
    createNamespace('production'),
    createNamespace('no-time', { labels: { [clusterTestLabelKey]: 'abcdefgh' } }),
    createNamespace('odd', { labels: { [clusterTestLabelKey]: 'x,y in (a)', [expirationLabelKey]: old } }),
    createNamespace('catalog-bot-foo-living00', {
      labels: { [clusterTestLabelKey]: 'living00', [expirationLabelKey]: '99999999999' },
    }),
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: 'theirs', namespace: 'production' },
    },
    createCrd('kept.foo.test', {
      annotations: {
        'operatorframework.io/installed-alongside-1': 'catalog-bot-foo-deadbeef/foo.v1',
        'operatorframework.io/installed-alongside-2': 'production/foo.v1',
      },
    }),
    createCrd('unmarked.foo.test'),
  ]
  for (const one of others) fakeApi.put(one)
  const expiredLabels = { [clusterTestLabelKey]: 'deadbeef', [expirationLabelKey]: old }
  const absentBefore = '["kept.foo.test","unmarked.foo.test","gone.foo.test"]'
  const annotations = { 'catalog-bot.io/absent-before': absentBefore }
  fakeApi.put(createNamespace('catalog-bot-foo-deadbeef', { labels: expiredLabels, annotations }))
  fakeApi.put(
    createCrd('gone.foo.test', {
      annotations: { 'operatorframework.io/installed-alongside-1': 'catalog-bot-foo-deadbeef/foo.v1' },
    }),
  )
  fakeApi.put({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'its', labels: { 'olm.owner.namespace': 'catalog-bot-foo-deadbeef' } },
  })
  expect(await sweepExpiredClusterTests(createClusterTestOptions())).toEqual([
    { id: 'deadbeef', leftovers: [] },
  ])
  expect(listClusterObjects()).toEqual(others.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
})

test('CRDs named only by the InstallPlan are removed, and an existing one prevents approval', async () => {
  simulateOlmV0(fakeApi, { plans: [['foo.v1']], crds: ['blues.foo.test'] })
  expect((await runTestPlan({ crds: [] })).outcome).toEqual({ verdict: 'installs' })
  expect(listClusterObjects()).toEqual([])
  await resetFakeCluster()
  const theirs = fakeApi.put(createCrd('blues.foo.test', { creationTimestamp: '2025-01-01T00:00:00Z' }))
  simulateOlmV0(fakeApi, { plans: [['foo.v1']], crds: ['blues.foo.test'] })
  expect((await runTestPlan({ crds: [] })).outcome).toMatchObject({ code: 'crd-preexists' })
  expect(
    fakeApi.requests.some(({ method, path }) => method === 'PATCH' && path.includes('installplans')),
  ).toBe(false)
  expect(fakeApi.get('CustomResourceDefinition')).toBe(theirs)
})

test('an object that was recreated after it was read is not deleted', async () => {
  fakeApi.put(createNamespace('catalog-bot-foo-deadbeef'))
  const at = { apiVersion: 'v1', kind: 'Namespace', name: 'catalog-bot-foo-deadbeef' }
  expect(await clusterClient.perform({ kind: 'delete', at, uid: 'of-the-one-before' })).toMatchObject({
    status: 409,
  })
  expect(listClusterObjects()).toEqual(['Namespace catalog-bot-foo-deadbeef'])
})

test('objects not deleted in time are reported, and finalizers are removed only by force', async () => {
  const script = { plans: [['foo.v1']], isDeaf: true }
  simulateOlmV0(fakeApi, script)
  const report = await runTestPlan()
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(report.leftovers).toEqual([
    'ClusterServiceVersion ' +
      report.namespace +
      '/foo.v1 (waiting for finalizers: operators.coreos.com/csv-cleanup)',
    'Namespace ' + report.namespace,
  ])
  await resetFakeCluster()
  simulateOlmV0(fakeApi, script)
  const forced = await runClusterTest(createCompletedClusterTestPlan(), {
    ...createClusterTestOptions(),
    force: true,
  })
  expect(forced.leftovers).toEqual([])
  expect(forced.events.map(({ says }) => says)).toContainEqual(
    expect.stringMatching(/^forcibly removing the finalizers of .*$/),
  )
  expect(listClusterObjects()).toEqual([])
})

test('an aborted test is cleaned up', async () => {
  simulateOlmV0(fakeApi, { plans: [['foo.v1']] })
  const stop = new AbortController()
  const report = await runClusterTest(createCompletedClusterTestPlan(), {
    ...createClusterTestOptions(),
    signal: stop.signal,
    onProgress: (says) => says.includes('InstallPlan') && stop.abort(),
  })
  expect(report.outcome).toMatchObject({ code: 'killed', ...inconclusive })
  expect(listClusterObjects()).toEqual([])
})

test('a kubeconfig that runs programs or is invalid is rejected', async () => {
  const open = (text: string, allowsPrograms = false) => {
    writeFileSync(join(temporaryDirectory, 'other'), text)
    return createKubeClusterClient({
      file: join(temporaryDirectory, 'other'),
      clock: fakeApi.clock,
      allowsPrograms,
    })
  }
  const config = JSON.parse(fakeApiServer.kubeconfig) as { users: object[] }
  const withExec = JSON.stringify({
    ...config,
    users: [{ name: 'test', user: { exec: { command: 'secret-program' } } }],
  })
  await expect(open(withExec)).rejects.toThrow('runs a program')
  await expect(open('{{ secret')).rejects.toThrow(
    /^the kubeconfig cannot be read: the file is not a kubeconfig$/,
  )
  await expect(open('{}')).rejects.toThrow('must specify both a cluster and a user')
  await expect(
    createKubeClusterClient({ file: join(temporaryDirectory, 'absent'), clock: fakeApi.clock }),
  ).rejects.toThrow('ENOENT')
})
