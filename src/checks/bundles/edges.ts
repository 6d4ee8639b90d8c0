// Where the upgrade edges of bundle directories lead: among the directories of the package, or into its catalogs.
import type { BundleFacts } from '../../bundle/bundle-facts.ts'
import { oncePer } from '../../findings/once.ts'
import type { PackageSources } from './package-sources.ts'
import { releaseConfigSchema } from './package-settings.ts'
import { readSettings } from './settings-file.ts'

/** Facts of the touched bundles that the result has. */
export function presentBundles({ touched, bundles }: PackageSources) {
  return touched.flatMap((bundle) => {
    const facts = bundle.kind === 'removed' ? undefined : bundles?.get(bundle.version)
    return facts ? [{ bundle, facts }] : []
  })
}

/** Names of the bundles in the package's directories, and the directories that have each. */
export const directoriesByName = oncePer(
  ({ bundles = new Map<string, BundleFacts>() }: PackageSources): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, string[]>()
    for (const [version, { name }] of bundles)
      if (name) found.set(name.text, [...(found.get(name.text) ?? []), version])
    return found
  },
)

/**
 * Names that catalogs must be asked for: what touched bundles and their release configuration lead to and no directory
 * has, and what is removed.
 */
export function edgesToNowhere(sources: PackageSources): ReadonlySet<string> {
  if (sources.bundles === undefined) return new Set()
  const known = directoriesByName(sources)
  const edges = presentBundles(sources).flatMap(({ facts: { replaces, skips } }) =>
    [...(replaces ? [replaces] : []), ...skips].map(({ text }) => text),
  )
  const released = sources.releaseConfigs.flatMap((file) =>
    (readSettings(file, releaseConfigSchema).value?.catalog_templates ?? []).flatMap(
      ({ replaces, skips = [] }) => [...(replaces === undefined ? [] : [replaces]), ...skips],
    ),
  )
  const removed = sources.touched.flatMap(({ removed: gone }) => (gone?.name ? [gone.name.text] : []))
  return new Set([...[...edges, ...released].filter((name) => !known.has(name)), ...removed])
}

/** Whether a directory or a catalog of the package has a bundle of this name. */
export function exists(name: string, sources: PackageSources): boolean {
  return directoriesByName(sources).has(name) || sources.catalogs.has(name)
}

/** The circle of `replaces` that a bundle lies on, from it and back to it; undefined where there is none. */
export function loopFrom(name: string, sources: PackageSources): readonly string[] | undefined {
  const byName = directoriesByName(sources)
  const path = [name]
  const seen = new Set(path)
  for (;;) {
    const [version] = byName.get(path.at(-1) ?? '') ?? []
    const next = version === undefined ? undefined : sources.bundles?.get(version)?.replaces?.text
    if (next === undefined) return undefined
    path.push(next)
    if (next === name) return path.length > 2 ? path : undefined
    // A circle further on is not this bundle's.
    if (seen.has(next)) return undefined
    seen.add(next)
  }
}
