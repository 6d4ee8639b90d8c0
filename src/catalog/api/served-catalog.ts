// A catalog as opm serves it, once all of it was read and found to be sound: the package index, every bundle in every
// channel, and every blob. Holds the blobs as bytes and reads a bundle when it is asked for one.
import { assemble } from '../facts/assemble.ts'
import type { Catalog } from '../facts/catalog.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { quote, sortedByBytes } from '../../go/text.ts'
import { compareWalk } from '../../go/walk-order.ts'
import { documentsOf } from '../load/documents.ts'
import { convert } from '../model/convert.ts'
import { defaultRuleSet } from '../model/rule-set.ts'
import { validateAsOpm } from '../model/validate-as-opm.ts'
import type { ModelPackage } from '../model/model.ts'
import { apiBundle } from './api-bundle.ts'
import type { ApiBundle, GroupVersionKind } from './api-types.ts'
import { packageIndex, type PackageIndex } from './package-index.ts'
import { readServedBundle, type ServedBundle } from './served-bundle.ts'
import type { BundleLine, ServedBlob, ServedFile } from './served-file.ts'
import type { ServedPackage } from './served-package.ts'

export interface ServedCatalog {
  readonly index: PackageIndex
  /** All blobs in opm's walk order. */
  readonly blobs: readonly ServedBlob[]
  /** Undefined where the channel has no such entry. */
  bundle(key: BundleKey): ApiBundle | undefined
  /** Every bundle in every channel: those of one package one after another, each blob read once. */
  bundles(): Generator<ApiBundle>
  /** Without reading the bundle's blob. */
  providedApis(packageName: string, bundle: string): readonly GroupVersionKind[]
}

export interface BundleKey {
  readonly package: string
  readonly channel: string
  readonly name: string
}

export type ServedCatalogReading =
  | { readonly ok: true; readonly value: ServedCatalog }
  /** Why opm serves no such catalog, in its words. */
  | { readonly ok: false; readonly error: string }

/** The files in any order, with their paths below the catalog's directory. */
export function servedCatalog(
  files: Iterable<{ readonly path: string; readonly file: ServedFile }>,
): ServedCatalogReading {
  const walked = [...files].sort((a, b) => compareWalk(a.path, b.path))
  const catalog = assemble(walked.map(({ path, file }) => ({ path, facts: file.facts })))
  const error = problemOf(
    catalog,
    walked.map(({ file }) => file),
  )
  if (error !== undefined) return { ok: false, error }
  const { packages } = convert(catalog, defaultRuleSet, new FindingList())
  return {
    ok: true,
    value: new LinkedCatalog(
      packages,
      walked.map(({ file }) => file),
    ),
  }
}

/** opm looks at each package alone, and at the custom blobs while it reads. */
function problemOf(catalog: Catalog, files: readonly ServedFile[]): string | undefined {
  const [loadError] = catalog.loadErrors
  if (loadError) return loadError.message
  for (const [name, ofPackage] of byPackage(catalog)) {
    const { message } = validateAsOpm(ofPackage)
    if (message !== undefined) return inPackage(name, message)
  }
  for (const { problem } of files)
    if (problem)
      return problem.message.startsWith('invalid custom schema meta')
        ? problem.message
        : inPackage(problem.package, problem.message)
  return undefined
}

function inPackage(name: string, message: string): string {
  return `build package index: process package ${quote(name)}: ${message}`
}

/** The catalog cut into its packages, by name, whether or not a blob declares them. */
function byPackage(catalog: Catalog): readonly (readonly [string, Catalog])[] {
  const groups = {
    packages: grouped(catalog.packages, ({ name }) => name),
    channels: grouped(catalog.channels, (blob) => blob.package),
    bundles: grouped(catalog.bundles, (blob) => blob.package),
    deprecations: grouped(catalog.deprecations, (blob) => blob.package),
  }
  const names = new Set(Object.values(groups).flatMap((group) => [...group.keys()]))
  return sortedByBytes(names).map((name) => [
    name,
    {
      ...catalog,
      packages: groups.packages.get(name) ?? [],
      channels: groups.channels.get(name) ?? [],
      bundles: groups.bundles.get(name) ?? [],
      deprecations: groups.deprecations.get(name) ?? [],
    },
  ])
}

function grouped<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}

class LinkedCatalog implements ServedCatalog {
  readonly index: PackageIndex
  readonly blobs: readonly ServedBlob[]
  private readonly packages: ReadonlyMap<string, ModelPackage>
  private readonly contents = new Map<string, ServedPackage>()
  private readonly lines = new Map<string, Map<string, BundleLine>>()

  constructor(packages: ReadonlyMap<string, ModelPackage>, files: readonly ServedFile[]) {
    this.packages = packages
    this.blobs = files.flatMap(({ blobs }) => blobs)
    for (const file of files) for (const one of file.packages) this.contents.set(one.name, one)
    for (const line of files.flatMap(({ bundles }) => bundles)) {
      const ofPackage = this.lines.get(line.package) ?? new Map<string, BundleLine>()
      this.lines.set(line.package, ofPackage.set(line.name, line))
    }
    const channels = grouped(
      files.flatMap((file) => file.channels),
      (channel) => channel.package,
    )
    this.index = packageIndex(
      packages,
      (name) => this.contents.get(name),
      (packageName) => channels.get(packageName) ?? [],
    )
  }

  bundle({ package: packageName, channel: channelName, name }: BundleKey): ApiBundle | undefined {
    const parent = this.packages.get(packageName)
    const channel = parent?.channels.get(channelName)
    const entry = channel?.entries.get(name)
    if (!parent || !channel || !entry) return undefined
    const content = this.read(packageName, name)
    return content && apiBundle({ package: parent, channel, entry }, content, this.contents.get(packageName))
  }

  *bundles(): Generator<ApiBundle> {
    for (const [packageName, parent] of this.packages)
      for (const name of this.lines.get(packageName)?.keys() ?? []) {
        const content = this.read(packageName, name)
        for (const channel of parent.channels.values()) {
          const entry = channel.entries.get(name)
          if (entry && content)
            yield apiBundle({ package: parent, channel, entry }, content, this.contents.get(packageName))
        }
      }
  }

  providedApis(packageName: string, bundle: string): readonly GroupVersionKind[] {
    return this.lines.get(packageName)?.get(bundle)?.providedApis ?? []
  }

  private read(packageName: string, name: string): ServedBundle | undefined {
    const line = this.lines.get(packageName)?.get(name)?.blob.line
    const [document] = line ? documentsOf(line) : []
    const read = document?.meta && readServedBundle(document.meta.value)
    return read?.ok === true ? read.value : undefined
  }
}
