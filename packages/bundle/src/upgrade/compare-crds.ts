// Compares two versions of a CustomResourceDefinition as OLM v1's preflight does (crdify).
import { getField, asList, asString, type JsonObject } from '../fields.ts'
import type { FieldPath } from '../bundle-locator.ts'
import { toCanonicalJson } from './canonical-json.ts'
import { compareProperties } from './compare-properties.ts'
import { flattenSchema, getVersionSchema, type FlatSchema } from './flat-schema.ts'

export interface CrdUpgradeProblem {
  readonly message: string
  readonly path: FieldPath
}

/** Why OLM v1 rejects the upgrade. `stored` lists the versions in which objects are stored. */
export function compareCrds(
  before: JsonObject,
  after: JsonObject,
  stored: readonly string[],
): readonly CrdUpgradeProblem[] {
  const old = parseCrdVersions(before)
  const now = parseCrdVersions(after)
  return [
    ...compareCrdStructure(before, after, old, now, stored),
    ...[...old].flatMap(([name, { schema }]) => {
      const next = now.get(name)
      return next ? compareSchemas(schema, next.schema).map((one) => toCrdProblem(name, one, next.index)) : []
    }),
    ...compareServedVersions(before, after),
  ]
}

interface CrdVersion {
  readonly index: number
  readonly isServed: boolean
  readonly schema: FlatSchema
}

/** Only the first version with a given name counts. */
function parseCrdVersions(crd: JsonObject): ReadonlyMap<string, CrdVersion> {
  const versions = new Map<string, CrdVersion>()
  for (const [index, version] of asList(getField(crd, 'spec', 'versions')).entries()) {
    const name = asString(getField(version, 'name'))
    if (!versions.has(name))
      versions.set(name, {
        index,
        isServed: getField(version, 'served') === true,
        schema: flattenSchema(getVersionSchema(version)),
      })
  }
  return versions
}

function* compareCrdStructure(
  before: JsonObject,
  after: JsonObject,
  old: ReadonlyMap<string, CrdVersion>,
  now: ReadonlyMap<string, CrdVersion>,
  stored: readonly string[],
): Generator<CrdUpgradeProblem> {
  for (const [name, { schema, index }] of now)
    for (const location of old.get(name)?.schema.keys() ?? [])
      if (!schema.has(location))
        yield {
          message: `existingFieldRemoval: removed field : ${name}.${location}`,
          path: ['spec', 'versions', index, 'schema', 'openAPIV3Schema'],
        }
  const [scope, newScope] = [
    asString(getField(before, 'spec', 'scope')),
    asString(getField(after, 'spec', 'scope')),
  ]
  if (scope !== newScope)
    yield {
      message: `scope: scope changed : ${JSON.stringify(scope)} -> ${JSON.stringify(newScope)}`,
      path: ['spec', 'scope'],
    }
  const removed = stored.filter((name) => !now.has(name))
  if (removed.length > 0)
    yield {
      message: `storedVersionRemoval: stored versions removed : [${removed.join(' ')}]`,
      path: ['spec', 'versions'],
    }
}

interface LocatedPropertyProblem {
  readonly location: string
  readonly name: string
  readonly message: string
  readonly detail?: string
  readonly path: FieldPath
}

function compareSchemas(before: FlatSchema, after: FlatSchema): readonly LocatedPropertyProblem[] {
  return [...before].flatMap(([location, { schema }]) => {
    const next = after.get(location)
    if (next && toCanonicalJson(schema) === toCanonicalJson(next.schema)) return []
    return compareProperties(schema, next?.schema ?? {}).map((problem) => ({
      ...{ location, ...problem },
      path: next?.path ?? [],
    }))
  })
}

function toCrdProblem(
  version: string,
  { location, name, message, path }: LocatedPropertyProblem,
  index: number,
): CrdUpgradeProblem {
  return {
    message: `${version}: ${location}: ${name}: ${message}`,
    path: ['spec', 'versions', index, 'schema', 'openAPIV3Schema', ...path],
  }
}

/** Served versions share the same objects, unless a webhook converts them. */
function* compareServedVersions(before: JsonObject, after: JsonObject): Generator<CrdUpgradeProblem> {
  if (getField(after, 'spec', 'conversion', 'strategy') === 'Webhook') return
  const known = new Set([...compareServedVersionPairs(before)].map(({ key }) => key))
  for (const { key, ...problem } of compareServedVersionPairs(after)) if (!known.has(key)) yield problem
}

function* compareServedVersionPairs(
  crd: JsonObject,
): Generator<CrdUpgradeProblem & { readonly key: string }> {
  const served = [...parseCrdVersions(crd)]
    .filter(([, { isServed }]) => isServed)
    .sort(([a], [b]) => compareKubeApiVersions(a, b))
  for (const [at, [older, { schema }]] of served.entries())
    for (const [newer, { schema: next, index }] of served.slice(at + 1))
      for (const one of compareSchemas(schema, next)) {
        const problem = toCrdProblem(`${older} -> ${newer}`, one, index)
        yield { ...problem, key: `${problem.message} ${one.detail ?? ''}` }
      }
}

/** Kubernetes' version order: v1 above v1beta1 above v1alpha1, then other names in reverse order. */
export function compareKubeApiVersions(a: string, b: string): number {
  const [first, second] = [parseKubeApiVersion(a), parseKubeApiVersion(b)]
  if (!first && !second) return a < b ? 1 : a > b ? -1 : 0
  if (!first || !second) return first ? 1 : -1
  for (const [index, value] of first.entries())
    if (value !== second[index]) return value - (second[index] ?? 0)
  return 0
}

function parseKubeApiVersion(name: string): readonly number[] | undefined {
  const { major, stage, minor } =
    /^v(?<major>\d+)(?:(?<stage>alpha|beta)(?<minor>\d+))?$/.exec(name)?.groups ?? {}
  if (major === undefined) return undefined
  return [['alpha', 'beta', undefined].indexOf(stage), Number(major), Number(minor ?? 0)]
}
