// All rules about bundle contents. Made by `npm run rule-pages`: edit the rules, not this list.
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { apiNeverThere } from './rules/api-never-there.ts'
import { apiWithoutExample } from './rules/api-without-example.ts'
import { blockingDisruptionBudget } from './rules/blocking-disruption-budget.ts'
import { brokenCrd } from './rules/broken-crd.ts'
import { brokenDeployment } from './rules/broken-deployment.ts'
import { brokenIcon } from './rules/broken-icon.ts'
import { brokenObjectMetadata } from './rules/broken-object-metadata.ts'
import { brokenWebhook } from './rules/broken-webhook.ts'
import { duplicateCrd } from './rules/duplicate-crd.ts'
import { duplicateWebhook } from './rules/duplicate-webhook.ts'
import { exampleOfOtherApi } from './rules/example-of-other-api.ts'
import { globalDefaultPriority } from './rules/global-default-priority.ts'
import { groupInOwnedCrd } from './rules/group-in-owned-crd.ts'
import { incompleteLink } from './rules/incomplete-link.ts'
import { incompleteMaintainer } from './rules/incomplete-maintainer.ts'
import { managesCrds } from './rules/manages-crds.ts'
import { missingCsvField } from './rules/missing-csv-field.ts'
import { missingFeatureAnnotation } from './rules/missing-feature-annotation.ts'
import { misspeltAnnotation } from './rules/misspelt-annotation.ts'
import { nameWithoutRelease } from './rules/name-without-release.ts'
import { noCsvVersion } from './rules/no-csv-version.ts'
import { noDeployment } from './rules/no-deployment.ts'
import { noIcon } from './rules/no-icon.ts'
import { noMaxOpenshiftVersion } from './rules/no-max-openshift-version.ts'
import { noMinKubeVersion } from './rules/no-min-kube-version.ts'
import { noProvider } from './rules/no-provider.ts'
import { noResourceRequests } from './rules/no-resource-requests.ts'
import { oversizedManifest } from './rules/oversized-manifest.ts'
import { platformNowhereScheduled } from './rules/platform-nowhere-scheduled.ts'
import { propertiesInAnnotation } from './rules/properties-in-annotation.ts'
import { removedApi } from './rules/removed-api.ts'
import {
  bracesInPlainBundle,
  brokenChart,
  brokenExamples,
  collidingFileNames,
  hiddenBundleFile,
  invalidCsvName,
  invalidExample,
  kindNotBundled,
  labelsDisagree,
  largeBundleContent,
  malformedDependency,
  misnamedAnnotationsFile,
  missingBundleAnnotation,
  missingManifestField,
  mistypedManifestField,
  movedBundleDirectory,
  nestedBundleDirectory,
  oversizedBundleContent,
  refusedByOlmV1,
  serviceAccountBundled,
  severalCsvs,
  severalDocumentsInManifest,
  undecodableManifest,
  unknownManifestField,
  unownedCrd,
  unreadableBundle,
  unsafeCrdUpgrade,
  unusableInstallModes,
  wrongBundleFormat,
} from './rules/reported-rules.ts'
import { riskyPermission } from './rules/risky-permission.ts'
import { twoExampleAnnotations } from './rules/two-example-annotations.ts'
import { unconventionalChannel } from './rules/unconventional-channel.ts'
import { unconventionalCsvName } from './rules/unconventional-csv-name.ts'
import { undescribedCrd } from './rules/undescribed-crd.ts'
import { unknownCapability } from './rules/unknown-capability.ts'
import { unknownCategory } from './rules/unknown-category.ts'
import { unknownCsvVersion } from './rules/unknown-csv-version.ts'
import { unknownServiceAccount } from './rules/unknown-service-account.ts'
import { unparsableCsvVersion } from './rules/unparsable-csv-version.ts'
import { unparsableMinKubeVersion } from './rules/unparsable-min-kube-version.ts'
import { unparsableRelatedImage } from './rules/unparsable-related-image.ts'
import { unrelatedImage } from './rules/unrelated-image.ts'
import { unservedOwnedCrd } from './rules/unserved-owned-crd.ts'

/** The rules of ./rules, sorted by id. */
export const bundleRules: readonly FindingRuleWithoutFormatter[] = [
  apiNeverThere,
  apiWithoutExample,
  blockingDisruptionBudget,
  bracesInPlainBundle,
  brokenChart,
  brokenCrd,
  brokenDeployment,
  brokenExamples,
  brokenIcon,
  brokenObjectMetadata,
  brokenWebhook,
  collidingFileNames,
  duplicateCrd,
  duplicateWebhook,
  exampleOfOtherApi,
  globalDefaultPriority,
  groupInOwnedCrd,
  hiddenBundleFile,
  incompleteLink,
  incompleteMaintainer,
  invalidCsvName,
  invalidExample,
  kindNotBundled,
  labelsDisagree,
  largeBundleContent,
  malformedDependency,
  managesCrds,
  misnamedAnnotationsFile,
  missingBundleAnnotation,
  missingCsvField,
  missingFeatureAnnotation,
  missingManifestField,
  misspeltAnnotation,
  mistypedManifestField,
  movedBundleDirectory,
  nameWithoutRelease,
  nestedBundleDirectory,
  noCsvVersion,
  noDeployment,
  noIcon,
  noMaxOpenshiftVersion,
  noMinKubeVersion,
  noProvider,
  noResourceRequests,
  oversizedBundleContent,
  oversizedManifest,
  platformNowhereScheduled,
  propertiesInAnnotation,
  refusedByOlmV1,
  removedApi,
  riskyPermission,
  serviceAccountBundled,
  severalCsvs,
  severalDocumentsInManifest,
  twoExampleAnnotations,
  unconventionalChannel,
  unconventionalCsvName,
  undecodableManifest,
  undescribedCrd,
  unknownCapability,
  unknownCategory,
  unknownCsvVersion,
  unknownManifestField,
  unknownServiceAccount,
  unownedCrd,
  unparsableCsvVersion,
  unparsableMinKubeVersion,
  unparsableRelatedImage,
  unreadableBundle,
  unrelatedImage,
  unsafeCrdUpgrade,
  unservedOwnedCrd,
  unusableInstallModes,
  wrongBundleFormat,
]
