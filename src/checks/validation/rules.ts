// Every rule of our own that searches a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import type { CatalogRule } from './catalog-rule.ts'
import { blankDeprecation } from './rules/blank-deprecation.ts'
import { brokenConstraint } from './rules/constraints.ts'
import { brokenMinKubeVersion } from './rules/broken-min-kube-version.ts'
import { brokenVersionRange } from './rules/versions.ts'
import { buildMetadataOnlyVersions } from './rules/build-metadata-only-versions.ts'
import { bundleImageNotRelated } from './rules/bundle-image-not-related.ts'
import { bundleNameOfOtherVersion } from './rules/bundle-name-of-other-version.ts'
import { confusingChannelName } from './rules/channel-name-trap.ts'
import { concatenatedJson } from './rules/concatenated-json.ts'
import { deprecatedDefaultChannel } from './rules/deprecated-default-channel.ts'
import { deprecatedHead } from './rules/deprecated-head.ts'
import { downgradeEdge } from './rules/downgrade-edge.ts'
import { droppedText } from './rules/dropped-text.ts'
import { duplicateCustomBlob } from './rules/duplicate-custom-blob.ts'
import { duplicateProperty } from './rules/duplicate-property.ts'
import { duplicateRelatedImage } from './rules/duplicate-related-image.ts'
import { edgeToNowhere } from './rules/upgrade-edges.ts'
import { emptyCatalog } from './rules/empty-catalog.ts'
import { headNotHighest } from './rules/channels.ts'
import { headWithoutMetadata } from './rules/head-without-metadata.ts'
import { iconMismatch } from './rules/icon-mismatch.ts'
import { impossibleConstraint } from './rules/impossible-constraint.ts'
import { unsupportedKind } from './rules/kind-olm-refuses.ts'
import { malformedGvk } from './rules/malformed-gvk.ts'
import { invalidMaxOpenshiftVersion } from './rules/max-openshift-version.ts'
import { missingRequiredApi } from './rules/missing-required-api.ts'
import { missingRequiredPackage } from './rules/missing-required-package.ts'
import { misspelledField } from './rules/file-format.ts'
import { misspelledPropertyType } from './rules/misspelt-property-type.ts'
import { misspelledSchema } from './rules/misspelt-schema.ts'
import { mixedMetadataFormats } from './rules/mixed-metadata-formats.ts'
import { namelessRequirement } from './rules/nameless-requirement.ts'
import { noInstallMode } from './rules/bundle-metadata.ts'
import { objectsWithoutCsv } from './rules/objects-without-csv.ts'
import { oversizedBundle } from './rules/oversized-bundle.ts'
import { oversizedCatalog } from './rules/oversized-catalog.ts'
import { oversizedPackage } from './rules/sizes.ts'
import { misreadRange } from './rules/range-trap.ts'
import { relatedImageEmpty } from './rules/bundle-images.ts'
import { repeatedKey } from './rules/repeated-key.ts'
import { reservedSchema } from './rules/reserved-schema.ts'
import { selfEdge } from './rules/self-edge.ts'
import { severalCsvMetadata } from './rules/several-csv-metadata.ts'
import { skipRangeCoversSelf } from './rules/skip-range-covers-self.ts'
import { skipRangeMissesPredecessors } from './rules/skip-range-misses-predecessors.ts'
import { misreadScalar } from './rules/surprising-scalar.ts'
import { templateInCatalog } from './rules/template-in-catalog.ts'
import { unknownField } from './rules/unknown-field.ts'
import { unknownPackageInCustomBlob } from './rules/unknown-package-in-custom-blob.ts'
import { unservableSchema } from './rules/schemas.ts'
import { untypedProperty } from './rules/properties.ts'
import { unusableBundleName } from './rules/unusable-bundle-name.ts'

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
