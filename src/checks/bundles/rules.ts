// The rules of the validation check about bundle directories.
import { createRuleDefiner, defineRule } from '@catalog-bot/findings/rule'
import { formatTruncatedNames } from '../validation/names.ts'

const defineBundleDirectoryRule = createRuleDefiner({
  check: 'validation',
  judges: 'pull request',
  since: '0.1.0',
  overridable: true,
})

export const bundleDirectoryEdgeToNowhereRule = defineBundleDirectoryRule<{
  name: string
  replaced: string
  itself: boolean
}>({
  id: 'bundle-directory-edge-to-nowhere',
  severity: 'warning',
  title: 'The `replaces` field of a bundle names another existing bundle',
  what: ({ name, replaced, itself }) =>
    itself
      ? `${name} replaces itself`
      : `${name} replaces ${replaced}, which exists neither in the package's directories nor in its catalogs`,
  why: "Users of the earlier version don't get an update, because no upgrade edge leads to this bundle.",
  fix: 'Set `replaces` to the exact name of the previous bundle.',
})

export const bundleDirectoryNameTakenRule = defineBundleDirectoryRule<{
  name: string
  other: string
  hasTemplates: boolean
}>({
  id: 'bundle-directory-name-taken',
  severity: 'error',
  title: 'Every bundle of a package has a unique name',
  // The catalogs reference the image of one of them, and catalog changes are checked separately.
  isWarning: ({ hasTemplates }) => hasTemplates,
  what: ({ name, other }) => `${name} is also the name of the bundle in ${other}`,
  why: "A catalog can contain only one bundle with a given name, so one of the two bundles can't be released.",
  fix: 'Rename the ClusterServiceVersion to match its version.',
})

export const bundleDirectoryOfOtherPackageRule = defineBundleDirectoryRule<{
  directory: string
  package: string
  known: readonly string[]
}>({
  id: 'bundle-directory-of-other-package',
  severity: 'error',
  title: 'A bundle is in the directory of its package',
  what: ({ directory, package: its, known }) =>
    `the bundle belongs to the package "${its}" but is in the directory of ${known.map((name) => `"${name}"`).join(', ') || `"${directory}"`}`,
  why: "The bundle would be released into a package whose owners haven't approved it.",
  fix: 'Correct the package in the annotations, or move the bundle to the directory of its package.',
})

export const bundleDirectoryOfOtherVersionRule = defineBundleDirectoryRule<{
  directory: string
  version: string
}>({
  id: 'bundle-directory-of-other-version',
  severity: 'warning',
  title: 'A bundle is in a directory named after its version',
  what: ({ directory, version }) => `the directory "${directory}" contains version ${version}`,
  why: 'Releases, tests, and reviewers identify a version by its directory.',
  fix: 'Rename the directory to match spec.version, or correct the version.',
})

export const bundleDirectorySkipsUnknownRule = defineBundleDirectoryRule<{
  name: string
  skipped: readonly string[]
}>({
  id: 'bundle-directory-skips-unknown',
  severity: 'warning',
  title: 'A bundle skips only existing bundles',
  what: ({ name, skipped }) =>
    `${name} skips bundles that exist neither in the package's directories nor in its catalogs: ${formatTruncatedNames(skipped, 3)}`,
  why: 'A misspelled name has no effect, so clusters remain on the version that should be skipped.',
  fix: 'Correct the names of the skipped bundles, or remove the names.',
})

export const bundleDirectoryUnconnectedRule = defineBundleDirectoryRule<{
  name: string
  channel: string
  others: number
}>({
  id: 'bundle-directory-unconnected',
  severity: 'warning',
  title: 'A bundle replaces or skips another bundle in its channel',
  what: ({ name, channel, others }) =>
    `${name} neither replaces nor skips ${others === 1 ? 'the other bundle' : `any of the ${others} other bundles`} in the channel "${channel}"`,
  why: "In replaces-mode, only `replaces` and `skips` define upgrades, so users of other versions aren't upgraded to this one.",
  fix: 'Set `replaces`, or put the bundle in a separate channel.',
})

export const bundleDirectoryUpgradeLoopRule = defineBundleDirectoryRule<{ loop: readonly string[] }>({
  id: 'bundle-directory-upgrade-loop',
  severity: 'error',
  title: 'The upgrade graph has no cycles',
  what: ({ loop }) =>
    `the upgrades form a cycle: ${loop.slice(0, 5).join(' replaces ')}${loop.length > 5 ? ' replaces …' : ''}`,
  why: "A channel with a cycle has no head, so it can't be used for installations.",
  fix: 'Remove the `replaces` of one of these bundles.',
})

export const missingDefaultChannel = defineBundleDirectoryRule<{
  channel: string
  channels: readonly string[]
}>({
  id: 'default-channel-nowhere',
  severity: 'error',
  title: 'The default channel of a package has bundles',
  what: ({ channel, channels }) =>
    `the default channel "${channel}" has no bundles; existing channels: ${channels.slice(0, 5).join(', ')}`,
  why: "Users who don't choose a channel subscribe to the default channel, which has nothing to install.",
  fix: 'Choose an existing channel, or add the bundle to the default channel.',
})

export const malformedPackageSettingsRule = defineRule<{ file: string; problem: string }>({
  id: 'malformed-package-settings',
  check: 'validation',
  judges: 'pull request',
  since: '0.1.0',
  severity: 'warning',
  title: 'Package settings are valid',
  what: ({ file, problem }) => `${file} is invalid: ${problem}`,
  why: 'Release tools misinterpret or ignore invalid settings.',
  fix: 'Correct the value. docs/reference/package-settings.md lists the allowed values.',
})

export const noUpdateGraphRule = defineBundleDirectoryRule<{ file: string }>({
  id: 'no-update-graph',
  severity: 'warning',
  title: 'A package specifies its update graph mode',
  what: ({ file }) => `${file} does not set updateGraph`,
  why: "The default is `replaces-mode`, in which users aren't upgraded to a version that doesn't replace or skip another version.",
  fix: 'Set `updateGraph: replaces-mode` or `updateGraph: semver-mode`.',
})

export const releaseConfigMismatchRule = defineBundleDirectoryRule<{ problem: string }>({
  id: 'release-config-mismatch',
  severity: 'warning',
  title: "The release configuration matches the package's catalogs",
  what: ({ problem }) => problem,
  why: 'The bundle is not added to the catalogs that this file specifies.',
  fix: 'Correct the entry in release-config.yaml, or change `fbc` in ci.yaml to match it.',
})

export const removedBundleInUseRule = defineBundleDirectoryRule<{ name: string; by: readonly string[] }>({
  id: 'removed-bundle-in-use',
  severity: 'warning',
  title: 'A bundle is removed only when it is no longer referenced',
  what: ({ name, by }) => `${name} is removed but still referenced by ${formatTruncatedNames(by, 3)}`,
  why: "Files that reference a removed bundle break or can't be rebuilt.",
  fix: 'First, remove the references to the bundle in a separate pull request, and merge it.',
})

export const unconventionalBundleNameRule = defineBundleDirectoryRule<{ name: string; wanted: string }>({
  id: 'unconventional-bundle-name',
  severity: 'warning',
  title: 'A bundle is named after its package and version',
  what: ({ name, wanted }) => `the bundle is named ${name} instead of ${wanted}`,
  why: 'Users and tools derive the package and the version from the name.',
  fix: 'Rename the ClusterServiceVersion before anyone installs it.',
})

export const unknownPackageSettingRule = defineBundleDirectoryRule<{
  file: string
  key: string
  known?: string
}>({
  id: 'unknown-package-setting',
  severity: 'warning',
  title: 'All package settings have known names',
  what: ({ file, key, known }) =>
    `${file} has the unknown setting "${key}"${known === undefined ? '' : `; did you mean "${known}"?`}`,
  why: 'Unknown settings have no effect.',
  fix: 'Correct the name of the setting, or remove the setting.',
})
