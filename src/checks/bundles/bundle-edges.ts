// Follows upgrade edges of bundle directories into other directories or catalogs.
import type { BundleUpgradeFacts } from '@catalog-bot/bundle/bundle-upgrade-facts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { PackageSources } from './package-sources.ts'
import { releaseConfigSchema } from './package-settings.ts'
import { parsePackageSettings } from './settings-file.ts'

/** The touched bundles, without removed ones. */
export function listTouchedBundlesWithFacts({ touched, bundles }: PackageSources) {
  return touched.flatMap((bundle) => {
    const facts = bundle.kind === 'removed' ? undefined : bundles?.get(bundle.version)
    return facts ? [{ bundle, facts }] : []
  })
}

export const indexDirectoriesByBundleName = memoizePerObject(
  ({
    bundles = new Map<string, BundleUpgradeFacts>(),
  }: PackageSources): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, string[]>()
    for (const [version, { name }] of bundles)
      if (name) found.set(name.text, [...(found.get(name.text) ?? []), version])
    return found
  },
)

/** Names to look up in catalogs: removed bundles, and upgrade targets that are in no directory. */
export function listBundleNamesToLookUp(sources: PackageSources): ReadonlySet<string> {
  if (sources.bundles === undefined) return new Set()
  const known = indexDirectoriesByBundleName(sources)
  const edges = listTouchedBundlesWithFacts(sources).flatMap(({ facts: { replaces, skips } }) =>
    [...(replaces ? [replaces] : []), ...skips].map(({ text }) => text),
  )
  const released = sources.releaseConfigs.flatMap((file) =>
    (parsePackageSettings(file, releaseConfigSchema).value?.catalog_templates ?? []).flatMap(
      ({ replaces, skips = [] }) => [...(replaces === undefined ? [] : [replaces]), ...skips],
    ),
  )
  const removed = sources.touched.flatMap(({ removed: removedBundle }) =>
    removedBundle?.name ? [removedBundle.name.text] : [],
  )
  return new Set([...[...edges, ...released].filter((name) => !known.has(name)), ...removed])
}

export function isBundleInSourcesOrCatalogs(name: string, sources: PackageSources): boolean {
  return indexDirectoriesByBundleName(sources).has(name) || sources.catalogs.has(name)
}

/** The cycle of `replaces` through this bundle, starting and ending with it. Undefined without a cycle. */
export function findReplacesCycle(name: string, sources: PackageSources): readonly string[] | undefined {
  const byName = indexDirectoriesByBundleName(sources)
  const path = [name]
  const seen = new Set(path)
  for (;;) {
    const [version] = byName.get(path.at(-1) ?? '') ?? []
    const next = version === undefined ? undefined : sources.bundles?.get(version)?.replaces?.text
    if (next === undefined) return undefined
    path.push(next)
    if (next === name) return path.length > 2 ? path : undefined
    // This cycle does not include the bundle.
    if (seen.has(next)) return undefined
    seen.add(next)
  }
}
