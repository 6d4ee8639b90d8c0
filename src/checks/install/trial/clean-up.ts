// Removes what a trial created, found by the trial's label, in an order that lets controllers clean up first. Never
// touches unlabelled objects, except CRDs that were absent before and that the trial's bundles brought.
import type { Deadlines } from './deadlines.ts'
import {
  lookAt,
  lookKey,
  objectsOf,
  type Action,
  type KubeObject,
  type Look,
  type Seen,
} from './kube-object.ts'
import { olm, olmGroups, olmV1, rbac } from './trial-objects.ts'
import { clusterNameOf, crdsAnnotation, expiresLabel, namesIn, trialLabel } from './trial-plan.ts'
import type { TrialEvent } from './trial-state.ts'

export interface CleanUpState {
  readonly id: string
  readonly started: number
  /** The current group, and when it began. */
  readonly group: number
  readonly since: number
  /** Remembered, because their contents are later identified by these names. */
  readonly namespaces: readonly string[]
  readonly crds: readonly string[]
  readonly leftovers: readonly string[]
  readonly events: readonly TrialEvent[]
}

export interface CleanUpProgress {
  readonly state: CleanUpState
  readonly actions: readonly Action[]
  readonly waitsFor: string
  readonly isDone: boolean
}

export interface CleanUpOptions {
  readonly deadlines: Deadlines
  /** Whether to remove finalizers from OLM's objects if OLM does not; its own clean-up is then skipped. */
  readonly force?: boolean
}

export function startCleanUp(id: string, now: number): CleanUpState {
  return { id, started: now, group: 0, since: now, namespaces: [], crds: [], leftovers: [], events: [] }
}

const rukPaks = ['core.rukpak.io/v1alpha1', 'core.rukpak.io/v1alpha2'] as const
const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const

interface Group {
  readonly what: string
  readonly looks: (state: CleanUpState) => readonly Look[]
  /** Which of the found objects may be deleted. Default: all. */
  readonly isOurs?: (object: KubeObject, state: CleanUpState) => boolean
  /** A controller deletes it; clean-up only waits. */
  readonly goesByItself?: true
  readonly time: (deadlines: Deadlines) => number
}

const ofTrial = (state: CleanUpState) => `${trialLabel}=${state.id}`
const half = ({ cleanUp }: Deadlines) => cleanUp / 2
const short = ({ cleanUp }: Deadlines) => cleanUp / 5

/** Ordered so that an Operator is there for its own clean-up, and the namespace goes last. */
const groups: readonly Group[] = [
  { what: 'Subscriptions', looks: inNamespaces(olm, 'Subscription'), time: short },
  {
    what: 'extensions',
    looks: (state) => [
      { apiVersion: olmV1, kind: 'ClusterExtension', labels: ofTrial(state) },
      ...rukPaks.map((apiVersion) => ({ apiVersion, kind: 'BundleDeployment', labels: ofTrial(state) })),
    ],
    time: half,
  },
  {
    // The garbage collector deletes it after the BundleDeployment; the next trial must not see it.
    what: 'what RukPak installed',
    looks: (state) => {
      const labels = `core.rukpak.io/owner-name=${clusterNameOf(state)}`
      return [
        ...rukPaks.map((apiVersion) => ({ apiVersion, kind: 'Bundle', labels })),
        { apiVersion: 'apps/v1', kind: 'Deployment', labels },
        { apiVersion: 'v1', kind: 'Namespace', labels },
      ]
    },
    goesByItself: true,
    time: half,
  },
  {
    what: 'ClusterServiceVersions',
    looks: inNamespaces(olm, 'ClusterServiceVersion'),
    isOurs: isNoCopy,
    time: half,
  },
  {
    what: 'catalogs and plans',
    looks: (state) => [
      ...inNamespaces(olm, 'InstallPlan')(state),
      ...inNamespaces(olm, 'CatalogSource')(state),
      ...inNamespaces(olmGroups, 'OperatorGroup')(state),
      { apiVersion: olmV1, kind: 'ClusterCatalog', labels: ofTrial(state) },
    ],
    time: short,
  },
  {
    what: 'what OLM left outside of the namespace',
    looks: ({ namespaces }) =>
      namespaces.flatMap((namespace) =>
        (
          [
            [rbac, 'ClusterRoleBinding'],
            [rbac, 'ClusterRole'],
            ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
            ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
          ] as const
        ).map(([apiVersion, kind]) => ({ apiVersion, kind, labels: `olm.owner.namespace=${namespace}` })),
      ),
    time: short,
  },
  {
    what: 'CRDs',
    looks: ({ crds }) => crds.map((name) => ({ ...crdKind, name })),
    isOurs: isBroughtByTrial,
    time: half,
  },
  {
    what: 'rights',
    looks: (state) => [{ apiVersion: rbac, kind: 'ClusterRoleBinding', labels: ofTrial(state) }],
    time: short,
  },
  {
    what: 'namespaces',
    looks: (state) => [{ apiVersion: 'v1', kind: 'Namespace', labels: ofTrial(state) }],
    time: ({ namespace }) => namespace,
  },
  {
    what: 'Operators',
    looks: ({ namespaces }) => (namespaces.length > 0 ? [{ apiVersion: olmGroups, kind: 'Operator' }] : []),
    isOurs: ({ metadata }, { namespaces }) =>
      namespaces.some((namespace) => metadata.name.endsWith(`.${namespace}`)),
    // Controllers recreate these until their last part is gone, and they do no harm.
    time: short,
  },
]

export function cleanUpLooks(state: CleanUpState): readonly Look[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', labels: ofTrial(state) },
    ...(groups[state.group]?.looks(state) ?? []),
  ]
}

export function nextCleanUp(
  before: CleanUpState,
  seen: Seen,
  now: number,
  { deadlines, force = false }: CleanUpOptions,
): CleanUpProgress {
  const known = learn(before, seen)
  const group = groups[known.group]
  if (!group) return { state: known, actions: [], waitsFor: 'nothing', isDone: true }
  const isOverdue = now - known.started > deadlines.cleanUp + deadlines.namespace
  const looks = group.looks(known)
  const blind = looks.flatMap(
    (look): { readonly look: Look; readonly code: string; readonly says: string }[] => {
      const sighting = seen.sightings.get(lookKey(look))
      // The next round looks into newly found namespaces.
      if (sighting === undefined) return [{ look, code: 'unasked', says: 'it was not asked' }]
      return sighting.kind === 'failed' ? [{ look, code: sighting.code, says: sighting.says }] : []
    },
  )
  const isBlind = blind.some(({ code }) => code !== 'forbidden')
  if (isBlind && !isOverdue && now - known.since < deadlines.unreachable)
    return { state: known, actions: [], waitsFor: `a look at ${group.what}`, isDone: false }
  const there = looks
    .flatMap((look) => objectsOf(seen, look))
    .filter((object) => group.isOurs?.(object, known) ?? true)
  const unseen = blind.map(({ look, says }) => `${look.kind} objects could not be looked for: ${says}`)
  if (there.length === 0) return following(known, now, unseen, group.what)
  if (isOverdue || now - known.since >= group.time(deadlines)) {
    const stuck = there.filter(
      ({ metadata }) => (metadata.finalizers ?? []).length > 0 && metadata.deletionTimestamp !== undefined,
    )
    if (
      force &&
      group.goesByItself !== true &&
      stuck.length > 0 &&
      !isOverdue &&
      now - known.since < 2 * group.time(deadlines)
    )
      return {
        state: noted(known, now, `the finalizers of ${stuck.map(nameOf).join(', ')} are taken off by force`),
        actions: stuck.map((object) => ({
          kind: 'patch',
          at: lookAt(object),
          patch: { metadata: { finalizers: null } },
        })),
        waitsFor: group.what,
        isDone: false,
      }
    return following(known, now, [...unseen, ...there.map(leftover)], group.what)
  }
  return {
    state: known,
    actions: there
      .filter(({ metadata }) => group.goesByItself !== true && metadata.deletionTimestamp === undefined)
      .map((object) => ({
        kind: 'delete',
        at: lookAt(object),
        ...(object.metadata.uid !== undefined && { uid: object.metadata.uid }),
      })),
    waitsFor: `${group.what} to go: ${there.slice(0, 3).map(nameOf).join(', ')}`,
    isDone: false,
  }
}

/** Remembers what is readable only while the namespace exists. */
function learn(state: CleanUpState, seen: Seen): CleanUpState {
  const found = objectsOf(seen, { apiVersion: 'v1', kind: 'Namespace', labels: ofTrial(state) }).filter(
    ({ metadata }) => metadata.labels?.[trialLabel] === state.id && metadata.name.startsWith('catalog-bot-'),
  )
  if (found.length === 0) return state
  const names = found.map(({ metadata }) => metadata.name)
  return {
    ...state,
    namespaces: [...new Set([...state.namespaces, ...names])],
    crds: [
      ...new Set([
        ...state.crds,
        ...found.flatMap(({ metadata }) => namesIn(metadata.annotations?.[crdsAnnotation])),
      ]),
    ],
  }
}

/** OLM v0 records on each CRD the ClusterServiceVersions that brought it; OLM v1 and RukPak record the extension. */
function isBroughtByTrial({ metadata }: KubeObject, { id, namespaces }: CleanUpState): boolean {
  const alongside = Object.entries(metadata.annotations ?? {})
    .filter(([key]) => key.startsWith('operatorframework.io/installed-alongside-'))
    .map(([, value]) => value.split('/')[0] ?? '')
  const labels = metadata.labels ?? {}
  const owners = [labels['olm.operatorframework.io/owner-name'], labels['core.rukpak.io/owner-name']]
  if (owners.includes(clusterNameOf({ id }))) return true
  return alongside.length > 0 && alongside.every((namespace) => namespaces.includes(namespace))
}

function isNoCopy({ metadata }: KubeObject): boolean {
  return metadata.labels?.['olm.copiedFrom'] === undefined
}

function inNamespaces(apiVersion: string, kind: string) {
  return ({ namespaces }: CleanUpState): readonly Look[] =>
    namespaces.map((namespace) => ({ apiVersion, kind, namespace }))
}

function following(state: CleanUpState, now: number, left: readonly string[], what: string): CleanUpProgress {
  const group = state.group + 1
  const isDone = group >= groups.length
  const leftovers = [...new Set([...state.leftovers, ...left])]
  const next = { ...state, group, since: now, leftovers }
  return {
    state: left.length > 0 ? noted(next, now, `left: ${left.join('; ')}`) : next,
    actions: [],
    waitsFor: isDone ? 'nothing' : (groups[group]?.what ?? what),
    isDone,
  }
}

function noted(state: CleanUpState, now: number, says: string): CleanUpState {
  return state.events.at(-1)?.says === says
    ? state
    : { ...state, events: [...state.events, { at: now, says }] }
}

const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`

function leftover(object: KubeObject): string {
  const finalizers = object.metadata.finalizers ?? []
  return finalizers.length > 0
    ? `${nameOf(object)}, which waits for ${finalizers.join(', ')}`
    : nameOf(object)
}

/** Where to find trials that were killed. */
export const abandonedLooks: readonly Look[] = [
  { apiVersion: 'v1', kind: 'Namespace', labels: trialLabel },
  { apiVersion: olmV1, kind: 'ClusterExtension', labels: trialLabel },
  { apiVersion: olmV1, kind: 'ClusterCatalog', labels: trialLabel },
  { apiVersion: rbac, kind: 'ClusterRoleBinding', labels: trialLabel },
  ...rukPaks.map((apiVersion) => ({ apiVersion, kind: 'BundleDeployment', labels: trialLabel })),
]

/** Trials that have expired according to their objects. Objects without an expiry are left alone. */
export function abandonedTrials(seen: Seen, now: number): readonly string[] {
  const times = new Map<string, number>()
  for (const { metadata } of abandonedLooks.flatMap((look) => objectsOf(seen, look))) {
    const id = metadata.labels?.[trialLabel] ?? ''
    const expires = metadata.labels?.[expiresLabel] ?? ''
    if (!/^[a-z0-9]{8}$/.test(id) || !/^\d{1,12}$/.test(expires)) continue
    times.set(id, Math.max(times.get(id) ?? 0, Number(expires)))
  }
  return [...times].filter(([, expires]) => expires * 1000 < now).map(([id]) => id)
}
