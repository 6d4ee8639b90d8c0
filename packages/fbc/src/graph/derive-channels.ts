// Derives the channels of a package from its bundles, according to `updateGraph`, as `opm index add --mode` does.
import { compareVersions, parseVersion, type Version } from '../versions/version.ts'
import type { WritableChannel, WritableChannelEntry } from '../write/writable-catalog.ts'

export type UpdateGraphMode = 'replaces-mode' | 'semver-mode' | 'semver-skippatch'

export interface UpdateGraphBundle {
  readonly name: string
  readonly version: string
  readonly channels: readonly string[]
  readonly replaces?: string | undefined
  readonly skips: readonly string[]
  readonly skipRange?: string | undefined
}

/** Sorted by name. Leaves out bundles without a version if the mode orders by version. */
export function deriveChannels(
  its: string,
  bundles: readonly UpdateGraphBundle[],
  mode: UpdateGraphMode,
): readonly WritableChannel[] {
  const names = [...new Set(bundles.flatMap(({ channels }) => channels))].sort()
  return names.map((name) => {
    const members = bundles.filter(({ channels }) => channels.includes(name))
    const entries =
      mode === 'replaces-mode'
        ? linkBundlesByReplaces(members, bundles)
        : linkBundlesByVersion(members, { skipsPatches: mode === 'semver-skippatch' })
    return { schema: 'olm.channel', name, package: its, entries }
  })
}

/** Replaced bundles belong to the channel too, because users upgrade from them. */
function linkBundlesByReplaces(members: readonly UpdateGraphBundle[], all: readonly UpdateGraphBundle[]) {
  const byName = new Map(all.map((bundle) => [bundle.name, bundle]))
  const found = new Map<string, UpdateGraphBundle>()
  for (const member of members)
    for (
      let bundle: UpdateGraphBundle | undefined = member;
      bundle && !found.has(bundle.name);
      bundle = bundle.replaces === undefined ? undefined : byName.get(bundle.replaces)
    )
      found.set(bundle.name, bundle)
  return [...found.values()]
    .map((bundle) => createChannelEntry(bundle, bundle.replaces, bundle.skips))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function linkBundlesByVersion(
  members: readonly UpdateGraphBundle[],
  { skipsPatches }: { readonly skipsPatches: boolean },
): WritableChannelEntry[] {
  const sorted = members
    .flatMap((bundle): { bundle: UpdateGraphBundle; version: Version }[] => {
      const read = parseVersion(bundle.version)
      return read.ok ? [{ bundle, version: read.value }] : []
    })
    .sort((a, b) => compareVersions(a.version, b.version) || (a.bundle.name < b.bundle.name ? -1 : 1))
  // The highest patch of each minor version skips the other patches.
  const lines = new Map<string, UpdateGraphBundle[]>()
  for (const [index, { bundle, version }] of sorted.entries()) {
    const line = skipsPatches ? `${version.major}.${version.minor}` : String(index)
    lines.set(line, [...(lines.get(line) ?? []), bundle])
  }
  const entries: WritableChannelEntry[] = []
  let before: string | undefined
  for (const line of lines.values()) {
    const head = line.at(-1)
    if (!head) continue
    const skipped = line.slice(0, -1).map(({ name }) => name)
    entries.push(createChannelEntry(head, before, [...new Set([...head.skips, ...skipped])]))
    before = head.name
  }
  return entries
}

function createChannelEntry(
  { name, skipRange }: UpdateGraphBundle,
  replaces: string | undefined,
  skips: readonly string[],
): WritableChannelEntry {
  return {
    name,
    ...(replaces !== undefined && { replaces }),
    ...(skips.length > 0 && { skips }),
    ...(skipRange !== undefined && { skipRange }),
  }
}
