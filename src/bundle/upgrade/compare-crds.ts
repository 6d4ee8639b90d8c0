// Compares two versions of a CustomResourceDefinition as OLM v1's preflight does (crdify).
import { at, listOf, textOf, type JsonObject } from '../fields.ts'
import type { Path } from '../bundle-places.ts'
import { canonicalJson } from './canonical-json.ts'
import { compareProperties } from './compare-properties.ts'
import { flattened, schemaOf, type FlatSchema } from './flat-schema.ts'

export interface CrdProblem {
  readonly message: string
  readonly path: Path
}

/** Why OLM v1 refuses the upgrade. `stored`: versions in which objects are stored. */
export function compareCrds(
  before: JsonObject,
  after: JsonObject,
  stored: readonly string[],
): readonly CrdProblem[] {
  const old = versionsOf(before)
  const now = versionsOf(after)
  return [
    ...compareWhole(before, after, old, now, stored),
    ...[...old].flatMap(([name, { schema }]) => {
      const next = now.get(name)
      return next ? compareVersions(schema, next.schema).map((one) => problemOf(name, one, next.index)) : []
    }),
    ...compareServed(before, after),
  ]
}

interface Version {
  readonly index: number
  readonly isServed: boolean
  readonly schema: FlatSchema
}

/** The first of each name counts. */
function versionsOf(crd: JsonObject): ReadonlyMap<string, Version> {
  const versions = new Map<string, Version>()
  for (const [index, version] of listOf(at(crd, 'spec', 'versions')).entries()) {
    const name = textOf(at(version, 'name'))
    if (!versions.has(name))
      versions.set(name, {
        index,
        isServed: at(version, 'served') === true,
        schema: flattened(schemaOf(version)),
      })
  }
  return versions
}

function* compareWhole(
  before: JsonObject,
  after: JsonObject,
  old: ReadonlyMap<string, Version>,
  now: ReadonlyMap<string, Version>,
  stored: readonly string[],
): Generator<CrdProblem> {
  for (const [name, { schema, index }] of now)
    for (const location of old.get(name)?.schema.keys() ?? [])
      if (!schema.has(location))
        yield {
          message: `existingFieldRemoval: removed field : ${name}.${location}`,
          path: ['spec', 'versions', index, 'schema', 'openAPIV3Schema'],
        }
  const [scope, newScope] = [textOf(at(before, 'spec', 'scope')), textOf(at(after, 'spec', 'scope'))]
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

interface Comparison {
  readonly location: string
  readonly name: string
  readonly message: string
  readonly detail?: string
  readonly path: Path
}

function compareVersions(before: FlatSchema, after: FlatSchema): readonly Comparison[] {
  return [...before].flatMap(([location, { schema }]) => {
    const next = after.get(location)
    if (next && canonicalJson(schema) === canonicalJson(next.schema)) return []
    return compareProperties(schema, next?.schema ?? {}).map((problem) => ({
      ...{ location, ...problem },
      path: next?.path ?? [],
    }))
  })
}

function problemOf(
  version: string,
  { location, name, message, path }: Comparison,
  index: number,
): CrdProblem {
  return {
    message: `${version}: ${location}: ${name}: ${message}`,
    path: ['spec', 'versions', index, 'schema', 'openAPIV3Schema', ...path],
  }
}

/** Served versions hold the same objects, unless a webhook converts them. */
function* compareServed(before: JsonObject, after: JsonObject): Generator<CrdProblem> {
  if (at(after, 'spec', 'conversion', 'strategy') === 'Webhook') return
  const known = new Set([...servedPairs(before)].map(({ key }) => key))
  for (const { key, ...problem } of servedPairs(after)) if (!known.has(key)) yield problem
}

function* servedPairs(crd: JsonObject): Generator<CrdProblem & { readonly key: string }> {
  const served = [...versionsOf(crd)]
    .filter(([, { isServed }]) => isServed)
    .sort(([a], [b]) => compareKubeVersions(a, b))
  for (const [at, [older, { schema }]] of served.entries())
    for (const [newer, { schema: next, index }] of served.slice(at + 1))
      for (const one of compareVersions(schema, next)) {
        const problem = problemOf(`${older} -> ${newer}`, one, index)
        yield { ...problem, key: `${problem.message} ${one.detail ?? ''}` }
      }
}

/** Kubernetes' version order: v1 above v1beta1 above v1alpha1, then other names in reverse order. */
export function compareKubeVersions(a: string, b: string): number {
  const [first, second] = [kubeVersion(a), kubeVersion(b)]
  if (!first && !second) return a < b ? 1 : a > b ? -1 : 0
  if (!first || !second) return first ? 1 : -1
  for (const [index, value] of first.entries())
    if (value !== second[index]) return value - (second[index] ?? 0)
  return 0
}

function kubeVersion(name: string): readonly number[] | undefined {
  const { major, stage, minor } =
    /^v(?<major>\d+)(?:(?<stage>alpha|beta)(?<minor>\d+))?$/.exec(name)?.groups ?? {}
  if (major === undefined) return undefined
  return [['alpha', 'beta', undefined].indexOf(stage), Number(major), Number(minor ?? 0)]
}
