// All of catalog-bot's own rules that search a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import type { CatalogRule } from './catalog-rule.ts'
import {
  bundleImageNotRelatedRule,
  duplicateRelatedImageRule,
  relatedImageEmptyRule,
} from './rules/bundle-images.ts'
import {
  iconMismatchRule,
  mixedMetadataFormatsRule,
  noInstallModeRule,
  objectsWithoutCsvRule,
  severalCsvMetadataRule,
  unsupportedKindRule,
  unusableBundleNameRule,
} from './rules/bundle-metadata.ts'
import {
  blankDeprecationRule,
  confusingChannelNameRule,
  deprecatedDefaultChannelRule,
  deprecatedHeadRule,
  headNotHighestRule,
  headWithoutMetadataRule,
} from './rules/channels.ts'
import {
  brokenConstraintRule,
  impossibleConstraintRule,
  malformedGvkRule,
  missingRequiredApiRule,
  missingRequiredPackageRule,
  namelessRequirementRule,
} from './rules/constraints.ts'
import {
  concatenatedJsonRule,
  droppedTextRule,
  emptyCatalogRule,
  misreadScalarRule,
  misspelledFieldRule,
  repeatedKeyRule,
  templateInCatalogRule,
  unknownFieldRule,
} from './rules/file-format.ts'
import { duplicatePropertyRule, misspelledPropertyTypeRule, untypedPropertyRule } from './rules/properties.ts'
import {
  duplicateCustomBlobRule,
  misspelledSchemaRule,
  reservedSchemaRule,
  unknownPackageInCustomBlobRule,
  unservableSchemaRule,
} from './rules/schemas.ts'
import { oversizedBundleRule, oversizedCatalogRule, oversizedPackageRule } from './rules/sizes.ts'
import {
  downgradeEdgeRule,
  edgeToNowhereRule,
  selfEdgeRule,
  skipRangeCoversSelfRule,
  skipRangeMissesPredecessorsRule,
} from './rules/upgrade-edges.ts'
import {
  brokenMinKubeVersionRule,
  brokenVersionRangeRule,
  buildMetadataOnlyVersionsRule,
  bundleNameOfOtherVersionRule,
  invalidMaxOpenshiftVersion,
  misreadRangeRule,
} from './rules/versions.ts'

/** The rules of ./rules, sorted by id. */
export const catalogRules: readonly CatalogRule[] = [
  blankDeprecationRule,
  brokenConstraintRule,
  brokenMinKubeVersionRule,
  brokenVersionRangeRule,
  buildMetadataOnlyVersionsRule,
  bundleImageNotRelatedRule,
  bundleNameOfOtherVersionRule,
  confusingChannelNameRule,
  concatenatedJsonRule,
  deprecatedDefaultChannelRule,
  deprecatedHeadRule,
  downgradeEdgeRule,
  droppedTextRule,
  duplicateCustomBlobRule,
  duplicatePropertyRule,
  duplicateRelatedImageRule,
  edgeToNowhereRule,
  emptyCatalogRule,
  headNotHighestRule,
  headWithoutMetadataRule,
  iconMismatchRule,
  impossibleConstraintRule,
  unsupportedKindRule,
  malformedGvkRule,
  invalidMaxOpenshiftVersion,
  missingRequiredApiRule,
  missingRequiredPackageRule,
  misspelledFieldRule,
  misspelledPropertyTypeRule,
  misspelledSchemaRule,
  mixedMetadataFormatsRule,
  namelessRequirementRule,
  noInstallModeRule,
  objectsWithoutCsvRule,
  oversizedBundleRule,
  oversizedCatalogRule,
  oversizedPackageRule,
  misreadRangeRule,
  relatedImageEmptyRule,
  repeatedKeyRule,
  reservedSchemaRule,
  selfEdgeRule,
  severalCsvMetadataRule,
  skipRangeCoversSelfRule,
  skipRangeMissesPredecessorsRule,
  misreadScalarRule,
  templateInCatalogRule,
  unknownFieldRule,
  unknownPackageInCustomBlobRule,
  unservableSchemaRule,
  untypedPropertyRule,
  unusableBundleNameRule,
]
