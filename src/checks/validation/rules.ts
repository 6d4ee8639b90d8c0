// Every rule of our own that searches a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import type { CatalogRule } from './catalog-rule.ts'
import { bundleImageNotRelated, duplicateRelatedImage, relatedImageEmpty } from './rules/bundle-images.ts'
import {
  iconMismatch,
  mixedMetadataFormats,
  noInstallMode,
  objectsWithoutCsv,
  severalCsvMetadata,
  unsupportedKind,
  unusableBundleName,
} from './rules/bundle-metadata.ts'
import {
  blankDeprecation,
  confusingChannelName,
  deprecatedDefaultChannel,
  deprecatedHead,
  headNotHighest,
  headWithoutMetadata,
} from './rules/channels.ts'
import {
  brokenConstraint,
  impossibleConstraint,
  malformedGvk,
  missingRequiredApi,
  missingRequiredPackage,
  namelessRequirement,
} from './rules/constraints.ts'
import {
  concatenatedJson,
  droppedText,
  emptyCatalog,
  misreadScalar,
  misspelledField,
  repeatedKey,
  templateInCatalog,
  unknownField,
} from './rules/file-format.ts'
import { duplicateProperty, misspelledPropertyType, untypedProperty } from './rules/properties.ts'
import {
  duplicateCustomBlob,
  misspelledSchema,
  reservedSchema,
  unknownPackageInCustomBlob,
  unservableSchema,
} from './rules/schemas.ts'
import { oversizedBundle, oversizedCatalog, oversizedPackage } from './rules/sizes.ts'
import {
  downgradeEdge,
  edgeToNowhere,
  selfEdge,
  skipRangeCoversSelf,
  skipRangeMissesPredecessors,
} from './rules/upgrade-edges.ts'
import {
  brokenMinKubeVersion,
  brokenVersionRange,
  buildMetadataOnlyVersions,
  bundleNameOfOtherVersion,
  invalidMaxOpenshiftVersion,
  misreadRange,
} from './rules/versions.ts'

/** The rules of ./rules, sorted by id. */
export const catalogRules: readonly CatalogRule[] = [
  blankDeprecation,
  brokenConstraint,
  brokenMinKubeVersion,
  brokenVersionRange,
  buildMetadataOnlyVersions,
  bundleImageNotRelated,
  bundleNameOfOtherVersion,
  confusingChannelName,
  concatenatedJson,
  deprecatedDefaultChannel,
  deprecatedHead,
  downgradeEdge,
  droppedText,
  duplicateCustomBlob,
  duplicateProperty,
  duplicateRelatedImage,
  edgeToNowhere,
  emptyCatalog,
  headNotHighest,
  headWithoutMetadata,
  iconMismatch,
  impossibleConstraint,
  unsupportedKind,
  malformedGvk,
  invalidMaxOpenshiftVersion,
  missingRequiredApi,
  missingRequiredPackage,
  misspelledField,
  misspelledPropertyType,
  misspelledSchema,
  mixedMetadataFormats,
  namelessRequirement,
  noInstallMode,
  objectsWithoutCsv,
  oversizedBundle,
  oversizedCatalog,
  oversizedPackage,
  misreadRange,
  relatedImageEmpty,
  repeatedKey,
  reservedSchema,
  selfEdge,
  severalCsvMetadata,
  skipRangeCoversSelf,
  skipRangeMissesPredecessors,
  misreadScalar,
  templateInCatalog,
  unknownField,
  unknownPackageInCustomBlob,
  unservableSchema,
  untypedProperty,
  unusableBundleName,
]
