// A catalog as opm serves it, once all of it was read and found to be sound: the package index, every bundle in every
// channel, and every blob. Holds the blobs as bytes and reads a bundle when it is asked for one.
import { assemble } from '../facts/assemble.ts'
import type { Catalog } from '../facts/catalog.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { quote, sortedByBytes } from '../../go/text.ts'
import { joinedPieces } from '../../go/tar/pieces.ts'
import { compareWalk } from '../../go/walk-order.ts'
import { documentsOf } from '../load/documents.ts'
import { convert } from '../model/convert.ts'
import { defaultRuleSet } from '../model/rule-set.ts'
import { validateAsOpm } from '../model/validate-as-opm.ts'
import type { ModelPackage } from '../model/model.ts'
import { apiBundle, type BundlePackage, type Pieces } from '../cache/api-bundle.ts'
import { LongTexts } from '../cache/escaped-json.ts'
import type { ApiBundle, GroupVersionKind } from './api-types.ts'
import { packageIndex, type PackageIndex } from './package-index.ts'
import type { BundleLine, ServedBlob, ServedFile } from './served-file.ts'

export interface ServedCatalog {
  readonly index: PackageIndex
  /** All blobs in opm's walk order. */
  readonly blobs: readonly ServedBlob[]
  /** Undefined where the channel has no such entry. */
  bundle(key: BundleKey): ApiBundle | undefined
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
  private readonly ofPackages: ReadonlyMap<string, BundlePackage>
  private readonly lines = new Map<string, Map<string, BundleLine>>()

  constructor(packages: ReadonlyMap<string, ModelPackage>, files: readonly ServedFile[]) {
    this.packages = packages
    this.index = packageIndex(packages)
    this.blobs = files.flatMap(({ blobs }) => blobs)
    this.ofPackages = new Map(files.flatMap((file) => file.packages.map((one) => [one.name, one])))
    for (const line of files.flatMap(({ bundles }) => bundles)) {
      const ofPackage = this.lines.get(line.package) ?? new Map<string, BundleLine>()
      this.lines.set(line.package, ofPackage.set(line.name, line))
    }
  }

  bundle({ package: packageName, channel, name }: BundleKey): ApiBundle | undefined {
    const found = this.packages.get(packageName)?.channels.get(channel)?.entries.get(name)
    const line = this.lines.get(packageName)?.get(name)
    const of = this.ofPackages.get(packageName)
    if (!found || !line || !of) return undefined
    const [document] = documentsOf(line.blob.line)
    const made = document?.meta && apiBundle(document.meta.value, of, new LongTexts())
    if (made?.ok !== true) throw new Error(`the bundle ${name} was read, and cannot be read again`)
    const { replaces, skips, skipRange } = found.entry
    const message = found.bundle?.deprecation?.entry.message
    const deprecation = message === undefined ? undefined : JSON.stringify({ message })
    return bundleOf(made.value.inChannel({ channel, replaces, skips, skipRange, deprecation }))
  }

  providedApis(packageName: string, bundle: string): readonly GroupVersionKind[] {
    return this.lines.get(packageName)?.get(bundle)?.providedApis ?? []
  }
}

const nothing: ApiBundle = {
  csvName: '',
  packageName: '',
  channelName: '',
  csvJson: '',
  object: [],
  bundlePath: '',
  providedApis: [],
  requiredApis: [],
  version: '',
  skipRange: '',
  dependencies: [],
  properties: [],
  replaces: '',
  skips: [],
}

/** opm reads its bundles from this text as well: what the text leaves out is empty. */
function bundleOf(pieces: Pieces): ApiBundle {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(joinedPieces(pieces))
  return { ...nothing, ...(JSON.parse(text) as Partial<ApiBundle>) }
}
