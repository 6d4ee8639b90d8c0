// The CRDs of one bundle after those of another: what OLM v1 refuses to upgrade (its preflight crdupgradesafety), and
// what is lost without a word.
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { BundleFiles } from '../bundle-files.ts'
import { bundlePlaces } from '../bundle-places.ts'
import { at, listOf, textOf, type JsonObject } from '../fields.ts'
import { viewCsv } from '../plain/csv-view.ts'
import { loadRegistryV1, type RegistryV1 } from '../plain/registry-v1.ts'
import type { PlainObject } from '../plain/rendering.ts'
import { unsafeCrdUpgrade } from '../rules/unsafe-crd-upgrade.ts'
import { compareCrds } from './compare-crds.ts'

/**
 * What an upgrade from one bundle to the other would break; places are in `after`. A bundle that OLM v1 cannot read has
 * nothing to compare: `renderPlain` tells why.
 */
export function checkCrdUpgrade(before: BundleFiles, after: BundleFiles): readonly Finding[] {
  const [old, now] = [crdsOf(before), crdsOf(after)]
  return old && now ? compareCrdsOfBundles(old, now, bundlePlaces(after)) : []
}

/** A CRD of a bundle, as far as upgrades look at it. */
export type BundledCrd = Pick<PlainObject, 'name' | 'file' | 'manifest'>

/** Undefined for what OLM v1 cannot read. */
export function crdsOf(files: BundleFiles): readonly BundledCrd[] | undefined {
  const { bundle } = loadRegistryV1(files)
  return bundle && definitionsOf(bundle)
}

/** The same as `checkCrdUpgrade` of CRDs that were read before. Without `placeOf` nothing has a place. */
export function compareCrdsOfBundles(
  old: readonly BundledCrd[],
  now: readonly BundledCrd[],
  placeOf?: ReturnType<typeof bundlePlaces>,
): readonly Finding[] {
  const next = new Map(now.map((crd) => [crd.name, crd]))
  return old
    .flatMap((crd): readonly Finding[] => {
      const successor = next.get(crd.name)
      if (!successor)
        return [
          finding(unsafeCrdUpgrade, undefined, {
            crd: crd.name,
            problem: 'it is no longer in the bundle, and OLM v1 deletes it with all of its objects',
            isSilent: true,
          }),
        ]
      return [
        ...compareCrds(crd.manifest, successor.manifest, storedIn(crd.manifest)).map(({ message, path }) => ({
          problem: message,
          path,
        })),
        ...unservedVersions(crd.manifest, successor.manifest),
      ].map(({ path, ...what }) =>
        finding(unsafeCrdUpgrade, placeOf?.(successor.file, path), { crd: crd.name, ...what }),
      )
    })
    .sort(compareFindings)
}

/** With the conversion that the ClusterServiceVersion gives them. */
function definitionsOf(bundle: RegistryV1): readonly PlainObject[] {
  const converted = new Set(
    viewCsv(bundle.csv).webhooks.flatMap(({ type, conversionCrds }) =>
      type === 'ConversionWebhook' ? conversionCrds : [],
    ),
  )
  return bundle.crds.map((crd) => {
    if (!converted.has(crd.name)) return crd
    const spec = crd.manifest['spec'] as JsonObject
    return { ...crd, manifest: { ...crd.manifest, spec: { ...spec, conversion: { strategy: 'Webhook' } } } }
  })
}

/** Where the old bundle was installed, objects lie in the version that it stores. */
function storedIn(crd: JsonObject): readonly string[] {
  return listOf(at(crd, 'spec', 'versions'))
    .filter((version) => at(version, 'storage') === true)
    .map((version) => textOf(at(version, 'name')))
}

/** OLM v1 lets these pass: nothing of theirs is stored, but clients still ask for them. */
function* unservedVersions(
  before: JsonObject,
  after: JsonObject,
): Generator<{ readonly problem: string; readonly path: readonly string[]; readonly isSilent: true }> {
  const served = (crd: JsonObject) =>
    listOf(at(crd, 'spec', 'versions'))
      .filter((version) => at(version, 'served') === true)
      .map((version) => textOf(at(version, 'name')))
  const now = served(after)
  const [stored] = storedIn(before)
  for (const name of served(before))
    if (!now.includes(name) && name !== stored)
      yield { problem: `its version ${name} is no longer served`, path: ['spec', 'versions'], isSilent: true }
}
