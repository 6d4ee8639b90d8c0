import { allRules } from '../checks/all-rules.ts'
import { OwnershipResolver } from '../checks/ownership/authority.ts'
import { findOwnerFilePathsForPackages } from '../checks/ownership/owner-files.ts'
import { readTextBlobOrEmpty } from './catalog-loader.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import { iterateAncestorDirectories } from '../pull-request/layout/layout.ts'
import type { TreeEntry, TreePathEntry } from '../pull-request/change.ts'
import { maxConfigBytes, parseConfigFile, type ConfigFileProblem } from '../config/config-file.ts'
import { configPath } from '../config/config-path.ts'
import { defaultConfig, type Config } from '../config/config.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { TreeReader } from '../ports/repository.ts'

/** The configuration at a tree, with its digest. An unreadable one gives findings and blocks merging. */
export async function readConfig(
  repository: TreeReader,
  tree: TreeSha,
): Promise<{ config: Config; digest: string; findings: readonly Finding[] }> {
  const entry = await repository.entry(tree, configPath)
  const file =
    entry === undefined
      ? await findConfigPathProblem(repository, tree)
      : await readConfigTreeEntry(repository, entry)
  const { config = defaultConfig, findings } =
    file === undefined ? { findings: [] } : parseConfigFile(file, knownRuleIds)
  return { config, digest: entry?.oid ?? 'default', findings }
}

async function readConfigTreeEntry(
  repository: TreeReader,
  { mode, oid }: TreeEntry,
): Promise<Uint8Array | ConfigFileProblem> {
  if (mode === '120000') return 'link'
  if (mode === '160000') return 'submodule'
  // A file that is too large must not count as missing.
  return (await catchTooLarge(repository.read(oid, maxConfigBytes))) ?? 'too-large'
}

/**
 * Finds what replaces the file or a directory above it: behind a link or a submodule, a checkout may have the file
 * though GitHub shows none, so it doesn't count as missing.
 */
async function findConfigPathProblem(
  repository: TreeReader,
  tree: TreeSha,
): Promise<ConfigFileProblem | undefined> {
  for (const folder of iterateAncestorDirectories(configPath))
    if (folder !== '' && (await repository.entry(tree, folder)) !== undefined) return 'below-link'
  return (await repository.list(tree, configPath)).length > 0 ? 'directory' : undefined
}

const knownRuleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

/** Who owns these paths, by the owner files among `entries`. */
export async function readOwnership(
  repository: TreeReader,
  entries: readonly TreePathEntry[],
  config: Config,
  packages: Parameters<typeof findOwnerFilePathsForPackages>[1] = [],
): Promise<OwnershipResolver> {
  const paths = entries.map(({ path }) => path)
  const needed = new Set(findOwnerFilePathsForPackages(paths, packages))
  const textByPath = new Map<string, string>()
  for (const { path, oid, mode } of entries)
    if (needed.has(path) && mode.startsWith('100'))
      textByPath.set(path, await readTextBlobOrEmpty(repository, oid))
  const existing = new Set(paths)
  return new OwnershipResolver(
    { has: (path) => existing.has(path), text: (path) => textByPath.get(path) },
    config,
  )
}
