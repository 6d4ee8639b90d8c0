// The configuration at a tree: whoever wants to know what holds on a branch reads it here.
import { allRules } from '../checks/all-rules.ts'
import type { BlobSha, TreeSha } from '../change/ids.ts'
import { foldersAbove } from '../change/layout/layout.ts'
import { configPath } from '../config/config-path.ts'
import { defaultConfig, findUnknownRules, parseConfig, type Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import { isGitError } from '../git/git-error.ts'
import type { Repository } from '../ports/repository.ts'

/** The configuration at a tree, with the id of what it came from. An unreadable one gives findings and closes the gate. */
export async function readConfig(
  repository: Repository,
  tree: TreeSha,
): Promise<{ config: Config; digest: string; findings: readonly Finding[] }> {
  const entry = await repository.entry(tree, configPath)
  if (entry === undefined) return { config: defaultConfig, digest: 'default', findings: [] }
  const text = entry.mode.startsWith('100') ? await readConfigText(repository, entry.oid) : notAFile
  const parsed = parseConfig(text)
  const findings = parsed.kind === 'config' ? findUnknownRules(text, ruleIds) : parsed.findings
  return {
    config: parsed.kind === 'config' ? parsed.config : defaultConfig,
    digest: entry?.oid ?? 'behind a link',
    findings,
  }
}

/** What is wrong with the place of the configuration itself, whatever is read there; nothing where that is plain. */
export function findConfigPlace(paths: readonly string[]): readonly Finding[] {
  return isBehindLink(configPath, paths) ? findingsOf(notAFile) : []
}

/** No configuration can be read from it. */
const notAFile = '- not a file'

function findingsOf(text: string): readonly Finding[] {
  const parsed = parseConfig(text)
  return parsed.kind === 'config' ? [] : parsed.findings
}

/** A directory that is a link, or a submodule, has the file on a checkout, and GitHub sees none: no absence to trust. */
function isBehindLink(path: string, paths: readonly string[]): boolean {
  const above = new Set(foldersAbove(path))
  return paths.some((other) => above.has(other))
}

/**
 * Also read where deliveries are answered, so that it must not take long. The owners of all packages of the largest public
 * repository are a quarter of this.
 */
const largestConfig = 128 * 1024

/** What is too large to be read is not read as if nothing were there. */
async function readConfigText(repository: Repository, oid: BlobSha): Promise<string> {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await repository.read(oid, largestConfig))
  } catch (error) {
    if (isGitError(error, 'too-large')) return '- larger than any configuration'
    throw error
  }
}

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))
