// Compares the CRDs of two bundles. Finds changes that OLM v1 rejects (preflight check crdupgradesafety) and silent
// losses.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { BundleFiles } from '../bundle-files.ts'
import { createBundleLocator } from '../bundle-locator.ts'
import { getField, asList, asString, type JsonObject } from '../fields.ts'
import { parseCsvRenderFields } from '../plain/csv-view.ts'
import { parseRegistryV1, type RegistryV1Bundle } from '../plain/registry-v1.ts'
import type { RenderedObject } from '../plain/rendering.ts'
import { unsafeCrdUpgrade } from '../rules/reported-rules.ts'
import { compareCrds } from './compare-crds.ts'

/** Locations are in `after`. Skips bundles that OLM v1 can't read; `renderPlainManifests` reports the reason. */
export function checkCrdUpgrade(before: BundleFiles, after: BundleFiles): readonly Finding[] {
  const [old, now] = [readBundledCrds(before), readBundledCrds(after)]
  return old && now ? compareBundledCrds(old, now, createBundleLocator(after)) : []
}

export type BundledCrd = Pick<RenderedObject, 'name' | 'file' | 'manifest'>

/** Undefined if OLM v1 can't read the bundle. */
export function readBundledCrds(files: BundleFiles): readonly BundledCrd[] | undefined {
  const { bundle } = parseRegistryV1(files)
  return bundle && getCrdsWithConversions(bundle)
}

/** Like `checkCrdUpgrade`, for CRDs that are already parsed. Without `locate`, findings have no location. */
export function compareBundledCrds(
  old: readonly BundledCrd[],
  now: readonly BundledCrd[],
  locate?: ReturnType<typeof createBundleLocator>,
): readonly Finding[] {
  const next = new Map(now.map((crd) => [crd.name, crd]))
  return old
    .flatMap((crd): readonly Finding[] => {
      const successor = next.get(crd.name)
      if (!successor)
        return [
          createFinding(unsafeCrdUpgrade, undefined, {
            crd: crd.name,
            problem: 'it is no longer in the bundle, so OLM v1 deletes it and all of its objects',
            isSilent: true,
          }),
        ]
      return [
        ...compareCrds(crd.manifest, successor.manifest, getStorageVersions(crd.manifest)).map(
          ({ message, path }) => ({
            problem: message,
            path,
          }),
        ),
        ...findUnservedVersions(crd.manifest, successor.manifest),
      ].map(({ path, ...details }) =>
        createFinding(unsafeCrdUpgrade, locate?.(successor.file, path), { crd: crd.name, ...details }),
      )
    })
    .sort(compareFindings)
}

/** Includes the conversion that the ClusterServiceVersion defines. */
function getCrdsWithConversions(bundle: RegistryV1Bundle): readonly RenderedObject[] {
  const converted = new Set(
    parseCsvRenderFields(bundle.csv).webhooks.flatMap(({ type, conversionCrds }) =>
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
function getStorageVersions(crd: JsonObject): readonly string[] {
  return asList(getField(crd, 'spec', 'versions'))
    .filter((version) => getField(version, 'storage') === true)
    .map((version) => asString(getField(version, 'name')))
}

/** OLM v1 accepts these because they store no objects, but clients might still use them. */
function* findUnservedVersions(
  before: JsonObject,
  after: JsonObject,
): Generator<{ readonly problem: string; readonly path: readonly string[]; readonly isSilent: true }> {
  const getServedVersions = (crd: JsonObject) =>
    asList(getField(crd, 'spec', 'versions'))
      .filter((version) => getField(version, 'served') === true)
      .map((version) => asString(getField(version, 'name')))
  const now = getServedVersions(after)
  const [stored] = getStorageVersions(before)
  for (const name of getServedVersions(before))
    if (!now.includes(name) && name !== stored)
      yield { problem: `its version ${name} is no longer served`, path: ['spec', 'versions'], isSilent: true }
}
