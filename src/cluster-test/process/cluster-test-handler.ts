// Runs one order on the cluster that the administrator assigned to the repository.
import {
  defaultClusterTestDeadlines,
  type ClusterTestDeadlines,
} from '../../checks/install/cluster-test/cluster-test-state.ts'
import { listSupportedInstallTargets } from '../../checks/install/cluster-test/cluster-test-driver.ts'
import { type KubeClusterClient, ClusterError } from '../cluster/cluster.ts'
import {
  runClusterTests,
  type ClusterTestEnvironment,
  sweepExpiredClusterTests,
  cleanUpClusterTest,
  type ClusterTestOptions,
} from '../cluster/run-cluster-tests.ts'
import type { Clock } from '../../ports/clock.ts'
import { findClusterTarget, computeClusterIdentityKey, type ClusterTarget } from './cluster-targets.ts'
import type {
  ClusterTestProgressResponse,
  ClusterTestWorkerResponse,
  ClusterTestProgress,
  ClusterTestWorkerRequest,
} from './cluster-test-protocol.ts'
import {
  type KubeObject,
  getListAtPath,
  getNumberAtPath,
} from '../../checks/install/cluster-test/kube-object.ts'
import { rbacApiVersion } from '../../checks/install/cluster-test/cluster-test-objects.ts'
import type { ClusterTestEgressAllowlist } from '../../checks/install/cluster-test/cluster-test-plan.ts'

export interface ClusterTestHandlerContext {
  readonly targets: readonly ClusterTarget[]
  readonly open: (target: ClusterTarget) => Promise<KubeClusterClient>
  readonly clock: Clock
}

/** Minimum milliseconds between progress reports, which also ask whether to continue. */
const progressReportIntervalMs = 5000

export async function handleClusterTestRequest(
  order: ClusterTestWorkerRequest,
  ctx: ClusterTestHandlerContext,
  reportProgress: (news: ClusterTestProgress) => Promise<ClusterTestProgressResponse>,
): Promise<ClusterTestWorkerResponse> {
  const target = findClusterTarget(ctx.targets, order)
  if (!target)
    return {
      kind: 'refused',
      why: `no test cluster is configured for ${order.github.owner}/${order.github.name}`,
    }
  if (order.kind === 'prepare')
    return {
      kind: 'prepared',
      slot: computeClusterIdentityKey(target),
      servesCatalogs: target.catalogHost !== undefined,
      ...(target.catalogPorts && { ports: target.catalogPorts }),
    }
  let cluster: KubeClusterClient | undefined
  try {
    cluster = await ctx.open(target)
    return await runInstallTestOnCluster(cluster, order, target, ctx, reportProgress)
  } catch (error) {
    if (error instanceof ClusterError) return { kind: 'failed', why: error.message }
    throw error
  } finally {
    await cluster?.close()
  }
}

async function runInstallTestOnCluster(
  cluster: KubeClusterClient,
  order: Extract<ClusterTestWorkerRequest, { kind: 'try' }>,
  target: ClusterTarget,
  { clock }: ClusterTestHandlerContext,
  reportProgress: (news: ClusterTestProgress) => Promise<ClusterTestProgressResponse>,
): Promise<ClusterTestWorkerResponse> {
  const { trial } = order
  const progress = new ClusterTestProgressReporter(clock, reportProgress)
  const patient = progress.clock
  const deadlines: ClusterTestDeadlines = { ...defaultClusterTestDeadlines, whole: target.minutes * 60_000 }
  const run: ClusterTestOptions = {
    cluster,
    clock: patient,
    deadlines,
    signal: progress.signal,
    force: target.forceCleanUp,
    every: target.lookSeconds * 1000,
    onProgress: (message) => progress.setMessage(message),
  }
  const open = target.confined
    ? await waitForAdmissionPolicies(cluster, patient, deadlines.unreachable)
    : undefined
  if (open !== undefined)
    return {
      kind: 'failed',
      why: `the policies in cluster-rights.yaml do not restrict this account: ${open}`,
    }
  for (const id of order.abandoned) await cleanUpClusterTest(id, run)
  await sweepExpiredClusterTests(run)
  if (!listSupportedInstallTargets(await cluster.discover()).includes(trial.target))
    return { kind: 'not-tried', why: `the cluster does not serve the ${trial.target} API` }
  const catalogSources = chooseTestCatalogSources(order, target)
  if ('why' in catalogSources) return { kind: 'not-tried', why: catalogSources.why }
  const { open: isOpen, reaches } = target.network
  const network = isOpen ? undefined : await resolveAllowedEgress(cluster, reaches)
  if (network?.kind === 'unknown') return { kind: 'not-tried', why: network.why }
  const [report] = await runClusterTests([trial], {
    ...run,
    environment: {
      ...catalogSources,
      network: network?.network,
      installerRole: target.installerRole,
      quota: target.quota,
    },
    onPlan: ({ id }) => progress.send('the install test is starting', id),
  })
  return report
    ? { kind: 'tried', report }
    : { kind: 'failed', why: 'the install test was canceled before it started' }
}

class ClusterTestProgressReporter {
  readonly #clock: Clock
  readonly #report: (news: ClusterTestProgress) => Promise<ClusterTestProgressResponse>
  readonly #stop = new AbortController()
  #sentAt = -Infinity
  #message = ''

  constructor(clock: Clock, report: (news: ClusterTestProgress) => Promise<ClusterTestProgressResponse>) {
    this.#clock = clock
    this.#report = report
  }

  /** Repeats progress during long waits, or the App assumes that the install test died. */
  get clock(): Clock {
    const clock = this.#clock
    return {
      now: () => clock.now(),
      sleep: async (milliseconds, signal) => {
        await clock.sleep(milliseconds, signal)
        if (clock.now() - this.#sentAt >= progressReportIntervalMs) await this.send(this.#message)
      },
    }
  }

  /** Aborted when the App decides to stop. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  setMessage(message: string): void {
    this.#message = message
  }

  async send(message: string, id?: string): Promise<void> {
    this.#sentAt = this.#clock.now()
    this.#message = message
    const decision = await this.#report({ kind: 'news', says: message, ...(id !== undefined && { id }) })
    if (decision === 'stop') this.#stop.abort()
  }
}

/** Catalog sources: local ports for OLM v0, images for OLM v1, and none for RukPak. */
function chooseTestCatalogSources(
  { trial, catalogs, images }: Extract<ClusterTestWorkerRequest, { kind: 'try' }>,
  { catalogHost }: ClusterTarget,
): Pick<ClusterTestEnvironment, 'catalog' | 'base'> | { readonly why: string } {
  if (trial.target === 'OLM v1') {
    if (!images)
      return { why: 'OLM v1 loads catalogs from images, and this pull request has no catalog image' }
    if ('why' in images) return images
    if (trial.isUpgrade && images.base === undefined)
      return { why: 'no published image contains the catalog as it was before the change' }
    return {
      catalog: { image: images.head },
      ...(images.base !== undefined && { base: { image: images.base } }),
    }
  }
  if (trial.target !== 'OLM v0') return { catalog: { image: '' } }
  if (!catalogs || catalogHost === undefined)
    return {
      why: 'the bot administrator has not configured how the cluster reaches the catalogs that catalog-bot serves',
    }
  const catalogAddressAt = (port: number) => ({ address: `${catalogHost}:${port}` })
  return {
    catalog: catalogAddressAt(catalogs.head),
    ...(catalogs.base !== undefined && { base: catalogAddressAt(catalogs.base) }),
  }
}

type AllowedEgressResult =
  | { readonly kind: 'closed'; readonly network: ClusterTestEgressAllowlist }
  | { readonly kind: 'unknown'; readonly why: string }

const apiServerEndpointSliceQuery = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace: 'default',
  name: 'kubernetes',
} as const

/** One forbidden write per policy, sent only as a dry run. */
const admissionPolicyProbes: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'not-of-a-trial' } },
  {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'not-of-a-trial' },
    // RBAC lets the account bind its own role, so only the policy can reject this.
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'catalog-bot-trials' },
    subjects: [],
  },
]

const admissionPolicyProbeIntervalMs = 2000

/**
 * Resolves to undefined once the policies of deploy/cluster-rights.yaml reject every probe, or to the reason after
 * the timeout. They take effect seconds after `kubectl apply`; without them, tests could delete others' objects.
 */
export async function waitForAdmissionPolicies(
  { perform }: Pick<KubeClusterClient, 'perform'>,
  clock: Clock,
  timeoutMs: number,
): Promise<string | undefined> {
  const deadline = clock.now() + timeoutMs
  for (;;) {
    let open: string | undefined
    for (const object of admissionPolicyProbes) {
      const answer = await perform({ kind: 'create', object, dryRun: true })
      if (answer && /ValidatingAdmissionPolicy|admission webhook/.test(answer.says)) continue
      open = `a dry run to create the ${object.kind} ${object.metadata.name} ${answer ? `failed for another reason: ${answer.says}` : 'was accepted'}`
      break
    }
    if (open === undefined || clock.now() >= deadline) return open
    await clock.sleep(admissionPolicyProbeIntervalMs)
  }
}

/**
 * The API addresses that pods can connect to in a closed network. Without these addresses, no install test runs,
 * because a partially closed network does not protect anything.
 */
export async function resolveAllowedEgress(
  cluster: Pick<KubeClusterClient, 'read'>,
  reaches: readonly string[],
): Promise<AllowedEgressResult> {
  const sighting = await cluster.read(apiServerEndpointSliceQuery)
  if (sighting.kind === 'failed' && sighting.code === 'unreachable')
    throw new ClusterError('unreachable', sighting.says)
  const api = sighting.kind === 'found' ? sighting.objects.flatMap(parseEndpointSliceAddresses) : []
  if (api.length > 0) return { kind: 'closed', network: { api, reaches } }
  const why =
    sighting.kind === 'failed'
      ? sighting.says
      : 'the kubernetes EndpointSlice in the default namespace has no addresses'
  return { kind: 'unknown', why: `the addresses of the Kubernetes API are unknown: ${why}` }
}

function parseEndpointSliceAddresses(object: KubeObject): ClusterTestEgressAllowlist['api'] {
  const ports = getListAtPath(object, 'ports')
    .map((port) => getNumberAtPath(port, 'port'))
    .filter((port) => port > 0)
  return getListAtPath(object, 'endpoints')
    .flatMap((endpoint) => getListAtPath(endpoint, 'addresses'))
    .filter((address): address is string => typeof address === 'string' && /^[0-9a-fA-F.:]+$/.test(address))
    .map((address) => ({ address, ports }))
}
