// Deletes the objects of an install test, found by its label, in an order that lets controllers clean up first. Never
// deletes unlabeled objects, except CRDs that the test's bundles installed and that did not exist before.
import {
  addClusterTestEvent,
  type ClusterTestEvent,
  type ClusterTestDeadlines,
} from './cluster-test-state.ts'
import {
  createCrdQuery,
  toKubeObjectQuery,
  getObservedKubeObjects,
  type ClusterAction,
  type KubeObject,
  type KubeQuery,
  type ClusterObservation,
  findFailedKubeQueries,
} from './kube-object.ts'
import {
  olmApiVersion,
  operatorGroupApiVersion,
  olmV1ApiVersion,
  rbacApiVersion,
  rukPakApiVersions,
} from './cluster-test-objects.ts'
import {
  toClusterScopedObjectName,
  crdsAbsentBeforeTestAnnotation,
  expirationLabelKey,
  parseJsonNameList,
  clusterTestLabelKey,
} from './cluster-test-plan.ts'

export interface CleanUpState {
  readonly id: string
  readonly started: number
  /** The current group and its start time. */
  readonly group: number
  readonly since: number
  /** Stored because clean-up later identifies their contents by these names. */
  readonly namespaces: readonly string[]
  readonly crds: readonly string[]
  readonly leftovers: readonly string[]
  readonly events: readonly ClusterTestEvent[]
}

export interface CleanUpProgress {
  readonly state: CleanUpState
  readonly actions: readonly ClusterAction[]
  readonly waitsFor: string
  readonly isDone: boolean
}

export interface CleanUpOptions {
  readonly deadlines: ClusterTestDeadlines
  /** Whether to remove finalizers from OLM's objects if OLM does not; its own clean-up is then skipped. */
  readonly force?: boolean
}

export function createCleanUpState(id: string, now: number): CleanUpState {
  return { id, started: now, group: 0, since: now, namespaces: [], crds: [], leftovers: [], events: [] }
}

interface CleanUpPhase {
  readonly label: string
  readonly queries: (state: CleanUpState) => readonly KubeQuery[]
  /** Which of the found objects may be deleted. Default: all. */
  readonly isOurs?: (object: KubeObject, state: CleanUpState) => boolean
  /** A controller deletes it; clean-up only waits. */
  readonly isDeletedByController?: true
  readonly timeoutMs: (deadlines: ClusterTestDeadlines) => number
}

const formatTestLabelSelector = (state: CleanUpState) => `${clusterTestLabelKey}=${state.id}`
const computeLongPhaseTimeoutMs = ({ cleanUp }: ClusterTestDeadlines) => cleanUp / 2
const computeShortPhaseTimeoutMs = ({ cleanUp }: ClusterTestDeadlines) => cleanUp / 5

/** Ordered so that an Operator still runs during its own clean-up, and the namespace is deleted last. */
const cleanUpPhases: readonly CleanUpPhase[] = [
  {
    label: 'Subscriptions',
    queries: createPerNamespaceQueryLister(olmApiVersion, 'Subscription'),
    timeoutMs: computeShortPhaseTimeoutMs,
  },
  {
    label: 'extensions',
    queries: (state) => [
      { apiVersion: olmV1ApiVersion, kind: 'ClusterExtension', labels: formatTestLabelSelector(state) },
      ...rukPakApiVersions.map((apiVersion) => ({
        apiVersion,
        kind: 'BundleDeployment',
        labels: formatTestLabelSelector(state),
      })),
    ],
    timeoutMs: computeLongPhaseTimeoutMs,
  },
  {
    // The garbage collector deletes it after the BundleDeployment; the next test must not see it.
    label: 'RukPak objects',
    queries: (state) => {
      const labels = `core.rukpak.io/owner-name=${toClusterScopedObjectName(state)}`
      return [
        ...rukPakApiVersions.map((apiVersion) => ({ apiVersion, kind: 'Bundle', labels })),
        { apiVersion: 'apps/v1', kind: 'Deployment', labels },
        { apiVersion: 'v1', kind: 'Namespace', labels },
      ]
    },
    isDeletedByController: true,
    timeoutMs: computeLongPhaseTimeoutMs,
  },
  {
    label: 'ClusterServiceVersions',
    queries: createPerNamespaceQueryLister(olmApiVersion, 'ClusterServiceVersion'),
    isOurs: ({ metadata }) => metadata.labels?.['olm.copiedFrom'] === undefined,
    timeoutMs: computeLongPhaseTimeoutMs,
  },
  {
    label: 'catalogs and plans',
    queries: (state) => [
      ...createPerNamespaceQueryLister(olmApiVersion, 'InstallPlan')(state),
      ...createPerNamespaceQueryLister(olmApiVersion, 'CatalogSource')(state),
      ...createPerNamespaceQueryLister(operatorGroupApiVersion, 'OperatorGroup')(state),
      { apiVersion: olmV1ApiVersion, kind: 'ClusterCatalog', labels: formatTestLabelSelector(state) },
    ],
    timeoutMs: computeShortPhaseTimeoutMs,
  },
  {
    label: 'cluster-scoped OLM objects',
    queries: ({ namespaces }) =>
      namespaces.flatMap((namespace) =>
        (
          [
            [rbacApiVersion, 'ClusterRoleBinding'],
            [rbacApiVersion, 'ClusterRole'],
            ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
            ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
          ] as const
        ).map(([apiVersion, kind]) => ({ apiVersion, kind, labels: `olm.owner.namespace=${namespace}` })),
      ),
    timeoutMs: computeShortPhaseTimeoutMs,
  },
  {
    label: 'CRDs',
    queries: ({ crds }) => crds.map(createCrdQuery),
    isOurs: isCrdInstalledByTest,
    timeoutMs: computeLongPhaseTimeoutMs,
  },
  {
    label: 'ClusterRoleBindings',
    queries: (state) => [
      { apiVersion: rbacApiVersion, kind: 'ClusterRoleBinding', labels: formatTestLabelSelector(state) },
    ],
    timeoutMs: computeShortPhaseTimeoutMs,
  },
  {
    label: 'namespaces',
    queries: (state) => [{ apiVersion: 'v1', kind: 'Namespace', labels: formatTestLabelSelector(state) }],
    timeoutMs: ({ namespace }) => namespace,
  },
  {
    label: 'Operators',
    queries: ({ namespaces }) =>
      namespaces.length > 0 ? [{ apiVersion: operatorGroupApiVersion, kind: 'Operator' }] : [],
    isOurs: ({ metadata }, { namespaces }) =>
      namespaces.some((namespace) => metadata.name.endsWith(`.${namespace}`)),
    // Controllers recreate these until their last part is gone, and they do no harm.
    timeoutMs: computeShortPhaseTimeoutMs,
  },
]

export function listCleanUpQueries(state: CleanUpState): readonly KubeQuery[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', labels: formatTestLabelSelector(state) },
    ...(cleanUpPhases[state.group]?.queries(state) ?? []),
  ]
}

export function advanceCleanUp(
  before: CleanUpState,
  observation: ClusterObservation,
  now: number,
  { deadlines, force = false }: CleanUpOptions,
): CleanUpProgress {
  const known = addTestObjectsToCleanUpState(before, observation)
  const group = cleanUpPhases[known.group]
  if (!group) return { state: known, actions: [], waitsFor: 'nothing', isDone: true }
  const isOverdue = now - known.started > deadlines.cleanUp + deadlines.namespace
  const queries = group.queries(known)
  const blind = findFailedKubeQueries(queries, observation)
  const isBlind = blind.some(({ code }) => code !== 'forbidden')
  if (isBlind && !isOverdue && now - known.since < deadlines.unreachable)
    return {
      state: known,
      actions: [],
      waitsFor: `waiting for the Kubernetes API to list ${group.label}`,
      isDone: false,
    }
  const there = queries
    .flatMap((query) => getObservedKubeObjects(observation, query))
    .filter((object) => group.isOurs?.(object, known) ?? true)
  const unseen = blind.map(({ query, says }) => `${query.kind} objects could not be listed: ${says}`)
  if (there.length === 0) return toNextCleanUpPhase(known, now, unseen)
  if (isOverdue || now - known.since >= group.timeoutMs(deadlines)) {
    const stuck = there.filter(
      ({ metadata }) => (metadata.finalizers ?? []).length > 0 && metadata.deletionTimestamp !== undefined,
    )
    if (
      force &&
      group.isDeletedByController !== true &&
      stuck.length > 0 &&
      !isOverdue &&
      now - known.since < 2 * group.timeoutMs(deadlines)
    )
      return { ...removeFinalizers(known, now, stuck), waitsFor: group.label, isDone: false }
    return toNextCleanUpPhase(known, now, [...unseen, ...there.map(formatUndeletedObject)])
  }
  return {
    state: known,
    actions: there
      .filter(
        ({ metadata }) => group.isDeletedByController !== true && metadata.deletionTimestamp === undefined,
      )
      .map((object) => ({
        kind: 'delete',
        at: toKubeObjectQuery(object),
        ...(object.metadata.uid !== undefined && { uid: object.metadata.uid }),
      })),
    waitsFor: `waiting for ${group.label} to be deleted: ${there.slice(0, 3).map(formatKubeObjectName).join(', ')}`,
    isDone: false,
  }
}

function removeFinalizers(
  state: CleanUpState,
  now: number,
  stuck: readonly KubeObject[],
): Pick<CleanUpProgress, 'state' | 'actions'> {
  const message = `forcibly removing the finalizers of ${stuck.map(formatKubeObjectName).join(', ')}`
  return {
    state: addClusterTestEvent(state, now, message),
    actions: stuck.map((object) => ({
      kind: 'patch',
      at: toKubeObjectQuery(object),
      patch: { metadata: { finalizers: null } },
    })),
  }
}

/** Records the data that is readable only while the namespace exists. */
function addTestObjectsToCleanUpState(state: CleanUpState, observation: ClusterObservation): CleanUpState {
  const found = getObservedKubeObjects(observation, {
    apiVersion: 'v1',
    kind: 'Namespace',
    labels: formatTestLabelSelector(state),
  }).filter(
    ({ metadata }) =>
      metadata.labels?.[clusterTestLabelKey] === state.id && metadata.name.startsWith('catalog-bot-'),
  )
  if (found.length === 0) return state
  const names = found.map(({ metadata }) => metadata.name)
  return {
    ...state,
    namespaces: [...new Set([...state.namespaces, ...names])],
    crds: [
      ...new Set([
        ...state.crds,
        ...found.flatMap(({ metadata }) =>
          parseJsonNameList(metadata.annotations?.[crdsAbsentBeforeTestAnnotation]),
        ),
      ]),
    ],
  }
}

/** OLM v0 records on each CRD the ClusterServiceVersions that installed it. OLM v1 and RukPak record the extension. */
function isCrdInstalledByTest({ metadata }: KubeObject, { id, namespaces }: CleanUpState): boolean {
  const alongside = Object.entries(metadata.annotations ?? {})
    .filter(([key]) => key.startsWith('operatorframework.io/installed-alongside-'))
    .map(([, value]) => value.split('/')[0] ?? '')
  const labels = metadata.labels ?? {}
  const owners = [labels['olm.operatorframework.io/owner-name'], labels['core.rukpak.io/owner-name']]
  if (owners.includes(toClusterScopedObjectName({ id }))) return true
  return alongside.length > 0 && alongside.every((namespace) => namespaces.includes(namespace))
}

function createPerNamespaceQueryLister(apiVersion: string, kind: string) {
  return ({ namespaces }: CleanUpState): readonly KubeQuery[] =>
    namespaces.map((namespace) => ({ apiVersion, kind, namespace }))
}

function toNextCleanUpPhase(
  state: CleanUpState,
  now: number,
  newLeftovers: readonly string[],
): CleanUpProgress {
  const group = state.group + 1
  const leftovers = [...new Set([...state.leftovers, ...newLeftovers])]
  const next = { ...state, group, since: now, leftovers }
  return {
    state:
      newLeftovers.length > 0
        ? addClusterTestEvent(next, now, `not deleted: ${newLeftovers.join('; ')}`)
        : next,
    actions: [],
    waitsFor: cleanUpPhases[group]?.label ?? 'nothing',
    isDone: group >= cleanUpPhases.length,
  }
}

const formatKubeObjectName = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`

function formatUndeletedObject(object: KubeObject): string {
  const finalizers = object.metadata.finalizers ?? []
  return finalizers.length > 0
    ? `${formatKubeObjectName(object)} (waiting for finalizers: ${finalizers.join(', ')})`
    : formatKubeObjectName(object)
}

/** The queries that find install tests that were killed. */
export const abandonedClusterTestQueries: readonly KubeQuery[] = [
  { apiVersion: 'v1', kind: 'Namespace', labels: clusterTestLabelKey },
  { apiVersion: olmV1ApiVersion, kind: 'ClusterExtension', labels: clusterTestLabelKey },
  { apiVersion: olmV1ApiVersion, kind: 'ClusterCatalog', labels: clusterTestLabelKey },
  { apiVersion: rbacApiVersion, kind: 'ClusterRoleBinding', labels: clusterTestLabelKey },
  ...rukPakApiVersions.map((apiVersion) => ({
    apiVersion,
    kind: 'BundleDeployment',
    labels: clusterTestLabelKey,
  })),
]

/** Returns the ids of install tests that have expired according to their objects. Ignores objects without an expiry. */
export function findExpiredClusterTestIds(observation: ClusterObservation, now: number): readonly string[] {
  const times = new Map<string, number>()
  for (const { metadata } of abandonedClusterTestQueries.flatMap((query) =>
    getObservedKubeObjects(observation, query),
  )) {
    const id = metadata.labels?.[clusterTestLabelKey] ?? ''
    const expires = metadata.labels?.[expirationLabelKey] ?? ''
    if (!/^[a-z0-9]{8}$/.test(id) || !/^\d{1,12}$/.test(expires)) continue
    times.set(id, Math.max(times.get(id) ?? 0, Number(expires)))
  }
  return [...times].filter(([, expires]) => expires * 1000 < now).map(([id]) => id)
}
