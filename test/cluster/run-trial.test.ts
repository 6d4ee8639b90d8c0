// Trials on a scripted cluster: every way through, every class of failure, every clean-up. Time is the test's: minutes pass at
// once.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { usualDeadlines } from '../../src/checks/install/trial/deadlines.ts'
import type { PlannedTrial } from '../../src/checks/install/trial/plan-trials.ts'
import { expiresLabel, trialLabel, type TrialPlan } from '../../src/checks/install/trial/trial-plan.ts'
import type { TrialReport } from '../../src/checks/install/trial/trial-report.ts'
import type { Cluster } from '../../src/cluster/cluster.ts'
import { completePlan } from '../../src/cluster/complete-plan.ts'
import { sweepCluster } from '../../src/cluster/janitor.ts'
import { openCluster } from '../../src/cluster/open-cluster.ts'
import { runTrial, type RunOptions } from '../../src/cluster/run-trial.ts'
import { tryTrials } from '../../src/cluster/try-trials.ts'
import { describeTrials } from '../../src/messages/describe-trials.ts'
import {
  coreKinds,
  olmV0Kinds,
  olmV1Kinds,
  openApiServer,
  rukPakKinds,
  ScriptedApi,
  status,
  type ApiServer,
  type StoredObject,
} from './scripted-api.ts'
import { playOlmV0, playOlmV1, playRukPak, type OlmV0Script } from './scripted-olm.ts'

let server: ApiServer
let folder: string
let api: ScriptedApi
let cluster: Cluster

beforeAll(async () => {
  server = await openApiServer()
  folder = mkdtempSync(join(tmpdir(), 'trial-'))
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig)
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => begin())

async function begin(kinds = [...coreKinds, ...olmV0Kinds]): Promise<void> {
  await cluster?.close()
  api = new ScriptedApi(kinds)
  server.api = api
  cluster = await openCluster({ file: join(folder, 'kubeconfig'), clock: api.clock, patience: 1000 })
}

const at = { catalog: { address: 'head:50051' }, base: { address: 'base:50051' } }
const images = {
  catalog: { image: 'registry.test/head@sha256:1' },
  base: { image: 'registry.test/base@sha256:2' },
}
const step = (root: string, ...others: string[]) => ({
  root,
  version: '1.0.0',
  names: [root, ...others],
  image: `registry.test/${root}@sha256:${root}`,
})

function planned(more: Partial<PlannedTrial> = {}): PlannedTrial {
  return {
    target: 'OLM v0',
    package: 'foo',
    channel: 'stable',
    mode: 'AllNamespaces',
    steps: [step('foo.v1')],
    crds: ['reds.foo.test'],
    isUpgrade: false,
    ...more,
  }
}
const upgrade: Partial<PlannedTrial> = { steps: [step('foo.v1'), step('foo.v2')], isUpgrade: true }

const planOf = (more?: Partial<PlannedTrial>, place: Parameters<typeof completePlan>[1] = at): TrialPlan =>
  completePlan(planned(more), place, usualDeadlines, api.clock.now())
/** Seldom: each look is a dozen requests. */
const options = (): RunOptions => ({ cluster, clock: api.clock, every: 10_000 })
const run = (
  more?: Partial<PlannedTrial>,
  place?: Parameters<typeof completePlan>[1],
): Promise<TrialReport> => runTrial(planOf(more, place), options())

/** Of everything that a trial makes or brings. */
const remains = (): string[] =>
  [...api.objects.values()].map(({ kind, metadata }) => `${kind} ${metadata.name}`)
const writes = (): string[] =>
  api.requests
    .filter(({ method }) => method !== 'GET')
    .map(
      ({ method, path }) =>
        `${method} ${path
          .split('/')
          .filter((part) => !part.startsWith('catalog-bot-'))
          .slice(-2)
          .join('/')}`,
    )

test('OLM v0: the Operator is installed by the plan that the simulation said, and nothing stays behind', async () => {
  playOlmV0(api, { plans: [['foo.v1', 'dependency.v1']], crds: ['reds.foo.test'] })
  const report = await run({ steps: [step('foo.v1', 'dependency.v1')] })
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(report.cluster).toEqual([
    'Kubernetes v1.36.2',
    'operators.coreos.com/v1alpha1',
    'operators.coreos.com/v1',
  ])
  expect(report.events.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^namespace catalog-bot-foo-[a-z0-9]{8} is there$/),
    'the catalog answers at head:50051',
    'OLM resolved to foo.v1, dependency.v1, as the simulated resolution did',
    'InstallPlan install-1 is approved',
    'InstallPlan install-1 is complete',
    'it installs',
  ])
  expect(report.leftovers).toEqual([])
  expect(remains()).toEqual([])
  const made = api.requests
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
    expect(metadata.labels?.[trialLabel]).toBe(report.id)
    expect(Number(metadata.labels?.[expiresLabel]) * 1000).toBeGreaterThan(api.now)
    if (kind !== 'Namespace')
      expect(metadata.ownerReferences).toEqual([
        expect.objectContaining({ kind: 'Namespace', name: report.namespace, uid: expect.any(String) }),
      ])
  }
  // What cleans up after an Operator is there until it did.
  const order = writes()
    .filter((one) => one.startsWith('DELETE'))
    .map((one) => one.split(' ')[1]?.split('/')[0])
  expect([...new Set(order)]).toEqual([
    'subscriptions',
    'clusterserviceversions',
    'installplans',
    'catalogsources',
    'operatorgroups',
    'customresourcedefinitions',
    // The trial's namespace, whose name the list leaves out.
    'v1',
  ])
})

test('OLM v0: an upgrade exchanges the catalog, by an address or an image, and waits until the old version is gone', async () => {
  for (const place of [at, images]) {
    await begin()
    playOlmV0(api, { plans: [['foo.v1'], ['foo.v2']] })
    const report = await run(upgrade, place)
    expect(report.outcome).toEqual({ verdict: 'installs' })
    expect(report.events.map(({ says }) => says)).toContain(
      'foo.v1 runs; the catalog is exchanged for the changed one',
    )
    expect(remains()).toEqual([])
  }
})

test('OLM v0: each install mode has its OperatorGroup', async () => {
  const groups: unknown[] = []
  for (const mode of ['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace'] as const) {
    await begin()
    playOlmV0(api, { plans: [['foo.v1']] })
    const report = await run({ mode })
    expect(report.outcome.verdict).toBe('installs')
    expect(remains()).toEqual([])
    const group = api.requests.find(
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

const pod = (name: string, labels: Record<string, string>, container: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  status: {
    containerStatuses: [{ name: 'main', image: 'registry.test/x:1', restartCount: 0, ...container }],
  },
})
const waiting = (reason: string, message = '') => ({ state: { waiting: { reason, message } } })
const failedCsv = (reason: string, message = 'because') => ({ phase: 'Failed', reason, message })
const lazy = {
  observedGeneration: 1,
  updatedReplicas: 0,
  conditions: [{ type: 'Available', status: 'False' }],
}

interface FailureCase {
  readonly says: string
  readonly code: string
  readonly script?: Partial<OlmV0Script>
  readonly plan?: Partial<PlannedTrial>
  readonly pods?: readonly ReturnType<typeof pod>[]
  readonly prepare?: () => void
}

const catalogPod = (container: object) => [pod('catalog-1', { 'olm.catalogSource': 'catalog' }, container)]
const operatorPod = (container: object) => [pod('foo-1', { app: 'foo.v1' }, container)]
const runningPod = operatorPod({ state: { running: { startedAt: '2026-01-01T00:00:00Z' } } })
const unpackPod = (container: object) => [
  pod('unpack-1', { 'operatorframework.io/bundle-unpack-ref': 'x' }, container),
]
const connecting = { catalog: () => ({ connectionState: { lastObservedState: 'TRANSIENT_FAILURE' } }) }
const unpackFailed = (message: string) => ({
  resolve: () => [{ type: 'BundleUnpackFailed', status: 'True', reason: 'BundleUnpackFailed', message }],
})
const planFailed = (message: string, more: object = {}) => ({
  plan: () => ({
    phase: 'Failed',
    conditions: [{ type: 'Installed', status: 'False', reason: 'InstallComponentFailed', message }],
    ...more,
  }),
})
const notResolved = (reason: string, message: string) => ({
  resolve: () => [{ type: 'ResolutionFailed', status: 'True', reason, message }],
})

const failures: readonly FailureCase[] = [
  {
    says: 'a catalog image that nobody has',
    code: 'catalog-image-missing',
    script: connecting,
    pods: catalogPod(waiting('ErrImagePull', 'manifest unknown')),
  },
  {
    says: 'a catalog image that is private',
    code: 'image-unauthorized',
    script: connecting,
    pods: catalogPod(waiting('ImagePullBackOff', 'unauthorized: authentication required')),
  },
  {
    says: 'a catalog whose registry has had enough',
    code: 'registry-failing',
    script: connecting,
    pods: catalogPod(waiting('ErrImagePull', 'toomanyrequests: slow down')),
  },
  {
    says: 'a catalog that crashes',
    code: 'catalog-crash',
    script: connecting,
    pods: catalogPod({
      ...waiting('CrashLoopBackOff'),
      restartCount: 3,
      lastState: { terminated: { reason: 'Error', exitCode: 1 } },
    }),
  },
  {
    says: 'a catalog for another processor',
    code: 'arch-mismatch',
    script: connecting,
    pods: catalogPod({
      ...waiting('CrashLoopBackOff'),
      restartCount: 3,
      lastState: { terminated: { reason: 'Error', exitCode: 1, message: 'exec format error' } },
    }),
  },
  { says: 'a catalog that nobody gets through to', code: 'catalog-not-connected', script: connecting },
  { says: 'a cluster whose OLM does nothing', code: 'olm-silent', script: { catalog: () => ({}) } },
  {
    says: 'a pod that a policy refuses',
    code: 'policy',
    script: { catalog: () => ({ message: 'pods "x" is forbidden: violates PodSecurity' }) },
  },
  {
    says: 'constraints that cannot be met',
    code: 'resolution-unsatisfiable',
    script: notResolved('ConstraintsNotSatisfiable', 'no operators found'),
  },
  {
    says: 'a resolution that an error prevents',
    code: 'catalog-not-connected',
    script: notResolved('ErrorPreventedResolution', 'failed to list bundles'),
  },
  {
    says: 'another choice than the simulated one',
    code: 'resolver-mismatch',
    script: { plans: [['foo.v0']] },
  },
  {
    says: 'a plan with more than the simulation has',
    code: 'resolver-mismatch',
    script: { plans: [['foo.v1', 'stranger.v1']] },
  },
  {
    says: 'a further plan after the last',
    code: 'resolver-mismatch',
    script: { plans: [['foo.v1'], ['foo.v9']], state: 'UpgradePending' },
    prepare: goOn,
  },
  {
    says: 'no way from the old head',
    code: 'no-upgrade-edge',
    script: { plans: [['foo.v1']] },
    plan: upgrade,
  },
  {
    says: 'a bundle image that nobody has',
    code: 'bundle-image-missing',
    script: { resolve: () => [{ type: 'BundleUnpacking', status: 'True', reason: 'UnpackingInProgress' }] },
    pods: unpackPod(waiting('ErrImagePull', 'not found')),
  },
  {
    says: 'a bundle that is too large',
    code: 'unpack-too-large',
    script: unpackFailed('exceeds the data limit'),
  },
  {
    says: 'a bundle that is not readable',
    code: 'unpack-invalid',
    script: unpackFailed('error unpacking: no csv'),
  },
  {
    says: 'an unpacking that fails again and again',
    code: 'unpack-failed',
    script: unpackFailed('Job failed: BackoffLimitExceeded'),
  },
  {
    says: 'an unpacking that takes too long',
    code: 'too-slow',
    script: { resolve: () => [{ type: 'BundleUnpacking', status: 'True', reason: 'UnpackingInProgress' }] },
  },
  {
    says: 'a kind that OLM does not take',
    code: 'unsupported-kind',
    script: planFailed('x', {
      plan: [{ status: 'UnsupportedResource', resource: { kind: 'PodMonitor', name: 'x' } }],
    }),
  },
  {
    says: 'an API that the cluster lacks',
    code: 'api-missing-for-bundle',
    script: planFailed('api-server resource not found installing ServiceMonitor'),
  },
  {
    says: 'a CRD that loses data',
    code: 'crd-incompatible',
    script: planFailed('risk of data loss updating "reds"'),
  },
  {
    says: 'a plan that a webhook refuses',
    code: 'policy',
    script: planFailed('admission webhook "x" denied the request'),
  },
  { says: 'a plan that fails otherwise', code: 'plan-failed', script: planFailed('something else') },
  {
    says: 'a plan that fails for an API that is busy',
    code: 'api-unreachable',
    script: planFailed('error creating clusterrole x: the server is currently unable to handle the request'),
  },
  {
    says: 'a plan that is still being attempted',
    code: 'too-slow',
    script: { plan: () => ({ phase: 'Installing', message: 'something else' }) },
  },
  {
    says: 'an unpacking that fails for an API that does not answer',
    code: 'too-slow',
    script: unpackFailed('Job failed: BackoffLimitExceeded'),
    pods: unpackPod({
      state: { terminated: { exitCode: 1, reason: 'Error', message: 'dial tcp: connection refused' } },
    }),
  },
  {
    says: 'requirements that OLM has not checked',
    code: 'olm-silent',
    script: { csv: () => ({ phase: 'Pending', reason: 'RequirementsUnknown', message: 'x' }) },
  },
  {
    says: 'a plan that stays where it is',
    code: 'olm-silent',
    script: { plan: () => ({ phase: 'Installing' }) },
  },
  {
    says: 'requirements that nobody meets',
    code: 'requirements-not-met',
    script: {
      csv: () => ({
        phase: 'Pending',
        reason: 'RequirementsNotMet',
        message: 'x',
        requirementStatus: [
          {
            kind: 'CustomResourceDefinition',
            name: 'blues',
            status: 'NotPresent',
            message: 'CRD is not present',
          },
        ],
      }),
    },
  },
  {
    says: 'a cluster that is too old',
    code: 'kube-version',
    script: {
      csv: () => ({
        phase: 'Pending',
        reason: 'RequirementsNotMet',
        message: 'x',
        requirementStatus: [
          {
            kind: 'ClusterServiceVersion',
            name: 'foo.v1',
            status: 'PresentNotSatisfied',
            message: 'minKubeVersion 9.0.0 is not met by version 1.36.2',
          },
        ],
      }),
    },
  },
  {
    says: 'an install mode that is not supported',
    code: 'unsupported-install-mode',
    script: { csv: () => failedCsv('UnsupportedOperatorGroup') },
  },
  {
    says: 'a webhook that is not valid',
    code: 'webhook-invalid',
    script: { csv: () => failedCsv('InvalidWebhookDescription') },
  },
  {
    says: 'APIs that somebody else owns',
    code: 'occupied',
    script: { csv: () => failedCsv('InterOperatorGroupOwnerConflict') },
  },
  {
    says: 'a CSV that stays failed',
    code: 'csv-failed',
    script: { csv: () => failedCsv('InstallComponentFailed', 'Deployment.apps "x" is invalid') },
  },
  {
    says: 'a CSV that fails for an API that is busy',
    code: 'too-slow',
    script: { csv: () => failedCsv('InstallComponentFailed', 'etcdserver: request timed out') },
  },
  {
    says: 'an install timeout of pods that the cluster does not start',
    code: 'too-slow',
    script: { deployment: () => lazy, csv: () => failedCsv('InstallCheckFailed', 'install timeout') },
    pods: operatorPod(waiting('ContainerCreating')),
  },
  {
    says: 'an install timeout of an Operator that runs and never gets ready',
    code: 'deployment-not-available',
    script: { deployment: () => lazy, csv: () => failedCsv('InstallCheckFailed', 'install timeout') },
    pods: runningPod,
  },
  {
    says: 'an Operator whose crashes tell of a network',
    code: 'api-unreachable',
    script: { deployment: () => lazy },
    pods: operatorPod({
      ...waiting('CrashLoopBackOff'),
      restartCount: 4,
      lastState: {
        terminated: { reason: 'Error', exitCode: 1, message: 'dial tcp 10.0.0.1:443: i/o timeout' },
      },
    }),
  },
  {
    says: 'an Operator that the cluster evicts',
    code: 'unschedulable',
    script: { deployment: () => lazy },
    pods: [
      { ...operatorPod({})[0]!, status: { phase: 'Failed', reason: 'Evicted', message: 'disk' } as never },
    ],
  },
  {
    says: 'an Operator that crashes',
    code: 'crash-loop',
    script: {
      deployment: () => lazy,
      csv: () => ({ phase: 'Installing', reason: 'InstallWaiting', message: 'x' }),
    },
    pods: operatorPod({
      ...waiting('CrashLoopBackOff'),
      restartCount: 4,
      lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
    }),
  },
  {
    says: 'an image of the Operator that nobody has',
    code: 'operator-image-missing',
    script: { deployment: () => lazy },
    pods: operatorPod(waiting('ErrImagePull', 'manifest unknown')),
  },
  {
    says: 'a Deployment without room',
    code: 'quota',
    script: {
      deployment: () => ({
        ...lazy,
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
  {
    says: 'a Deployment that never runs',
    code: 'deployment-not-available',
    script: { deployment: () => lazy },
    pods: runningPod,
  },
  {
    says: 'a Deployment whose pods the cluster never makes',
    code: 'too-slow',
    script: { deployment: () => lazy },
  },
  {
    says: 'a CRD that is there already',
    code: 'crd-preexists',
    prepare: () =>
      void api.put({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'reds.foo.test' },
      }),
  },
  {
    says: 'an account that may not make namespaces',
    code: 'forbidden',
    prepare: () =>
      void (api.fault = ({ method }) =>
        method === 'POST' ? status(403, 'Forbidden', 'namespaces is forbidden') : undefined),
  },
  {
    says: 'an account that may not look',
    code: 'forbidden',
    prepare: () =>
      void (api.fault = ({ path }) =>
        path.includes('customresource') ? status(403, 'Forbidden', 'no') : undefined),
  },
  {
    says: 'a webhook that refuses our own objects',
    code: 'policy',
    prepare: () =>
      void (api.fault = ({ method }) =>
        method === 'POST'
          ? status(400, 'BadRequest', 'admission webhook "x" denied the request: no')
          : undefined),
  },
  {
    says: 'objects that the API takes for invalid',
    code: 'internal',
    prepare: () =>
      void (api.fault = ({ method }) =>
        method === 'POST' ? status(422, 'Invalid', 'spec.x: Invalid value') : undefined),
  },
  {
    says: 'an API that goes away',
    code: 'api-unreachable',
    prepare: () =>
      void (api.fault = ({ path }) =>
        path.includes('/namespaces')
          ? status(500, 'InternalError', 'etcdserver: leader changed')
          : undefined),
  },
]

function goOn(): void {
  api.controllers.push(() => {
    const asked = api.get('Subscription')
    if (asked?.status?.installedCSV === 'foo.v1' && !api.get('InstallPlan', 'install-9')) {
      api.put({
        apiVersion: 'operators.coreos.com/v1alpha1',
        kind: 'InstallPlan',
        metadata: { name: 'install-9', namespace: asked.metadata.namespace ?? '' },
        spec: { clusterServiceVersionNames: ['foo.v9'] },
        status: { phase: 'RequiresApproval' },
      })
      asked.status.installPlanRef = { name: 'install-9' }
    }
  })
}

const classes = {
  content: 'does not install',
  catalog: 'does not install',
  environment: 'could not be found out',
  infra: 'could not be found out',
}
const authors = new Set([
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

test.each(failures)('OLM v0: $says is $code', async ({ code, script = {}, plan, pods = [], prepare }) => {
  prepare?.()
  const before = remains()
  playOlmV0(api, { plans: [['foo.v1']], crds: ['reds.foo.test'], ...script })
  api.controllers.push(() => {
    const namespace = api.get('Namespace')
    if (!namespace || namespace.metadata.deletionTimestamp !== undefined) return
    for (const one of pods)
      if (!api.get('Pod', one.metadata.name))
        api.put({ ...one, metadata: { ...one.metadata, namespace: namespace.metadata.name } })
  })
  const report = await run(plan)
  expect(report.outcome).toMatchObject({
    code,
    verdict: authors.has(code) ? classes.content : classes.environment,
  })
  expect(report.leftovers.filter((one) => !one.includes('could not be looked for'))).toEqual([])
  expect(remains()).toEqual(before)
  expect(api.now - report.started).toBeLessThan(
    usualDeadlines.whole + usualDeadlines.cleanUp + usualDeadlines.namespace,
  )
})

test('a failure tells why: conditions, warnings and logs, without what looks like a secret', async () => {
  playOlmV0(api, { plans: [['foo.v1']], deployment: () => lazy })
  api.logs.set('foo-1 previous', 'starting\npanic: no such flag\nusing token=abcdefghijkl\n')
  api.controllers.push(() => {
    const namespace = api.get('Deployment')?.metadata.namespace
    if (namespace === undefined || api.get('Pod')) return
    api.put({
      ...operatorPod({
        ...waiting('CrashLoopBackOff'),
        restartCount: 3,
        lastState: { terminated: { reason: 'Error', exitCode: 2 } },
      })[0]!,
      metadata: { name: 'foo-1', namespace, labels: { app: 'foo.v1' } },
    })
    api.put({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace },
      type: 'Warning',
      reason: 'BackOff',
      message: 'restarting @everyone',
      involvedObject: { kind: 'Pod', name: 'foo-1' },
      lastTimestamp: api.time(),
    })
  })
  const report = await run()
  const words = describeTrials([report])
  expect(words).toContain('foo, channel stable, OLM v0: install of foo.v1: does not install (crash-loop;')
  expect(words).toContain("the Operator's pod foo-1 ended 3 times: Error, exit code 2")
  expect(words).toContain('BackOff Pod/foo-1: restarting @everyone')
  expect(words).toContain('panic: no such flag')
  expect(words).not.toContain('abcdefghijkl')
  expect(JSON.stringify(report)).not.toContain('token-of-the-cluster')
})

test('a failure that passes is none: a CSV that recovers at once, an API that is busy, answers that are lost', async () => {
  let looks = 0
  playOlmV0(api, {
    plans: [['foo.v1']],
    csv: () => (++looks < 4 ? failedCsv('InstallCheckFailed') : undefined),
  })
  let asked = 0
  api.fault = ({ method }) => {
    asked += 1
    if (method === 'POST' && asked % 3 === 0)
      return status(429, 'TooManyRequests', 'later', { 'retry-after': '2' })
    if (asked % 17 === 0) return status(503, 'ServiceUnavailable', 'restarting')
    return undefined
  }
  const report = await run()
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(remains()).toEqual([])
})

test('a change between a look and an act is settled by the next look', async () => {
  playOlmV0(api, { plans: [['foo.v1']] })
  let conflicts = 0
  api.fault = ({ method, path }) =>
    method === 'PATCH' && path.includes('installplans') && ++conflicts < 3
      ? status(409, 'Conflict', 'the object has been modified')
      : undefined
  expect((await run()).outcome).toEqual({ verdict: 'installs' })
})

test('lists are read to their end, and one that changes meanwhile is read anew', async () => {
  api.pageSize = 1
  playOlmV0(api, { plans: [['foo.v1', 'dependency.v1']] })
  let expired = 0
  api.fault = ({ query }) =>
    query.get('continue') !== null && ++expired < 3
      ? status(410, 'Expired', 'too old resource version')
      : undefined
  expect((await run({ steps: [step('foo.v1', 'dependency.v1')] })).outcome).toEqual({ verdict: 'installs' })
})

test('an answer that never comes costs its own time alone, and no more than that', async () => {
  const impatient = await openCluster({ file: join(folder, 'kubeconfig'), clock: api.clock, patience: 30 })
  let silent = 0
  api.fault = ({ path }) =>
    path.includes('catalogsources') && ++silent < 3 ? { status: 0, body: '', isSilent: true } : undefined
  playOlmV0(api, { plans: [['foo.v1']] })
  expect((await runTrial(planOf(), { ...options(), cluster: impatient })).outcome).toEqual({
    verdict: 'installs',
  })
  await impatient.close()
})

test('a cluster without the API is no fault of the change', async () => {
  await begin([...coreKinds])
  for (const target of ['OLM v0', 'OLM v1', 'RukPak helm'] as const)
    expect((await run({ target })).outcome).toMatchObject({
      verdict: 'could not be found out',
      code: 'api-absent',
    })
  expect(writes()).toEqual([])
})

test('what the world spoilt is tried again, twice; what the author did is not', async () => {
  playOlmV0(api, {
    plans: [['foo.v1']],
    catalog: () => ({ connectionState: { lastObservedState: 'CONNECTING' } }),
  })
  const attempts: number[] = []
  const [report] = await tryTrials([planned()], {
    ...options(),
    place: at,
    onTrial: (_, attempt) => attempts.push(attempt),
  })
  expect(report?.outcome).toMatchObject({ code: 'catalog-not-connected' })
  expect(attempts).toEqual([1, 2, 3])
  await begin()
  playOlmV0(api, { plans: [['foo.v0']] })
  attempts.length = 0
  await tryTrials([planned()], { ...options(), place: at, onTrial: (_, attempt) => attempts.push(attempt) })
  expect(attempts).toEqual([1])
})

test('OLM v1: installs, upgrades by another selector, and leaves nothing', async () => {
  for (const more of [{}, upgrade]) {
    await begin([...coreKinds, ...olmV1Kinds])
    const steps = 'steps' in more ? more.steps : [step('foo.v2')]
    playOlmV1(api, { installs: { base: 'foo.v1', head: 'foo.v2' } })
    const report = await run({ target: 'OLM v1', ...more, ...(steps && { steps }) }, images)
    expect(report.outcome).toEqual({ verdict: 'installs' })
    expect(remains()).toEqual([])
  }
})

test('OLM v1: an installer is made where its API wants one, and bound to the role that the operator names', async () => {
  await begin([...coreKinds, ...olmV1Kinds])
  api.put({
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
  playOlmV1(api, { installs: { base: '', head: 'foo.v1' } })
  const report = await run(
    { target: 'OLM v1' },
    { catalog: images.catalog, installerRole: 'trial-installer' },
  )
  expect(report.outcome).toEqual({ verdict: 'installs' })
  const binding = api.requests.find(
    ({ method, path }) => method === 'POST' && path.endsWith('/clusterrolebindings'),
  )
  expect(binding?.body).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'trial-installer' },
    subjects: [{ kind: 'ServiceAccount', name: 'installer', namespace: report.namespace }],
  })
  expect(remains()).toEqual(['CustomResourceDefinition clusterextensions.olm.operatorframework.io'])
})

const retrying = (message: string) => [{ type: 'Progressing', status: 'True', reason: 'Retrying', message }]
test.each([
  ['no bundles found for package "foo"', 'resolution-unsatisfiable'],
  ['unsupported bundle: apiServiceDefintions are not supported', 'refused-by-olm-v1'],
  ['bundle has webhooks and no certificate provider', 'certificate-provider-absent'],
  ['pre-authorization failed: missing rules', 'forbidden'],
  ['invalid ownership metadata; label validation error', 'occupied'],
  ['CRD upgrade safety: scope changed', 'crd-incompatible'],
  ['Get "https://registry.test/v2/": dial tcp: i/o timeout', 'registry-failing'],
  ['something that nobody knows', 'too-slow'],
])('OLM v1: "%s" is %s', async (message, code) => {
  await begin([...coreKinds, ...olmV1Kinds])
  playOlmV1(api, { installs: { base: '', head: 'foo.v1' }, extension: () => retrying(message) })
  expect((await run({ target: 'OLM v1' }, images)).outcome).toMatchObject({ code })
  expect(remains()).toEqual([])
})

test('OLM v1: a catalog that it refuses, one that it does not take up, another bundle, pods that do not run', async () => {
  const outcomeOf = async (script: Parameters<typeof playOlmV1>[1]) => {
    await begin([...coreKinds, ...olmV1Kinds])
    playOlmV1(api, script)
    const { outcome } = await run({ target: 'OLM v1' }, images)
    expect(remains()).toEqual([])
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
  // No pod of it runs: that is the cluster's.
  expect(await outcomeOf({ installs, deployment: lazy })).toMatchObject({ code: 'too-slow' })
})

test('a resolution that fails at first, and a crash that ends, are no failure', async () => {
  const began = api.now
  playOlmV0(api, {
    plans: [['foo.v1']],
    resolve: () =>
      api.now - began < 60_000
        ? [
            {
              type: 'ResolutionFailed',
              status: 'True',
              reason: 'ConstraintsNotSatisfiable',
              message: 'no operators found from catalog catalog',
            },
          ]
        : undefined,
    deployment: () => (api.now - began < 240_000 ? lazy : undefined),
    csv: () => (api.now - began < 240_000 ? { phase: 'Installing', reason: 'InstallWaiting' } : undefined),
  })
  api.controllers.push(() => {
    const namespace = api.get('Deployment')?.metadata.namespace
    const [crashing] = operatorPod({ ...waiting('CrashLoopBackOff'), restartCount: 4 })
    if (crashing && namespace !== undefined && !api.get('Pod'))
      api.put({ ...crashing, metadata: { ...crashing.metadata, namespace } })
  })
  expect((await run()).outcome).toEqual({ verdict: 'installs' })
})

test('OLM v1: refusals that come and go are no answer, in any words, and one that stays is', async () => {
  const outcomeOf = async (extension: (minute: number) => readonly object[] | undefined) => {
    await begin([...coreKinds, ...olmV1Kinds])
    const began = api.now
    playOlmV1(api, {
      installs: { base: '', head: 'foo.v1' },
      extension: () => extension((api.now - began) / 60_000),
    })
    return (await run({ target: 'OLM v1' }, images)).outcome
  }
  const none = 'no bundles found for package "foo"'
  expect(await outcomeOf((minute) => (minute < 2 ? retrying(none) : undefined))).toEqual({
    verdict: 'installs',
  })
  expect(await outcomeOf((minute) => retrying(minute % 2 < 1 ? none : 'unexpected EOF'))).toMatchObject({
    verdict: 'could not be found out',
  })
  expect(await outcomeOf((minute) => retrying(`${none}, attempt ${minute}`))).toMatchObject({
    code: 'resolution-unsatisfiable',
  })
  const blocked = [
    { type: 'Progressing', status: 'False', reason: 'Blocked', message: 'unexpected status code 503' },
  ]
  expect(await outcomeOf(() => blocked)).toMatchObject({ verdict: 'could not be found out' })
})

test.each(['RukPak plain', 'RukPak helm'] as const)(
  '%s: a failure that RukPak recovers from is not final, and the clock restarts when it returns',
  async (target) => {
    const outcomeOf = async (fails: (minute: number) => string | undefined) => {
      await begin([...coreKinds, ...rukPakKinds('v1alpha1')])
      api.fault = ({ query }) =>
        query.get('dryRun') === 'All' ? status(403, 'Forbidden', 'bundle.spec is immutable') : undefined
      const began = api.now
      playRukPak(api, {
        deployment: ({ metadata }) => {
          const message = fails((api.now - began) / 60_000)
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
      return (await run({ target })).outcome
    }
    expect(await outcomeOf((minute) => (minute < 5 ? 'EOF' : undefined))).toEqual({ verdict: 'installs' })
    expect(await outcomeOf(() => 'EOF')).toMatchObject({
      code: 'api-unreachable',
      verdict: 'could not be found out',
    })
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
      await begin([...coreKinds, ...rukPakKinds(version)])
      playRukPak(api)
      api.fault = ({ query }) =>
        query.get('dryRun') === 'All' ? status(403, 'Forbidden', 'bundle.spec is immutable') : undefined
      const report = await run({ target, ...upgrade })
      expect(report.outcome).toEqual({ verdict: 'installs' })
      expect(remains()).toEqual([])
    }
  },
)

test('RukPak: a Bundle that can be changed, an old one that stays, bundles that it refuses', async () => {
  const outcomeOf = async (script: Parameters<typeof playRukPak>[1], isImmutable = true) => {
    await begin([...coreKinds, ...rukPakKinds('v1alpha1')])
    playRukPak(api, script)
    api.fault = ({ query }) =>
      isImmutable && query.get('dryRun') === 'All'
        ? status(403, 'Forbidden', 'bundle.spec is immutable')
        : undefined
    const report = await run({ target: 'RukPak plain', ...upgrade })
    expect(report.leftovers).toEqual([])
    return report.outcome
  }
  const condition = (type: string, reason: string, message: string) => ({
    deployment: ({ metadata }: { metadata: { generation?: number } }) => ({
      observedGeneration: metadata.generation,
      conditions: [{ type, status: 'False', reason, message }],
    }),
  })
  expect(await outcomeOf({}, false)).toMatchObject({
    code: 'not-immutable',
    verdict: 'could not be found out',
  })
  expect(await outcomeOf({ keepsOld: true })).toMatchObject({
    code: 'no-pivot',
    verdict: 'could not be found out',
  })
  expect(await outcomeOf(condition('HasValidBundle', 'UnpackFailed', 'manifest unknown'))).toMatchObject({
    code: 'bundle-image-missing',
  })
  const disk = 'persist bundle content: open /var/cache/bundles/x.tgz: no space left on device'
  expect(await outcomeOf(condition('HasValidBundle', 'UnpackFailed', disk))).toMatchObject({
    code: 'internal',
    verdict: 'could not be found out',
  })
  expect(await outcomeOf(condition('Installed', 'InstallFailed', 'no matches for kind "X"'))).toMatchObject({
    code: 'api-missing-for-bundle',
  })
  expect(await outcomeOf(condition('Installed', 'InstallFailed', 'template: bad'))).toMatchObject({
    code: 'refused-by-rukpak',
  })
})

test('RukPak: what it installed outside of the trial’s namespace is waited for, and never deleted by us', async () => {
  await begin([...coreKinds, ...rukPakKinds('v1alpha2')])
  playRukPak(api)
  let goneAt = 0
  api.controllers.push((now) => {
    const deployment = api.get('BundleDeployment')
    const installed = api.get('Namespace', 'foo-system')
    if (deployment && deployment.metadata.deletionTimestamp === undefined)
      return void (
        installed ??
        api.put({
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'foo-system', labels: { 'core.rukpak.io/owner-name': deployment.metadata.name } },
        })
      )
    // The garbage collector takes its time.
    goneAt ||= now + 20_000
    if (installed && now >= goneAt) api.remove(installed)
  })
  const { outcome, leftovers, ended } = await run({
    target: 'RukPak plain',
    steps: upgrade.steps?.slice(0, 1) ?? [],
  })
  expect([outcome, leftovers]).toEqual([{ verdict: 'installs' }, []])
  expect(ended).toBeGreaterThanOrEqual(goneAt)
  expect(
    api.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith('/foo-system')),
  ).toEqual([])
})

test('RukPak: an account that may not try to change a Bundle has not seen that nobody can', async () => {
  await begin([...coreKinds, ...rukPakKinds('v1alpha1')])
  playRukPak(api)
  api.fault = ({ query }) =>
    query.get('dryRun') === 'All'
      ? status(403, 'Forbidden', 'bundles "x" is forbidden: User "trials" cannot patch resource "bundles"')
      : undefined
  const { outcome } = await run({ target: 'RukPak plain', ...upgrade })
  expect(outcome).toMatchObject({ code: 'forbidden', verdict: 'could not be found out' })
})

test('RukPak: pods that do not run are seen wherever a bundle puts them, and the pod that unpacks it by its name', async () => {
  const outcomeOf = async (place: (deployment: StoredObject) => Parameters<ScriptedApi['put']>[0][]) => {
    await begin([...coreKinds, ...rukPakKinds('v1alpha1')])
    playRukPak(api, {
      deployment: ({ metadata }) => ({ observedGeneration: metadata.generation, conditions: [] }),
    })
    api.controllers.push(() => {
      const deployment = api.get('BundleDeployment')
      if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return
      const ownerReferences = [
        {
          apiVersion: deployment.apiVersion,
          kind: deployment.kind,
          name: deployment.metadata.name,
          uid: deployment.metadata.uid ?? '',
        },
      ]
      for (const object of place(deployment))
        if (!api.get(object.kind, object.metadata.name))
          api.put({ ...object, metadata: { ...object.metadata, ownerReferences } })
    })
    return (await run({ target: 'RukPak plain', ...upgrade })).outcome
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
  const unpacking = (name: string) =>
    outcomeOf(() => [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'rukpak-system', labels: { 'core.rukpak.io/owner-kind': 'Bundle' } },
        status: cannotPull('bundle'),
      },
    ])
  expect(await unpacking('somebodys')).toMatchObject({ code: 'olm-silent' })
  const own = outcomeOf(() =>
    api.list('Bundle').map(({ metadata: { name } }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'rukpak-system', labels: { 'core.rukpak.io/owner-kind': 'Bundle' } },
      status: cannotPull('bundle'),
    })),
  )
  expect(await own).toMatchObject({ code: 'bundle-image-missing' })
})

test('a trial that is killed at any point is taken away by the janitor once its time is over, and not before', async () => {
  // So many acts a whole upgrade takes.
  playOlmV0(api, { plans: [['foo.v1'], ['foo.v2']], crds: ['reds.foo.test'] })
  await run(upgrade)
  const acts = writes().length
  expect(acts).toBeGreaterThan(12)
  for (let killed = 1; killed < acts; killed++) {
    await begin()
    playOlmV0(api, { plans: [['foo.v1'], ['foo.v2']], crds: ['reds.foo.test'] })
    api.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'others.foo.test' },
    })
    const dying = dyingAfter(killed)
    await expect(runTrial(planOf(upgrade), { ...options(), cluster: dying })).rejects.toThrow('killed')
    expect(await sweepCluster(options())).toEqual([])
    api.now += 3600_000
    const swept = await sweepCluster(options())
    expect(swept.flatMap(({ leftovers }) => leftovers)).toEqual([])
    expect(remains()).toEqual(['CustomResourceDefinition others.foo.test'])
  }
})

/** Does so many acts, and nothing after the last. */
function dyingAfter(count: number): Cluster {
  let left = count
  return {
    ...cluster,
    act: async (action) => {
      if (left-- <= 0) throw new Error('killed')
      return cluster.act(action)
    },
  }
}

test('the janitor touches nothing but what a trial of ours left', async () => {
  const old = String(Math.floor(api.now / 1000) - 60)
  const others = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'production' } },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'no-time', labels: { [trialLabel]: 'abcdefgh' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'odd', labels: { [trialLabel]: 'x,y in (a)', [expiresLabel]: old } },
    },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'catalog-bot-foo-living00',
        labels: { [trialLabel]: 'living00', [expiresLabel]: '99999999999' },
      },
    },
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: 'theirs', namespace: 'production' },
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'kept.foo.test',
        annotations: {
          'operatorframework.io/installed-alongside-1': 'catalog-bot-foo-deadbeef/foo.v1',
          'operatorframework.io/installed-alongside-2': 'production/foo.v1',
        },
      },
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'unmarked.foo.test' },
    },
  ]
  for (const one of others) api.put(one)
  const left = { [trialLabel]: 'deadbeef', [expiresLabel]: old }
  api.put({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: 'catalog-bot-foo-deadbeef',
      labels: left,
      annotations: {
        'catalog-bot.io/absent-before': '["kept.foo.test","unmarked.foo.test","gone.foo.test"]',
      },
    },
  })
  api.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'gone.foo.test',
      annotations: { 'operatorframework.io/installed-alongside-1': 'catalog-bot-foo-deadbeef/foo.v1' },
    },
  })
  api.put({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'its', labels: { 'olm.owner.namespace': 'catalog-bot-foo-deadbeef' } },
  })
  expect(await sweepCluster(options())).toEqual([{ id: 'deadbeef', leftovers: [] }])
  expect(remains()).toEqual(others.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
})

test("CRDs that only the InstallPlan names are noted before it is approved, and somebody's own among them end the trial", async () => {
  playOlmV0(api, { plans: [['foo.v1']], crds: ['blues.foo.test'] })
  const report = await run({ crds: [] })
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(remains()).toEqual([])
  await begin()
  const theirs = api.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'blues.foo.test', creationTimestamp: '2025-01-01T00:00:00Z' },
  })
  playOlmV0(api, { plans: [['foo.v1']], crds: ['blues.foo.test'] })
  expect((await run({ crds: [] })).outcome).toMatchObject({ code: 'crd-preexists' })
  expect(api.requests.some(({ method, path }) => method === 'PATCH' && path.includes('installplans'))).toBe(
    false,
  )
  expect(api.get('CustomResourceDefinition')).toBe(theirs)
})

test('what is made anew between a look and a deletion is not deleted', async () => {
  const theirs = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'catalog-bot-foo-deadbeef' } }
  api.put(theirs)
  const at = { apiVersion: 'v1', kind: 'Namespace', name: 'catalog-bot-foo-deadbeef' }
  expect(await cluster.act({ kind: 'delete', at, uid: 'of-the-one-before' })).toMatchObject({ status: 409 })
  expect(remains()).toEqual(['Namespace catalog-bot-foo-deadbeef'])
})

test('what does not go in time is named, and a finalizer is taken off only by force', async () => {
  const script = { plans: [['foo.v1']], isDeaf: true }
  playOlmV0(api, script)
  const report = await run()
  expect(report.outcome).toEqual({ verdict: 'installs' })
  expect(report.leftovers).toEqual([
    'ClusterServiceVersion ' + report.namespace + '/foo.v1, which waits for operators.coreos.com/csv-cleanup',
    'Namespace ' + report.namespace,
  ])
  await begin()
  playOlmV0(api, script)
  const forced = await runTrial(planOf(), { ...options(), force: true })
  expect(forced.leftovers).toEqual([])
  expect(forced.events.map(({ says }) => says)).toContainEqual(
    expect.stringContaining('are taken off by force'),
  )
  expect(remains()).toEqual([])
})

test('a trial that is told to stop is cleaned up', async () => {
  playOlmV0(api, { plans: [['foo.v1']] })
  const stop = new AbortController()
  const report = await runTrial(planOf(), {
    ...options(),
    signal: stop.signal,
    onProgress: (says) => says.includes('InstallPlan') && stop.abort(),
  })
  expect(report.outcome).toMatchObject({ code: 'killed', verdict: 'could not be found out' })
  expect(remains()).toEqual([])
})

test('a kubeconfig that starts programs, or is none, is refused without a word of what is in it', async () => {
  const open = (text: string, allowsPrograms = false) => {
    writeFileSync(join(folder, 'other'), text)
    return openCluster({ file: join(folder, 'other'), clock: api.clock, allowsPrograms })
  }
  const config = JSON.parse(server.kubeconfig) as { users: object[] }
  const withExec = JSON.stringify({
    ...config,
    users: [{ name: 'test', user: { exec: { command: 'secret-program' } } }],
  })
  await expect(open(withExec)).rejects.toThrow('starts a program')
  await expect(open('{{ secret')).rejects.toThrow(/^the kubeconfig cannot be read: it is no kubeconfig$/)
  await expect(open('{}')).rejects.toThrow('no cluster and user')
  await expect(openCluster({ file: join(folder, 'absent'), clock: api.clock })).rejects.toThrow('ENOENT')
})
