// Runs the install tests of a package one at a time, because CRDs are cluster-scoped. Retries infrastructure failures
// twice, and sweeps what expired tests left behind. Each test runs until it ends, gathers evidence, and always cleans
// up, even after a stop request.
import { randomBytes } from 'node:crypto'
import {
  defaultClusterTestDeadlines,
  type ClusterTestDeadlines,
  createInitialClusterTestState,
  type ClusterTestEvent,
  isRetryableClusterTestOutcome,
  type ClusterTestOutcome,
  createFailedClusterTestOutcome,
} from '../../checks/install/cluster-test/cluster-test-state.ts'
import {
  type PlannedClusterTest,
  type ClusterTestPlan,
  defaultClusterTestQuota,
  type ClusterTestCatalogSource,
  type ClusterTestEgressAllowlist,
  type ClusterTestQuota,
  toTestNamespaceName,
  toClusterScopedObjectName,
  clusterTestLabelKey,
} from '../../checks/install/cluster-test/cluster-test-plan.ts'
import {
  type ClusterTestReport,
  type ClusterTestEvidence,
  collectConditionEvidence,
  collectEventEvidence,
  clusterTestEvidenceLimits,
  createLogEvidence,
  truncateEvidence,
} from '../../checks/install/cluster-test/cluster-test-report.ts'
import {
  abandonedClusterTestQueries,
  findExpiredClusterTestIds,
  listCleanUpQueries,
  advanceCleanUp,
  createCleanUpState,
  type CleanUpState,
} from '../../checks/install/cluster-test/clean-up.ts'
import pLimit from 'p-limit'
import {
  toKubeQueryKey,
  type ClusterAction,
  type KubeQuery,
  type RejectedClusterAction,
  type ClusterObservation,
  type KubeQueryResult,
  getNumberAtPath,
  getStringAtPath,
  type KubeObject,
} from '../../checks/install/cluster-test/kube-object.ts'
import {
  computeNextClusterTestProgress,
  selectClusterTestDriver,
  type DiscoveredClusterApis,
} from '../../checks/install/cluster-test/cluster-test-driver.ts'
import type { Clock } from '../../ports/clock.ts'
import { type KubeClusterClient, ClusterError } from './cluster.ts'
import {
  isDeploymentAvailable,
  listContainerStatuses,
} from '../../checks/install/cluster-test/test-stages.ts'
import { olmApiVersion, olmV1ApiVersion } from '../../checks/install/cluster-test/cluster-test-objects.ts'

export interface ExpiredClusterTestSweepResult {
  readonly id: string
  readonly leftovers: readonly string[]
}

export interface ClusterTestEnvironment {
  readonly catalog: ClusterTestCatalogSource
  readonly base?: ClusterTestCatalogSource | undefined
  readonly pullSecret?: string | undefined
  readonly installerRole?: string | undefined
  readonly quota?: ClusterTestQuota | undefined
  readonly network?: ClusterTestEgressAllowlist | undefined
}

/** Seconds after all deadlines, when no process can still run the test. */
const clusterTestExpiryMarginSeconds = 600
const clusterTestIdCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789'

export interface RunClusterTestsOptions extends ClusterTestOptions {
  readonly environment: ClusterTestEnvironment
  readonly onAttempt?: (planned: PlannedClusterTest, attempt: number) => void
  /** Called before an attempt creates anything, so that a later process can find its objects. */
  readonly onPlan?: (plan: ClusterTestPlan) => Promise<void>
}

const maxTestAttempts = 3

export async function runClusterTests(
  tests: readonly PlannedClusterTest[],
  options: RunClusterTestsOptions,
): Promise<readonly ClusterTestReport[]> {
  const reports: ClusterTestReport[] = []
  for (const planned of tests) {
    if (options.signal?.aborted === true) break
    reports.push(await runClusterTestWithRetries(planned, options))
  }
  return reports
}

async function runClusterTestWithRetries(
  planned: PlannedClusterTest,
  options: RunClusterTestsOptions,
): Promise<ClusterTestReport> {
  const { clock, deadlines = defaultClusterTestDeadlines, environment, onAttempt, onPlan, signal } = options
  for (let attempt = 1; ; attempt++) {
    onAttempt?.(planned, attempt)
    const plan = buildClusterTestPlan(planned, environment, deadlines, clock.now())
    await onPlan?.(plan)
    const report = await runClusterTest(plan, options)
    const isOver =
      attempt >= maxTestAttempts || !isRetryableClusterTestOutcome(report.outcome) || signal?.aborted === true
    // Remaining objects would interfere with the next attempt.
    if (isOver || report.leftovers.length > 0) return report
  }
}

export function buildClusterTestPlan(
  planned: PlannedClusterTest,
  environment: ClusterTestEnvironment,
  deadlines: ClusterTestDeadlines,
  now: number,
): ClusterTestPlan {
  const { isUpgrade, ...plannedTest } = planned
  const {
    catalog,
    base,
    pullSecret,
    installerRole = 'cluster-admin',
    quota = defaultClusterTestQuota,
    network,
  } = environment
  const maxDurationMs = deadlines.whole + deadlines.cleanUp + deadlines.namespace
  return {
    ...plannedTest,
    id: createClusterTestId(),
    catalog,
    ...(isUpgrade && base !== undefined && { base }),
    ...(pullSecret !== undefined && { pullSecret }),
    ...(network && { network }),
    installerRole,
    quota,
    expires: Math.ceil((now + maxDurationMs) / 1000) + clusterTestExpiryMarginSeconds,
  }
}

/** The id must be unique and impossible to guess. */
function createClusterTestId(): string {
  // 36 does not divide 256; the small bias is harmless in a name.
  return [...randomBytes(8)]
    .map((byte) => clusterTestIdCharacters[byte % clusterTestIdCharacters.length])
    .join('')
}

/** Deletes the objects of install tests that were killed. Finds them only by the test label and the expiry time. */
export async function sweepExpiredClusterTests(
  options: ClusterTestOptions,
): Promise<readonly ExpiredClusterTestSweepResult[]> {
  const seen = await readClusterObjects(options.cluster, abandonedClusterTestQueries, [])
  const swept: ExpiredClusterTestSweepResult[] = []
  for (const id of findExpiredClusterTestIds(seen, options.clock.now())) {
    const { leftovers } = await cleanUpClusterTest(id, options)
    swept.push({ id, leftovers })
  }
  return swept
}

export interface ClusterTestOptions {
  readonly cluster: KubeClusterClient
  readonly clock: Clock
  readonly deadlines?: ClusterTestDeadlines
  /** Called when the status text changes. */
  readonly onProgress?: (message: string) => void
  readonly signal?: AbortSignal
  readonly force?: boolean
  /** Milliseconds between observations. */
  readonly every?: number
}

const defaultPollIntervalMs = 2000
const maxParallelClusterReads = 4

export async function runClusterTest(
  plan: ClusterTestPlan,
  options: ClusterTestOptions,
): Promise<ClusterTestReport> {
  const { clock, cluster, deadlines = defaultClusterTestDeadlines } = options
  const started = clock.now()
  let events: readonly ClusterTestEvent[] = []
  let outcome: ClusterTestOutcome
  let evidence: readonly ClusterTestEvidence[] = []
  let leftovers: readonly string[] = []
  let discovered: DiscoveredClusterApis | undefined
  let isClean = true
  try {
    discovered = await cluster.discover()
    const kind = selectClusterTestDriver(plan, deadlines, discovered)
    if ('code' in kind) outcome = createFailedClusterTestOutcome(kind.code, kind.says)
    else {
      isClean = false
      const ended = await runClusterTestSteps(kind, deadlines, options)
      outcome = ended.outcome
      events = ended.events
      if (outcome.verdict !== 'installs') evidence = await readClusterTestEvidence(cluster, plan)
    }
  } catch (error) {
    outcome = toFailedClusterTestOutcome(error)
  }
  if (!isClean) {
    const cleaned = await cleanUpClusterTest(plan.id, options)
    leftovers = cleaned.leftovers
    events = [...events, ...cleaned.events]
  }
  return {
    id: plan.id,
    target: plan.target,
    package: plan.package,
    channel: plan.channel,
    mode: plan.mode,
    steps: plan.steps.map(({ root }) => root),
    namespace: toTestNamespaceName(plan),
    ...(plan.network && { isNetworkClosed: true }),
    cluster: discovered === undefined ? [] : describeClusterVersions(discovered),
    outcome,
    started,
    ended: clock.now(),
    events,
    evidence,
    leftovers,
  }
}

function toFailedClusterTestOutcome(error: unknown): ClusterTestOutcome {
  if (!(error instanceof ClusterError)) throw error
  return createFailedClusterTestOutcome(
    error.code === 'unreachable' ? 'api-unreachable' : 'forbidden',
    error.message,
  )
}

async function runClusterTestSteps(
  kind: Exclude<ReturnType<typeof selectClusterTestDriver>, { readonly code: unknown }>,
  deadlines: ClusterTestDeadlines,
  { cluster, clock, signal, onProgress, every = defaultPollIntervalMs }: ClusterTestOptions,
): Promise<{ readonly outcome: ClusterTestOutcome; readonly events: readonly ClusterTestEvent[] }> {
  let state = createInitialClusterTestState(kind.first, clock.now())
  let rejected: readonly RejectedClusterAction[] = []
  let reported = ''
  for (;;) {
    if (signal?.aborted === true)
      return {
        outcome: createFailedClusterTestOutcome('killed', 'the install test was stopped'),
        events: state.events,
      }
    const seen = await readClusterObjects(cluster, kind.queries(state), rejected)
    const progress = computeNextClusterTestProgress(kind, state, seen, clock.now(), deadlines)
    ;({ state } = progress)
    if (progress.waitsFor !== reported) onProgress?.((reported = progress.waitsFor))
    if (progress.outcome) return { outcome: progress.outcome, events: state.events }
    rejected = await performClusterActions(cluster, progress.actions)
    await clock.sleep(every, signal)
  }
}

/**
 * Deletes all objects of one install test and returns the objects that remain. Never rejects, because a failed clean-up
 * does not change the verdict and the janitor retries it.
 */
export async function cleanUpClusterTest(
  id: string,
  {
    cluster,
    clock,
    deadlines = defaultClusterTestDeadlines,
    force = false,
    onProgress,
    every = defaultPollIntervalMs,
  }: ClusterTestOptions,
): Promise<Pick<CleanUpState, 'leftovers' | 'events'>> {
  let state = createCleanUpState(id, clock.now())
  for (;;) {
    const seen = await readClusterObjects(cluster, listCleanUpQueries(state), [])
    const {
      state: next,
      actions,
      isDone,
      waitsFor,
    } = advanceCleanUp(state, seen, clock.now(), { deadlines, force })
    const isFurther = next.group > state.group
    state = next
    if (isDone) return state
    // An empty group needs no wait.
    if (isFurther) continue
    onProgress?.(`clean-up: ${waitsFor}`)
    await performClusterActions(cluster, actions)
    await clock.sleep(every)
  }
}

/** Skips duplicate queries and limits how many run in parallel. */
async function readClusterObjects(
  cluster: Pick<KubeClusterClient, 'read'>,
  queries: readonly KubeQuery[],
  rejected: readonly RejectedClusterAction[],
): Promise<ClusterObservation> {
  const pending = new Map(queries.map((query) => [toKubeQueryKey(query), query]))
  const queryResults = new Map<string, KubeQueryResult>()
  await pLimit(maxParallelClusterReads).map(pending, async ([key, query]) => {
    queryResults.set(key, await cluster.read(query))
  })
  return { queryResults, rejectedActions: rejected }
}

/** Performs the actions in order, because some of them depend on earlier ones. */
async function performClusterActions(
  cluster: Pick<KubeClusterClient, 'perform'>,
  actions: readonly ClusterAction[],
): Promise<readonly RejectedClusterAction[]> {
  const rejected: RejectedClusterAction[] = []
  for (const action of actions) {
    const answer = await cluster.perform(action)
    if (answer) rejected.push(answer)
  }
  return rejected
}

function describeClusterVersions({ version, groupVersions }: DiscoveredClusterApis): readonly string[] {
  const relevantVersions = groupVersions.filter((one) =>
    /^(?:operators\.coreos\.com|olm\.operatorframework\.io|core\.rukpak\.io)\//.test(one),
  )
  return [`Kubernetes ${version}`, ...relevantVersions]
}

/** Reads conditions, warnings, and logs from the namespace of a failed install test before clean-up deletes them. */
async function readClusterTestEvidence(
  cluster: KubeClusterClient,
  plan: ClusterTestPlan,
): Promise<readonly ClusterTestEvidence[]> {
  const namespace = toTestNamespaceName(plan)
  const inside = (apiVersion: string, kind: string): KubeQuery => ({ apiVersion, kind, namespace })
  const readObjects = async (query: KubeQuery): Promise<readonly KubeObject[]> => {
    const sighting = await cluster.read(query)
    return sighting.kind === 'found' ? sighting.objects : []
  }
  const objects: KubeObject[] = []
  for (const query of [
    inside(olmApiVersion, 'Subscription'),
    inside(olmApiVersion, 'InstallPlan'),
    inside(olmApiVersion, 'ClusterServiceVersion'),
    inside(olmApiVersion, 'CatalogSource'),
    { apiVersion: olmV1ApiVersion, kind: 'ClusterExtension', name: toClusterScopedObjectName(plan) },
    { apiVersion: olmV1ApiVersion, kind: 'ClusterCatalog', labels: `${clusterTestLabelKey}=${plan.id}` },
    ...['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'].map((apiVersion) => ({
      apiVersion,
      kind: 'BundleDeployment',
      name: toClusterScopedObjectName(plan),
    })),
    inside('batch/v1', 'Job'),
  ])
    objects.push(...(await readObjects(query)))
  const deployments = await readObjects(inside('apps/v1', 'Deployment'))
  objects.push(...deployments.filter((one) => !isDeploymentAvailable(one)))
  const events = collectEventEvidence(await readObjects(inside('v1', 'Event')))
  const logs = await readContainerLogs(cluster, namespace, await readObjects(inside('v1', 'Pod')))
  return truncateEvidence([...collectConditionEvidence(objects), ...events, ...logs])
}

/** Reads the logs only of containers that restarted or exited with an error. */
async function readContainerLogs(
  cluster: KubeClusterClient,
  namespace: string,
  pods: readonly KubeObject[],
): Promise<readonly ClusterTestEvidence[]> {
  const found: ClusterTestEvidence[] = []
  for (const pod of pods) {
    for (const container of listContainerStatuses(pod)) {
      if (found.length >= clusterTestEvidenceLimits.pods) return found
      const restarts = getNumberAtPath(container, 'restartCount')
      const hasFailed = restarts > 0 || getNumberAtPath(container, 'state', 'terminated', 'exitCode') !== 0
      if (!hasFailed) continue
      const name = getStringAtPath(container, 'name')
      const at = { namespace, pod: pod.metadata.name, container: name }
      const text =
        (await cluster.log({ ...at, previous: restarts > 0 })) ||
        (await cluster.log({ ...at, previous: false }))
      if (text.trim() !== '')
        found.push(createLogEvidence(`Last log lines of pod ${pod.metadata.name}, container ${name}`, text))
    }
  }
  return found
}
