import { allRules } from '../checks/all-rules.ts'
import type { TreeSha } from '../change/ids.ts'
import { foldersAbove } from '../change/layout/layout.ts'
import type { TreeEntry } from '../change/path-change.ts'
import { mostConfigBytes, readConfigFile, type NoConfigFile } from '../config/config-file.ts'
import { configPath } from '../config/config-path.ts'
import { defaultConfig, type Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import { isGitError } from '../git/git-error.ts'
import type { ReadTree } from '../ports/repository.ts'

/** The configuration at a tree, with its digest. An unreadable one gives findings and blocks merging. */
export async function readConfig(
  repository: ReadTree,
  tree: TreeSha,
): Promise<{ config: Config; digest: string; findings: readonly Finding[] }> {
  const entry = await repository.entry(tree, configPath)
  const file = entry === undefined ? await findInstead(repository, tree) : await readEntry(repository, entry)
  const { config = defaultConfig, findings } =
    file === undefined ? { findings: [] } : readConfigFile(file, ruleIds)
  return { config, digest: entry?.oid ?? 'default', findings }
}

async function readEntry(repository: ReadTree, { mode, oid }: TreeEntry): Promise<Uint8Array | NoConfigFile> {
  if (mode === '120000') return 'link'
  if (mode === '160000') return 'submodule'
  try {
    return await repository.read(oid, mostConfigBytes)
  } catch (error) {
    // A file that is too large must not count as missing.
    if (isGitError(error, 'too-large')) return 'too-large'
    throw error
  }
}

/**
 * Finds what replaces the file or a directory above it: behind a link or a submodule, a checkout may have the file
 * though GitHub shows none, so it doesn't count as missing.
 */
async function findInstead(repository: ReadTree, tree: TreeSha): Promise<NoConfigFile | undefined> {
  for (const folder of foldersAbove(configPath))
    if (folder !== '' && (await repository.entry(tree, folder)) !== undefined) return 'below-link'
  return (await repository.list(tree, configPath)).length > 0 ? 'directory' : undefined
}

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))
