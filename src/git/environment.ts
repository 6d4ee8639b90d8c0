// The closed environment in which every git process runs. Nothing of our own environment but PATH reaches it, nothing
// that the machine's owner configured for their own git, and nothing that lies in a repository's content.

/**
 * Settings of every call. They travel as GIT_CONFIG_* variables and so hold for git's own children too.
 * A setting that an older git does not know is ignored by it.
 */
const settings: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.askPass', ''],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  // A mirror must survive a power cut without half-written objects: merge commits are written loose.
  ['core.fsync', 'committed'],
  // Tidying is done by tidy.ts at a moment we choose, never behind a fetch.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Packs are kept as they come: one file each instead of thousands.
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['fetch.writeCommitGraph', 'false'],
  ['submodule.recurse', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['push.followTags', 'false'],
  ['push.gpgSign', 'false'],
  ['transfer.bundleURI', 'false'],
  ['transfer.credentialsInUrl', 'die'],
  // A repository that answers from elsewhere was renamed or is not the one we were told of: ask GitHub again.
  ['http.followRedirects', 'false'],
  // Under 1 kB/s for a minute: the connection is dead in all but name.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['http.userAgent', 'catalog-bot'],
  // Renames are not followed in merges (merge.ts says why); git before 2.50 follows exact ones all the same,
  // and the limit keeps it from searching for the others.
  ['merge.renames', 'false'],
  ['merge.directoryRenames', 'false'],
  ['merge.renameLimit', '1'],
  ['merge.renormalize', 'false'],
  ['diff.renames', 'false'],
  // Objects are checked as they arrive. Errors stay what could confuse us: entries named `..`, `.git` or with a
  // slash, unsorted or doubled entries, malicious .gitmodules. The following are warts of old histories, harmless
  // to a bare mirror, and real repositories must still be fetchable.
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

/**
 * The environment of one git process.
 * `protocol`: the one transport it may use; local commands use none, whatever they come across.
 */
export function gitEnvironment(
  protocol: 'https' | 'http' | 'file' | 'none',
  more: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const config = [...settings, ...more]
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Empty means none, and keeps SSH_ASKPASS and core.askPass from being looked at.
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
