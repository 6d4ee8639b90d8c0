// Finds changes of CRDs that OLM v1 rejects (preflight check crdupgradesafety), and silent losses.
import { toSortedJson } from '@catalog-bot/fbc/go/json/json'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { BundleFiles } from '../bundle-files.ts'
import { createBundleFieldLocator, type FieldPath } from '../manifest-document.ts'
import { getJsonFieldAtPath, type JsonObject, getListAtPath, getStringAtPath } from '../fields.ts'
import { parseCsvFieldsForRendering } from '../plain/csv-view.ts'
import { parseRegistryV1Bundle, type RegistryV1Bundle } from '../plain/registry-v1.ts'
import type { RenderedObject } from '../plain/rendering.ts'
import { unsafeCrdUpgradeRule } from '../rules/reported-rules.ts'
import {
  compareSchemaProperties,
  flattenSchema,
  getCrdVersionSchema,
  type FlatSchema,
} from './compare-properties.ts'

interface CrdUpgradeProblem {
  readonly message: string
  readonly path: FieldPath
}

interface CrdVersion {
  readonly index: number
  readonly isServed: boolean
  readonly schema: FlatSchema
}

interface SchemaPropertyProblemWithPath {
  readonly location: string
  readonly name: string
  readonly message: string
  readonly detail?: string
  readonly path: FieldPath
}

/** Locations are in `after`. Skips bundles that OLM v1 can't read; `renderPlainManifests` reports the reason. */
export function checkCrdUpgrade(before: BundleFiles, after: BundleFiles): readonly Finding[] {
  const [old, now] = [readBundledCrds(before), readBundledCrds(after)]
  return old && now ? compareBundledCrds(old, now, createBundleFieldLocator(after)) : []
}

export type BundledCrd = Pick<RenderedObject, 'name' | 'file' | 'manifest'>

/** Undefined if OLM v1 can't read the bundle. */
export function readBundledCrds(files: BundleFiles): readonly BundledCrd[] | undefined {
  const { bundle } = parseRegistryV1Bundle(files)
  return bundle && applyCsvConversionsToCrds(bundle)
}

/** Like `checkCrdUpgrade`, for CRDs that are already parsed. Without `locate`, findings have no location. */
export function compareBundledCrds(
  old: readonly BundledCrd[],
  now: readonly BundledCrd[],
  locate?: ReturnType<typeof createBundleFieldLocator>,
): readonly Finding[] {
  const next = new Map(now.map((crd) => [crd.name, crd]))
  return old
    .flatMap((crd): readonly Finding[] => {
      const successor = next.get(crd.name)
      if (!successor)
        return [
          createFinding(unsafeCrdUpgradeRule, undefined, {
            crd: crd.name,
            problem: 'the CRD is no longer in the bundle, so OLM v1 deletes the CRD and all of its objects',
            isSilent: true,
          }),
        ]
      return [
        ...compareCrds(crd.manifest, successor.manifest, listVersionsWith('storage', crd.manifest)).map(
          ({ message, path }) => ({ problem: message, path }),
        ),
        ...findVersionsNoLongerServed(crd.manifest, successor.manifest),
      ].map(({ path, ...details }) =>
        createFinding(unsafeCrdUpgradeRule, locate?.(successor.file, path), { crd: crd.name, ...details }),
      )
    })
    .sort(compareFindings)
}

/** Includes the conversion that the ClusterServiceVersion defines. */
function applyCsvConversionsToCrds(bundle: RegistryV1Bundle): readonly RenderedObject[] {
  const converted = new Set(
    parseCsvFieldsForRendering(bundle.csv).webhooks.flatMap(({ type, conversionCrds }) =>
      type === 'ConversionWebhook' ? conversionCrds : [],
    ),
  )
  return bundle.crds.map((crd) => {
    if (!converted.has(crd.name)) return crd
    const spec = crd.manifest['spec'] as JsonObject
    return { ...crd, manifest: { ...crd.manifest, spec: { ...spec, conversion: { strategy: 'Webhook' } } } }
  })
}

/** Installing the old bundle stores objects in its storage version. */
function listVersionsWith(flag: 'served' | 'storage', crd: JsonObject): readonly string[] {
  return getListAtPath(crd, 'spec', 'versions')
    .filter((version) => getJsonFieldAtPath(version, flag) === true)
    .map((version) => getStringAtPath(version, 'name'))
}

/** OLM v1 accepts these because they store no objects, but clients might still use them. */
function* findVersionsNoLongerServed(
  before: JsonObject,
  after: JsonObject,
): Generator<{ readonly problem: string; readonly path: readonly string[]; readonly isSilent: true }> {
  const now = listVersionsWith('served', after)
  const [stored] = listVersionsWith('storage', before)
  for (const name of listVersionsWith('served', before))
    if (!now.includes(name) && name !== stored)
      yield { problem: `version ${name} is no longer served`, path: ['spec', 'versions'], isSilent: true }
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
      return next
        ? compareSchemas(schema, next.schema).map((one) => toCrdUpgradeProblem(name, one, next.index))
        : []
    }),
    ...findAddedProblemsInServedVersions(before, after),
  ]
}

/** Only the first version with a given name counts. */
function parseCrdVersions(crd: JsonObject): ReadonlyMap<string, CrdVersion> {
  const versions = new Map<string, CrdVersion>()
  for (const [index, version] of getListAtPath(crd, 'spec', 'versions').entries()) {
    const name = getStringAtPath(version, 'name')
    if (!versions.has(name))
      versions.set(name, {
        index,
        isServed: getJsonFieldAtPath(version, 'served') === true,
        schema: flattenSchema(getCrdVersionSchema(version)),
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
    getStringAtPath(before, 'spec', 'scope'),
    getStringAtPath(after, 'spec', 'scope'),
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

function compareSchemas(before: FlatSchema, after: FlatSchema): readonly SchemaPropertyProblemWithPath[] {
  return [...before].flatMap(([location, { schema }]) => {
    const next = after.get(location)
    if (next && toSortedJson(schema) === toSortedJson(next.schema)) return []
    return compareSchemaProperties(schema, next?.schema ?? {}).map((problem) => ({
      ...{ location, ...problem },
      path: next?.path ?? [],
    }))
  })
}

function toCrdUpgradeProblem(
  version: string,
  { location, name, message, path }: SchemaPropertyProblemWithPath,
  index: number,
): CrdUpgradeProblem {
  return {
    message: `${version}: ${location}: ${name}: ${message}`,
    path: ['spec', 'versions', index, 'schema', 'openAPIV3Schema', ...path],
  }
}

/** Served versions share the same objects, unless a webhook converts them. */
function* findAddedProblemsInServedVersions(
  before: JsonObject,
  after: JsonObject,
): Generator<CrdUpgradeProblem> {
  if (getJsonFieldAtPath(after, 'spec', 'conversion', 'strategy') === 'Webhook') return
  const known = new Set([...findProblemsBetweenServedVersions(before)].map(({ key }) => key))
  for (const { key, ...problem } of findProblemsBetweenServedVersions(after))
    if (!known.has(key)) yield problem
}

function* findProblemsBetweenServedVersions(
  crd: JsonObject,
): Generator<CrdUpgradeProblem & { readonly key: string }> {
  const served = [...parseCrdVersions(crd)]
    .filter(([, { isServed }]) => isServed)
    .sort(([a], [b]) => compareKubeApiVersions(a, b))
  for (const [at, [older, { schema }]] of served.entries())
    for (const [newer, { schema: next, index }] of served.slice(at + 1))
      for (const one of compareSchemas(schema, next)) {
        const problem = toCrdUpgradeProblem(`${older} -> ${newer}`, one, index)
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
