// Compares the CRDs of two bundles: what OLM v1 refuses (its preflight crdupgradesafety), and what is lost silently.
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

/** Places are in `after`. Finds nothing in a bundle that OLM v1 can't read; `renderPlain` reports why. */
export function checkCrdUpgrade(before: BundleFiles, after: BundleFiles): readonly Finding[] {
  const [old, now] = [crdsOf(before), crdsOf(after)]
  return old && now ? compareCrdsOfBundles(old, now, bundlePlaces(after)) : []
}

export type BundledCrd = Pick<PlainObject, 'name' | 'file' | 'manifest'>

/** Undefined if OLM v1 can't read the bundle. */
export function crdsOf(files: BundleFiles): readonly BundledCrd[] | undefined {
  const { bundle } = loadRegistryV1(files)
  return bundle && definitionsOf(bundle)
}

/** `checkCrdUpgrade` for CRDs that are already read. Without `placeOf`, findings have no place. */
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

/** Includes the conversion that the ClusterServiceVersion defines. */
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

/** Installing the old bundle stores objects in its storage version. */
function storedIn(crd: JsonObject): readonly string[] {
  return listOf(at(crd, 'spec', 'versions'))
    .filter((version) => at(version, 'storage') === true)
    .map((version) => textOf(at(version, 'name')))
}

/** OLM v1 accepts these because no objects are stored in them, but clients may still use them. */
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
