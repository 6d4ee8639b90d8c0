// The rules about bundle directories. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { bundleDirectoryEdgeToNowhere } from './rules/bundle-directory-edge-to-nowhere.ts'
import { bundleDirectoryNameTaken } from './rules/bundle-directory-name-taken.ts'
import { bundleDirectoryOfOtherPackage } from './rules/bundle-directory-of-other-package.ts'
import { bundleDirectoryOfOtherVersion } from './rules/bundle-directory-of-other-version.ts'
import { bundleDirectorySkipsUnknown } from './rules/bundle-directory-skips-unknown.ts'
import { bundleDirectoryUnconnected } from './rules/bundle-directory-unconnected.ts'
import { bundleDirectoryUpgradeLoop } from './rules/bundle-directory-upgrade-loop.ts'
import { missingDefaultChannel } from './rules/default-channel-nowhere.ts'
import { malformedPackageSettings } from './rules/malformed-package-settings.ts'
import { noUpdateGraph } from './rules/no-update-graph.ts'
import { releaseConfigMismatch } from './rules/release-config-mismatch.ts'
import { removedBundleInUse } from './rules/removed-bundle-in-use.ts'
import { unconventionalBundleName } from './rules/unconventional-bundle-name.ts'
import { unknownPackageSetting } from './rules/unknown-package-setting.ts'

/** The rules of ./rules, sorted by id. */
export const bundleDirectoryRules: readonly AnyFindingRule[] = [
  bundleDirectoryEdgeToNowhere,
  bundleDirectoryNameTaken,
  bundleDirectoryOfOtherPackage,
  bundleDirectoryOfOtherVersion,
  bundleDirectorySkipsUnknown,
  bundleDirectoryUnconnected,
  bundleDirectoryUpgradeLoop,
  missingDefaultChannel,
  malformedPackageSettings,
  noUpdateGraph,
  releaseConfigMismatch,
  removedBundleInUse,
  unconventionalBundleName,
  unknownPackageSetting,
]
