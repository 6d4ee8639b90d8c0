// The closed environment of every git process: of ours only PATH, and no configuration of the user or the repository.

/**
 * Settings of every call, as GIT_CONFIG_* variables so that git's children get them too. Older versions of git ignore
 * unknown ones.
 */
const enforcedGitConfig: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.askPass', ''],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  // A power cut must leave no half-written objects: merge commits are written loose.
  ['core.fsync', 'committed'],
  // tidy.ts does this at a time we choose, never during a fetch.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Keep packs: one file instead of thousands.
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['fetch.writeCommitGraph', 'false'],
  ['submodule.recurse', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['push.followTags', 'false'],
  ['push.gpgSign', 'false'],
  ['transfer.bundleURI', 'false'],
  ['transfer.credentialsInUrl', 'die'],
  // A redirect means a renamed or another repository: ask GitHub again.
  ['http.followRedirects', 'false'],
  // Under 1 kB/s for a minute, the connection counts as dead.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['http.userAgent', 'catalog-bot'],
  // Merges don't follow renames (see merge.ts). Git before 2.50 still follows exact ones; the limit stops it from
  // searching for others.
  ['merge.renames', 'false'],
  ['merge.directoryRenames', 'false'],
  ['merge.renameLimit', '1'],
  ['merge.renormalize', 'false'],
  ['diff.renames', 'false'],
  // Checks arriving objects. What could confuse us stays an error: entries named `..` or `.git` or with a slash,
  // unsorted or duplicate entries, malicious .gitmodules. The rest is harmless in a bare mirror, and old repositories
  // contain it.
  ['fetch.fsckObjects', 'true'],
  ...[
    'badDateOverflow',
    'badEmail',
    'badFilemode',
    'badName',
    'badTimezone',
    'largePathname',
    'missingEmail',
    'missingNameBeforeEmail',
    'missingSpaceBeforeDate',
    'missingSpaceBeforeEmail',
    'missingTaggerEntry',
    'multipleAuthors',
    'nulInCommit',
    'zeroPaddedDate',
    'zeroPaddedFilemode',
  ].map((name) => [`fetch.fsck.${name}`, 'ignore'] as const),
]

/** `protocol`: the only transport allowed. Local commands get none. */
export function buildGitEnvironment(
  protocol: 'https' | 'http' | 'file' | 'none',
  more: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const config = [...enforcedGitConfig, ...more]
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Empty disables it, including the fallbacks SSH_ASKPASS and core.askPass.
    GIT_ASKPASS: '',
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(config.length),
  }
  for (const [index, [key, value]] of config.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}
