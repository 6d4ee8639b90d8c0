// Kubernetes objects as plain data. Their contents are untrusted, so every reader accepts any JSON.
import type { Json } from '@catalog-bot/fbc/go/json/json'

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly spec?: Json
  readonly status?: Json
  readonly [field: string]: unknown
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** A query for one object, or without a name for all objects of a kind. */
export interface KubeQuery {
  readonly apiVersion: string
  readonly kind: string
  /** Absent for the whole cluster and for cluster-scoped kinds. */
  readonly namespace?: string
  readonly name?: string
  readonly labels?: string
}

export type KubeQueryResult =
  | { readonly kind: 'found'; readonly objects: readonly KubeObject[] }
  | { readonly kind: 'no-api' }
  | { readonly kind: 'failed'; readonly code: KubeQueryFailure; readonly says: string }

/** `unreachable`: the API might respond later. */
export type KubeQueryFailure = 'forbidden' | 'unreachable'

export interface ClusterObservation {
  readonly queryResults: ReadonlyMap<string, KubeQueryResult>
  /** Rejected actions of the last round. */
  readonly rejectedActions: readonly RejectedClusterAction[]
}

export type ClusterAction =
  /** `dryRun`: the API only checks whether it would accept the request. */
  | { readonly kind: 'create'; readonly object: KubeObject; readonly dryRun?: true }
  | {
      readonly kind: 'patch'
      readonly at: Required<Pick<KubeQuery, 'apiVersion' | 'kind' | 'name'>> & KubeQuery
      readonly patch: Json
      readonly dryRun?: true
    }
  /** `uid` protects another object with the same name. */
  | {
      readonly kind: 'delete'
      readonly at: Required<Pick<KubeQuery, 'apiVersion' | 'kind' | 'name'>> & KubeQuery
      readonly uid?: string
    }

export interface RejectedClusterAction {
  readonly action: ClusterAction
  readonly status: number
  /** The Kubernetes reason, such as `AlreadyExists` or `Forbidden`. */
  readonly reason: string
  readonly says: string
}

export function toKubeQueryKey({ apiVersion, kind, namespace = '', name = '', labels = '' }: KubeQuery) {
  return [apiVersion, kind, namespace, name, labels].join(' ')
}

/** Empty if the API does not exist or the query was not made. */
export function getObservedKubeObjects(
  observation: ClusterObservation,
  query: KubeQuery,
): readonly KubeObject[] {
  const sighting = observation.queryResults.get(toKubeQueryKey(query))
  return sighting?.kind === 'found' ? sighting.objects : []
}

/** The queries that failed, and those that were not made: an earlier observation can add queries to the next one. */
export function findFailedKubeQueries(queries: readonly KubeQuery[], { queryResults }: ClusterObservation) {
  return queries.flatMap((query): { query: KubeQuery; code: KubeQueryFailure; says: string }[] => {
    const result = queryResults.get(toKubeQueryKey(query))
    if (result === undefined) return [{ query, code: 'unreachable', says: 'the API was not queried' }]
    return result.kind === 'failed' ? [{ query, code: result.code, says: result.says }] : []
  })
}

export function toKubeObjectQuery({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: KubeObject): KubeQuery & { readonly name: string } {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name }
}

export function createCrdQuery(name: string): KubeQuery & { readonly name: string } {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }
}

/** Reads a path in plain data; undefined if the path does not exist. */
export function getValueAtPath(value: unknown, ...path: readonly string[]): unknown {
  let here = value
  for (const key of path) {
    if (typeof here !== 'object' || here === null || Array.isArray(here) || !Object.hasOwn(here, key))
      return undefined
    here = (here as Readonly<Record<string, unknown>>)[key]
  }
  return here
}

export function getStringAtPath(value: unknown, ...path: readonly string[]): string {
  const found = getValueAtPath(value, ...path)
  return typeof found === 'string' ? found : ''
}

export function getNumberAtPath(value: unknown, ...path: readonly string[]): number {
  const found = getValueAtPath(value, ...path)
  return typeof found === 'number' ? found : 0
}

export function getListAtPath(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = getValueAtPath(value, ...path)
  return Array.isArray(found) ? (found as readonly unknown[]) : []
}

export interface KubeCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  /** Milliseconds since the epoch; 0 if unknown. */
  readonly since: number
  readonly generation: number | undefined
}

export function getKubeConditions(object: KubeObject | undefined): readonly KubeCondition[] {
  return getListAtPath(object?.status, 'conditions').map((one) => {
    const generation = getValueAtPath(one, 'observedGeneration')
    return {
      type: getStringAtPath(one, 'type'),
      status: getStringAtPath(one, 'status'),
      reason: getStringAtPath(one, 'reason'),
      message: getStringAtPath(one, 'message'),
      since: parseKubeTimestamp(getStringAtPath(one, 'lastTransitionTime')) ?? 0,
      generation: typeof generation === 'number' ? generation : undefined,
    }
  })
}

export function getKubeCondition(object: KubeObject | undefined, type: string): KubeCondition | undefined {
  return getKubeConditions(object).find((one) => one.type === type)
}

/** Ignores a condition of an older generation. */
export function getConditionOfCurrentGeneration(object: KubeObject | undefined, type: string) {
  const condition = getKubeCondition(object, type)
  const generation = object?.metadata.generation
  if (condition?.generation === undefined || generation === undefined) return condition
  return condition.generation >= generation ? condition : undefined
}

/** Milliseconds since the epoch of a time such as `2026-01-02T03:04:05Z`; undefined for other text. */
export function parseKubeTimestamp(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(text)
  // Does not read a clock.
  // oxlint-disable-next-line no-restricted-globals
  return match ? Date.parse(`${match[1]}Z`) : undefined
}
